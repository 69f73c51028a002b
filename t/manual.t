#!/usr/bin/env perl
#
# manual: the pages are correct mdoc, and say everything that the programs
# know: each directive, option, process and counter.
#
use strict;
use warnings;

use File::Basename qw(basename dirname);
use Test::More;

my $src = $ENV{AMPED_SRC} // dirname(__FILE__) . '/..';
my $build = $ENV{AMPED_BUILD} // $src;
my $amped = "$build/amped";

my @pages = sort glob("$src/man/*.[1-9]");
my %text = map { basename($_) => slurp($_) } @pages;

sub slurp {
	my ($path) = @_;

	open(my $fh, '<', $path) or die "$path: $!\n";
	local $/;
	return <$fh> // '';
}

# The lines that a command prints, split at tabs.
sub lines_of {
	my (@command) = @_;

	open(my $out, '-|', @command) or die "$command[0]: $!\n";
	my @lines = map { chomp; [split(/\t/, $_, -1)] } <$out>;
	close($out) or die "@command: status $?\n";
	return @lines;
}

sub fine {
	my ($what, @wrong) = @_;

	ok(!@wrong, $what) or diag(map { "$_\n" } @wrong);
}

# The options of a program, as -h explains them: letters, and long names.
sub options {
	my ($program) = @_;

	return map { /^  -(\w)(?:, --(\w+))?/ ? [$1, $2] : () }
	    qx($build/$program -h);
}

for my $name (qw(amped.8 amped.conf.5 amped-arch.7 amped-recipes.7
    amped-programs.7 amped-filters.7
    amped-status.7 amped-helper.8 ampedctl.8)) {
	ok(defined($text{$name}), "there is $name");
	$text{$name} //= '';
}

# What mandoc says of references depends on what is installed here: ours are
# looked at below.
SKIP: {
	skip('there is no mandoc', scalar(@pages))
	    if system('command -v mandoc > /dev/null 2>&1') != 0;
	for my $page (@pages) {
		open(my $lint, '-|', 'mandoc', '-T', 'lint', $page)
		    or die "mandoc: $!\n";
		my @complaints = grep { !/referenced manual not found/ } <$lint>;
		close($lint);
		chomp(@complaints);
		fine('mandoc finds nothing in ' . basename($page),
		    @complaints);
	}
}
for my $page (sort keys %text) {
	fine("what $page refers to is there", grep { !defined($text{$_}) }
	    map { s/ /./r } $text{$page} =~ /^\.Xr (amped\S* \d)/mg);
}

# What administrators look for in a manual, beside amped's own words.
my %usual = ('amped.8' => ['configuration', 'graceful', 'keep-alive', 'reload',
	'rotation', 'timeout'],
    'amped.conf.5' => ['configuration', 'directory listing', 'graceful',
	'keep-alive', 'rate limit', 'rotation', 'symlink', 'timeout',
	'virtual host']);
for my $page (sort keys %usual) {
	my $words = $text{$page} =~ s/\s+/ /gr;

	fine("$page has the usual words", grep { $words !~ /\b\Q$_\E/i }
	    @{$usual{$page}});
}

my @directives = lines_of($amped, '-L');
cmp_ok(scalar(@directives), '>', 20, 'amped -L lists the directives');
my %words = map { $_->[1] => 1 } @directives;
fine('amped.conf(5) has every directive', grep { my $word = $_;
    $text{'amped.conf.5'} !~ /^\.It Ic \Q$word\E(?:\s|$)/m }
    sort keys %words);
my %parts = map { $_->[2] => 1 } grep { length($_->[2]) } @directives;
fine('amped.conf(5) has every part of a directive', grep { my $part = $_;
    $text{'amped.conf.5'} !~ /\b(?:Ic|Cm) \Q$part\E(?:\s|$)/m }
    sort keys %parts);
my ($said) = join("\n", $text{'amped.conf.5'} =~ /^\.It Ic (\S+)/mg);
fine('amped.conf(5) has no directive that is not there',
    grep { !$words{$_} } split(/\n/, $said));

# The bounds of some are in other words there.
my ($summary) = $text{'amped.conf.5'} =~ /^\.Sh SUMMARY\n(.*?)^\.Sh/ms;
my ($made) = join('', slurp_command("'$amped' -L | '$^X' " .
    "'$src/contrib/manlist'"));
my @stated = map { [$_ =~ /^\.It (.*?) Ta (.*?) ?Ta /mg] } $summary, $made;
is_deeply($stated[0], $stated[1], 'SUMMARY has all defaults, and no others');

my @fields = slurp("$src/src/conf/log_fields.tbl") =~
    /^FIELD\(\w+, '(.)', (?!NULL)"?([^",]*)|^FIELD\(\w+, '(.)', NULL/mg;
my @named;
while (my ($with, $argument, $alone) = splice(@fields, 0, 3)) {
	push(@named, defined($alone) ? "%$alone" : $argument eq '' ?
	    qr/%\{\w+\}$with/ : "%{$argument}$with");
}
cmp_ok(scalar(@named), '>', 20, 'there are fields of a line');
$text{'amped.conf.5'} =~ s/^(\.It Li \\&%.*)/$1 =~ s{\\-}{-}gr/gme;
fine('amped.conf(5) has every field of a line', grep { my $field = $_;
    $text{'amped.conf.5'} !~ (ref($field) ? qr/^\.It Li \\&$field Ta /m :
    qr/^\.It Li \\&\Q$field\E Ta /m) } @named);

my %program = ('amped.8' => 'amped', 'amped-helper.8' => 'amped-helper',
    'ampedctl.8' => 'ampedctl');
for my $page (sort keys %program) {
	my @options = options($program{$page});
	cmp_ok(scalar(@options), '>', 5, "$program{$page} has options");
	fine("$page has every option", map { "-$_->[0]" } grep {
	    my ($letter, $name) = @$_;
	    my $long = defined($name) ? qr/ , Fl -$name$/m : qr/(?:\s|$)/m;
	    $text{$page} !~ /^\.It Fl $letter$long/m } @options);
	fine("$page has no other", grep {
	    my $letter = $_; !grep { $_->[0] eq $letter } @options }
	    $text{$page} =~ /^\.It Fl (\w)(?:\s|$)/mg);
}

my %titles = map { $_ => 1 } map { slurp($_) =~ /"(amped: [a-z ]+)"/g }
    glob("$src/src/*.c $src/src/*/*.c $src/helpers/*.c");
cmp_ok(scalar(keys(%titles)), '>', 5, 'processes have titles');
fine('amped(8) has every process', grep {
    $text{'amped.8'} !~ /^\.It Li \Q$_\E$/m } sort(keys(%titles)));

my @commands = lines_of("$build/ampedctl", '-L');
cmp_ok(scalar(@commands), '>', 10, 'ampedctl -L lists the commands');
fine('ampedctl(8) has every command', grep { my $name = $_;
    $text{'ampedctl.8'} !~ /^\.It Cm \Q$name\E(?:\s|$)/m }
    map { $_->[0] } @commands);

my @counters = lines_of($amped, '-C');
cmp_ok(scalar(@counters), '>', 5, 'amped -C lists the counters');
my %there = map { $_->[0] => 1 } @counters;
is(scalar(keys %there), scalar(@counters), 'each has a name of its own');
my ($lists) = $text{'amped-status.7'} =~ /^(\.Ss Counters\n.*?)^\.Sh/ms;
my @listed = ($lists // '') =~ /^\.It Cm (\S+)$/mg;
fine('amped-status(7) has every counter', grep { my $name = $_;
    !grep { $_ eq $name } @listed } sort keys %there);
fine('amped-status(7) has no counter that is not there',
    grep { !$there{$_} } @listed);
is($lists, join('', slurp_command("'$amped' -C | '$^X' " .
    "'$src/contrib/countlist'")), 'and says the same of them');

sub slurp_command {
	my ($command) = @_;

	open(my $out, '-|', $command) or die "$command: $!\n";
	my @lines = <$out>;
	close($out) or die "$command: status $?\n";
	return @lines;
}

done_testing();
