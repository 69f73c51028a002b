# Bench::Page: a report as one page of HTML with pictures, which needs nothing
# else: no script, no font, no other file.
package Bench::Page;

use strict;
use warnings;

use Bench::Report;

my $style = <<'END';
:root { color-scheme: light dark; --ink: #1b1f24; --faint: #68707a;
	--ground: #fff; --line: #d8dde3; --amped: #0b62b8; --peer: #9aa5b1;
	--ceiling: #d9a514; --good: #17803d; --bad: #b42318; }
@media (prefers-color-scheme: dark) {
	:root { --ink: #e6e9ec; --faint: #98a2ad; --ground: #14171a;
		--line: #343a41; --amped: #5aa9f2; --peer: #66707b;
		--ceiling: #c79a2b; --good: #4cc274; --bad: #ff7b6e; }
}
body { margin: 0 auto; max-width: 75rem; padding: 1rem; color: var(--ink);
	background: var(--ground); font: 1rem/1.45 system-ui, sans-serif; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.2rem; margin-top: 2rem; }
h3 { font-size: 1rem; margin: 0 0 .3rem; }
p { max-width: 45rem; } .faint { color: var(--faint); }
.plots { display: grid; gap: 1.5rem;
	grid-template-columns: repeat(auto-fill,
		minmax(min(20rem, 100%), 1fr)); }
svg { display: block; width: 100%; height: auto; font-size: 13px; }
svg text { fill: var(--ink); } svg .faint { fill: var(--faint); }
.amped { fill: var(--amped); } .peer { fill: var(--peer); }
.ceiling { fill: var(--ceiling); }
.spread { stroke: var(--ink); stroke-width: 1.5; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .2rem .6rem; border-bottom: 1px solid var(--line);
	text-align: right; white-space: nowrap; }
th:first-child, td:first-child, .text { text-align: left; }
.wraps th, .wraps td { white-space: normal; }
.good { color: var(--good); } .bad { color: var(--bad); }
END

sub escape {
	my ($text) = @_;
	my %entity = ('&' => '&amp;', '<' => '&lt;', '>' => '&gt;',
	    '"' => '&quot;');

	return $text =~ s/([&<>"])/$entity{$1}/gr;
}

sub kind {
	my ($server) = @_;

	return $server =~ /^(?:amped|ceiling)\z/ ? $server : 'peer';
}

# Bars, as long as their values; the spread as a line.  Rows are name, value,
# spread, and what to say.
sub picture {
	my ($title, $unit, @rows) = @_;
	return '' unless @rows;
	my ($most) = sort { $b <=> $a } map { $_->[1] * (1 + $_->[2]) } @rows;
	my ($longest) = sort { $b <=> $a } map { length($_->[0]) } @rows;
	my $left = $longest > 9 ? 6 + 7 * $longest : 66;
	my $height = 24 * @rows + 4;
	my $svg = '';

	for my $i (0 .. $#rows) {
		my ($name, $value, $spread, $said) = @{$rows[$i]};
		my $y = 24 * $i + 4;
		my ($length, $from, $to) = map { (256 - $left) * $_ /
		    ($most || 1) } ($value, $value * (1 - $spread),
		    $value * (1 + $spread));
		my $line = $spread > 0 ? sprintf('<line class="spread" ' .
		    'x1="%.1f" x2="%.1f" y1="%d" y2="%d"/>', $left + $from,
		    $left + $to, $y + 9, $y + 9) : '';
		$svg .= sprintf('<text x="0" y="%d">%s</text>' .
		    '<rect class="%s" x="%d" y="%d" width="%.1f" ' .
		    'height="18" rx="2"/>%s' .
		    '<text x="%.1f" y="%d">%s</text>' . "\n", $y + 14,
		    escape($name), kind($name), $left, $y, $length, $line,
		    $left + 6 + ($to > $length ? $to : $length), $y + 14,
		    escape($said));
	}
	return '<section><h3>' . escape($title) . ' <span class="faint">' .
	    escape($unit) . "</span></h3>\n<svg viewBox=\"0 0 360 $height\" " .
	    'role="img" aria-label="' . escape("$title, $unit") . "\">\n" .
	    "$svg</svg></section>\n";
}

# Cells are texts, or a class and a text each.
sub table {
	my ($class, $head, @rows) = @_;
	my $line = sub {
		my ($cell, @cells) = @_;
		return '<tr>' . join('', map { ref($_) ?
		    "<$cell class=\"$_->[0]\">" . escape($_->[1]) . "</$cell>" :
		    "<$cell>" . escape($_) . "</$cell>" } @cells) . "</tr>\n";
	};

	return "<div class=\"$class\"><table>\n" . $line->('th', @$head) .
	    join('', map { $line->('td', @$_) } @rows) . "</table></div>\n";
}

sub load_pictures {
	my ($report) = @_;
	my $out = '';

	for my $workload ($report->workloads) {
		$out .= picture(Bench::Report::text_of($workload),
		    'us of processor a request', map {
			my $f = $report->figures($workload, $_);
			[$_, $f->{cpu}, $f->{spread},
			    Bench::Report::digits($f->{cpu})]
		    } $report->servers($workload));
	}
	return $out;
}

sub probe_pictures {
	my ($report) = @_;
	my $out = '';

	for my $probe ($report->probes) {
		my ($unit) = map { $_->{unit} } grep { $_->{name} eq $probe }
		    @Bench::Workload::probes;
		$out .= picture(Bench::Report::text_of($probe), $unit, map {
		    my @values = @{$report->{probe}{$probe}{$_}};
		    my $value = Bench::Report::median(@values);
		    [$_, $value > 0 ? $value : 0,
			Bench::Report::spread(@values),
			Bench::Report::digits($value)] }
		    grep { $report->{probe}{$probe}{$_} }
		    Bench::Server::known());
	}
	return $out;
}

sub bars_table {
	my ($report) = @_;
	my @bars = $report->bars or return '';

	return "<h2>What it has to show</h2>\n" . table('wraps',
	    ['figure', ['text', 'amped'], ['text', 'bar'], ''], map {
		[Bench::Report::text_of($_->{of}), ['text',
		    Bench::Report::digits($_->{value}) . " $_->{text}"],
		    ['text', ($_->{kind} eq 'atleast' ? 'at least ' :
		    'at most ') . $_->{bar}], $_->{holds} ? ['good', 'holds'] :
		    ['bad', 'does not']]
	    } @bars);
}

sub figures_table {
	my ($report) = @_;
	my @rows;

	for my $workload ($report->workloads) {
		push(@rows, map { [['text', Bench::Report::text_of($workload)],
		    ['text', $_], $report->row($workload, $_)] }
		    $report->servers($workload));
	}
	return table('wide', [['text', 'workload'], ['text', 'server'],
	    @Bench::Report::columns], @rows);
}

# A page of its own, with more style.
sub whole {
	my ($title, $more, $body) = @_;

	return "<!DOCTYPE html>\n<html lang=\"en\"><head>" .
	    "<meta charset=\"utf-8\">\n<meta name=\"viewport\" " .
	    "content=\"width=device-width, initial-scale=1\">\n" .
	    '<title>' . escape($title) .
	    "</title>\n<style>\n$style$more</style></head>" .
	    "<body>\n$body</body></html>\n";
}

sub make {
	my ($report) = @_;
	my $facts = join('', map { '<br>' . escape("$_: " .
	    $report->{machine}{$_}) } sort keys %{$report->{machine}});
	my $notes = join('', map { '<p>' . escape($_) . "</p>\n" }
	    @{$report->{notes}});

	return whole('amped: benchmark', '', "<h1>What a request costs</h1>\n" .
	    '<p>Processor time of the whole server, all its processes, for ' .
	    'each request that the client counted; the median of all rounds, ' .
	    'and from the least to the most as a line.  Shorter is better.  ' .
	    'The ceiling is a program that answers without looking at the ' .
	    'request.</p>' . "\n<p class=\"faint\">$facts</p>\n$notes" .
	    bars_table($report) .
	    "<h2>Workloads</h2>\n<div class=\"plots\">\n" .
	    load_pictures($report) . "</div>\n" .
	    "<h2>Memory, start, counts</h2>\n<div class=\"plots\">\n" .
	    probe_pictures($report) . "</div>\n" .
	    "<h2>All figures</h2>\n<p>Of ceiling, best peer: how many times " .
	    'less processor time than these, by the median of the ratios ' .
	    'within a round.  Beside: how many times as much as the workload ' .
	    "that was measured beside it.</p>\n" . figures_table($report));
}

1;
