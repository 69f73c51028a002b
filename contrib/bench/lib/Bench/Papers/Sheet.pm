# Bench::Papers::Sheet: what was measured, as text and as one page of HTML
# that needs nothing else: our own plots beside those with others, what the
# paper found, and what of it holds here.
package Bench::Papers::Sheet;

use strict;
use warnings;

use Bench::Lines;
use Bench::Page;
use Bench::Papers::Claim;
use Bench::Papers::Figure;
use Bench::Papers::Target;
use Bench::Report;

# Who is who in all pictures.
my %number = (amped => 0, sped => 1, mp => 2, mt => 3, pipelined => 4,
    nginx => 5, lighttpd => 6, h2o => 8, apache => 7, caddy => 9,
    'nginx-threads' => 9);

my $style = <<'END';
.pairs { display: grid; gap: 1.2rem 2rem; margin: 1rem 0;
	grid-template-columns: repeat(auto-fit, minmax(min(28rem, 100%), 1fr)); }
details .wide { margin-bottom: .8rem; }
.bars svg { max-width: 27rem; }
summary { cursor: pointer; color: var(--faint); margin: .6rem 0; }
.paper { border-left: 3px solid var(--line); padding-left: .8rem; }
h2 { border-top: 1px solid var(--line); padding-top: 1.2rem; }
END

# What explains a target, of each request: figure, text.
my @counts = (['syscalls', 'system calls'], ['user',
    'instructions in the server'], ['kernel', 'instructions in the kernel'],
    ['switches', 'times asleep']);

sub digits { return Bench::Report::digits(@_) }

sub escape { return Bench::Page::escape(@_) }

# The figures that there are, in their order; targets apart.
sub measured {
	my ($results) = @_;

	return grep { $_->{name} ne 'targets' && $results->has($_->{name}) }
	    @Bench::Papers::Figure::figures;
}

# The tables of a figure, each with a title and a unit, what its columns are,
# and rows: a name, and a value or nothing for each column.
sub tables {
	my ($results, $figure) = @_;
	my $name = $figure->{name};
	my @tables;

	for my $plot (@{$figure->{plots}}) {
		my ($what, $title, $unit) = @$plot;
		for my $group (Bench::Papers::Figure::groups(
		    $results->at($name))) {
			my ($first, @places) = @$group;
			my $of = defined($first) ? ", $first $figure->{by}" : '';
			push(@tables, { title => "$title$of", unit => $unit,
			    x => [map { $_->[0] } @places], rows => [map {
				my $server = $_;
				[$server, map { $results->value($name,
				    $server, $_->[1], $what) } @places]
			    } $results->servers($name)] });
		}
	}
	push(@tables, tables_of_parts($results, $figure)) if $figure->{parts};
	for my $table (@tables) {
		@{$table->{rows}} = grep { my (undef, @values) = @$_;
		    grep { defined } @values } @{$table->{rows}};
	}
	return grep { @{$_->{rows}} } @tables;
}

# Those of each server, with a row for each part.
sub tables_of_parts {
	my ($results, $figure) = @_;
	my $name = $figure->{name};
	my @x = $results->at($name);

	return map { my $server = $_; map {
		my ($what, $title, $unit) = @$_;
		{ title => "$server, $title", unit => $unit, x => [@x],
		    parts => 1, rows => [map { my $part = $_;
		    [$part, map { $results->value($name, $server, $_,
		    "$what $part") } @x] } @{$figure->{parts}}] }
	} @{$figure->{tables}} } $results->servers($name);
}

# A row as texts.
sub texts {
	my ($name, @values) = @{$_[0]};

	return [$name, map { digits($_) } @values];
}

#
# As text
#

sub table_text {
	my ($title, $head, @rows) = @_;
	my ($first, @width) = map { my $i = $_;
	    (sort { $b <=> $a } map { length($_->[$i]) } $head, @rows)[0]
	} 0 .. $#$head;
	my $line = "  %-${first}s" . join('', map { "  %${_}s" } @width) . "\n";

	return "$title\n" . join('', map { sprintf($line, @$_) } $head, @rows);
}

sub figure_text {
	my ($results, $name) = @_;
	my $figure = Bench::Papers::Figure::find($name);
	my ($agrees, $changed) =
	    Bench::Papers::Claim::paragraphs($results, $name);
	my $text = '';

	for my $table (tables($results, $figure)) {
		$text .= table_text("$name: $table->{title}, $table->{unit}" .
		    ($figure->{x} ? ", by $figure->{x}" : ''),
		    ['', @{$table->{x}}], map { texts($_) }
		    @{$table->{rows}}) . "\n";
	}
	return $text . join('', map { "# $_\n" } how($results, $name),
	    $agrees ne '' ? "What agrees: $agrees" : (),
	    $changed ne '' ? "What has changed: $changed" : (),
	    @{$results->{figures}{$name}{notes}});
}

sub target_rows {
	my ($results) = @_;

	return map { [$_->{text}, $_->{of}, digits($_->{value}), $_->{words},
	    Bench::Papers::Target::verdict($_)] }
	    Bench::Papers::Target::held($results);
}

my @target_head = ('what', 'ratio', 'is', 'has to be', '');

sub targets_text {
	my ($results) = @_;

	return '' unless $results->has('targets');
	return table_text('targets', [@target_head], target_rows($results)) .
	    "\n" . table_text('targets: of a request, 500 bytes, cached',
	    count_rows($results)) . join('', map { "# $_\n" }
	    @{$results->{figures}{targets}{notes}});
}

# Head and rows.
sub count_rows {
	my ($results) = @_;

	return (['', map { $_->[1] } @counts], map {
		my $server = $_;
		[$server, map { digits($results->value('targets', $server,
		    'counts', $_->[0])) } @counts]
	} $results->servers('targets'));
}

#
# As HTML
#

sub is_ours { return ($number{$_[0]} // 9) < 5 }

# Twice: our architectures, and amped beside others; what all servers have in
# common, ways or parts, in one.
sub pair {
	my ($figure, $table) = @_;
	my @x = @{$table->{x}};
	my @rows = @{$table->{rows}};
	my ($most) = sort { $b <=> $a } grep { defined }
	    map { @{$_}[1 .. $#x + 1] } @rows;
	my $one = $figure->{ways} || $table->{parts};
	my @others = grep { !is_ours($_->[0]) } @rows;
	my @sides = $one ? [@rows] : ([grep { is_ours($_->[0]) } @rows],
	    @others ? [grep({ $_->[0] eq 'amped' } @rows), @others] : []);
	my ($longest) = sort { $b <=> $a } 13, map { length($_->[0]) } @rows;
	my $n = 0;
	my %color = map { $_->[0] => $one ? $n++ : $number{$_->[0]} // 9 }
	    @rows;

	return join('', map { Bench::Lines::picture(title => $table->{title},
	    unit => "$table->{unit}, by $figure->{x}", x => [@x],
	    most => $most, width => [455 + 8 * $longest,
	    8 * $longest], ways => [map {
		my ($name, @values) = @$_;
		[$name, { map { $x[$_] => $values[$_] } 0 .. $#x },
		    $color{$name}] } @$_]) } grep { @$_ } @sides);
}

# Without a number on the x axis: bars, all servers in one.
sub bars {
	my ($figure, $table) = @_;

	return join('', map {
		my $i = $_;
		my @there = map { my ($name, $value) = @{$_}[0, $i + 1];
		    defined($value) ? [$name, $value, 0, digits($value)] :
		    () } @{$table->{rows}};
		@there ? Bench::Page::picture($table->{x}[$i],
		    "$table->{title}, $table->{unit}", @there) : ();
	} 0 .. $#{$table->{x}});
}

sub pictures {
	my ($results, $figure) = @_;
	my ($class, $one) = $figure->{x} ? ('pairs', \&pair) :
	    ('pairs bars', \&bars);

	return "<div class=\"$class\">\n" . join('', map {
	    $one->($figure, $_) } tables($results, $figure)) . "</div>\n";
}

sub figures_html {
	my ($results, $figure) = @_;
	my $out = join('', map { Bench::Page::table('wide',
	    [['text', "$_->{title}, $_->{unit}"], @{$_->{x}}],
	    map { texts($_) } @{$_->{rows}}) } tables($results, $figure));

	return "<details><summary>The figures</summary>\n$out</details>\n";
}

sub notes_html {
	my ($results, $name) = @_;
	my @notes = @{$results->{figures}{$name}{notes}} or return '';

	return '<p class="faint">' . join('<br>', map { escape($_) } @notes) .
	    "</p>\n";
}

# How it was measured, and how far to trust it.
sub how {
	my ($results, $name) = @_;
	my $how = $results->{figures}{$name};
	my @others = sort { $a <=> $b } grep { defined } map { $_->{others} }
	    map { @$_ } map { values(%$_) } values(%{$how->{rounds}});

	return sprintf('%s, %s s each, %s%s.', $how->{date},
	    digits($how->{seconds}), $how->{rounds_of_each} == 1 ?
	    'one round' : "$how->{rounds_of_each} rounds",
	    @others ? sprintf('; meanwhile others used %.1f processors (%.1f ' .
	    'at most)', Bench::Report::median(@others), $others[-1]) : '');
}

sub figure_html {
	my ($results, $figure) = @_;
	my $name = $figure->{name};
	my ($agrees, $changed) =
	    Bench::Papers::Claim::paragraphs($results, $name);
	my $out = "<h2 id=\"$name\">" . escape($figure->{title}) . "</h2>\n" .
	    '<p class="faint">' . escape("$figure->{paper}, $figure->{of}") .
	    '<br>' . escape($figure->{setup}) . '  ' .
	    escape(how($results, $name)) . "</p>\n" .
	    '<p class="paper"><b>The paper.</b> ' . escape($figure->{found}) .
	    "</p>\n" . pictures($results, $figure);

	$out .= '<p><b>What agrees.</b> ' . escape($agrees) . "</p>\n"
	    if $agrees ne '';
	$out .= '<p><b>What a quarter of a century has changed.</b> ' .
	    escape($changed) . "</p>\n"
	    if $changed ne '';
	return $out . figures_html($results, $figure) .
	    notes_html($results, $name);
}

# Where each spends its time: a column each, its functions in their order.
sub profile_html {
	my ($results) = @_;
	my %of = map {
		my ($counts) = $results->rounds('targets', $_, 'counts');
		($_ => ($counts // {})->{profile})
	} $results->servers('targets');
	my @there = grep { @{$of{$_} // []} } $results->servers('targets');
	my ($most) = sort { $b <=> $a } map { scalar(@{$of{$_}}) } @there;

	return '' unless @there;
	return "<details><summary>Where they spend their time</summary>\n" .
	    Bench::Page::table('wide', [map { ['text', $_] } @there], map {
		my $i = $_;
		[map { my $row = $of{$_}[$i]; ['text', $row ?
		    sprintf('%.1f %% %s', 100 * $row->[1], $row->[0]) : ''] }
		    @there]
	    } 0 .. $most - 1) . "</details>\n";
}

# What was tried for those that are missed here.
sub missed_html {
	my ($results) = @_;

	return join('', map { '<p><b>Missed: ' . escape("$_->{text}, " .
	    "$_->{of}.") . '</b> ' . escape($_->{tried}) . "</p>\n" }
	    grep { defined($_->{tried}) }
	    Bench::Papers::Target::held($results));
}

my %class = (met => 'good', missed => 'bad', 'not measured' => 'faint');

sub targets_html {
	my ($results) = @_;
	my ($head, @rows) = count_rows($results);

	return '' unless $results->has('targets');
	return "<h2 id=\"targets\">Targets</h2>\n<p class=\"faint\">Ratios " .
	    'within a round, and then their median; ' .
	    escape(how($results, 'targets')) . "</p>\n" .
	    Bench::Page::table('wraps', ['what', map { ['text', $_] }
	    @target_head[1 .. 4]], map {
		my @row = @$_;
		[$row[0], ['text', $row[1]], $row[2], ['text', $row[3]],
		    [$class{$row[4]}, $row[4]]]
	    } target_rows($results)) .
	    '<p>What may explain them: what a cached request of 500 bytes ' .
	    "takes, with 64 clients.</p>\n" .
	    Bench::Page::table('wide', $head, @rows) .
	    missed_html($results) . profile_html($results) .
	    notes_html($results, 'targets');
}

sub html {
	my ($results) = @_;
	my %machine = %{$results->{machine}};
	my @figures = measured($results);

	return Bench::Page::whole('amped: the papers again',
	    $Bench::Lines::style . $style,
	    "<h1>The papers, a quarter of a century later</h1>\n" .
	    '<p>What those who compared the architectures of Web servers ' .
	    'measured, once more, on one machine, with amped in each ' .
	    'architecture that it has, and with servers of today.  All ' .
	    'requests and answers go through the loopback; servers have one ' .
	    "core, their clients another.  mp and mt have as many workers as " .
	    'there are clients, 256 at most, and 32 where memory is scarce.' .
	    "</p>\n<p class=\"faint\">" . join('<br>', map {
	    escape("$_: $machine{$_}") } sort keys %machine) . "</p>\n" .
	    '<p>' . join(' &middot; ', map {
	    "<a href=\"#$_->{name}\">" . escape($_->{title}) . '</a>' }
	    @figures, $results->has('targets') ?
	    { name => 'targets', title => 'Targets' } : ()) . "</p>\n" .
	    join('', map { figure_html($results, $_) } @figures) .
	    targets_html($results));
}

1;
