#!/usr/bin/env perl
#
# completion: bash completes every option of the programs, and what stands
# behind one.
#
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use Amped qw(docroot);
use Amped::Foreign qw(needs_program);
use Test::More;

my $build = $ENV{AMPED_BUILD} // Amped::source_dir();
my $dir = docroot('one file.conf' => '', 'one.txt' => '', 'one dir/' => '',
    'two/' => '');

plan(skip_all => 'not made here') unless -e "$build/contrib/completion/amped";
needs_program('bash');

# What bash offers for the last of these words, in the directory of the test.
sub complete {
	my (@words) = @_;
	my $program = $words[0];
	my ($status, $out, $err) = Amped::run_command(undef, 'bash', '--norc',
	    '-c', 'set -u; cd "$1"; source "$2" || exit; shift 2; ' .
	    'COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)); ' .
	    'f=$(complete -p "$1" | sed "s/.*-F \\([^ ]*\\).*/\\1/"); ' .
	    '$f "$1" "${@: -1}" "${@: -2:1}"; printf "%s\n" "${COMPREPLY[@]}"',
	    'bash', $dir, "$build/contrib/completion/$program", @words);

	is($status, 0, "@words") or diag($err);
	is($err, '', '... without a complaint');
	return [grep { length } sort(split(/\n/, $out))];
}

# The options in the usage, which ends with an empty line.
sub options {
	my ($program) = @_;
	my (undef, $out) = Amped::run_command(undef, "$build/$program", '-h');
	my ($usage) = $out =~ /\A(.*?)(?:\n\n|\z)/s;
	my %options = map { $_ => 1 } $usage =~ /(?<!\w)-\w\b/g;

	return sort(keys(%options));
}

my @options = options('amped');
cmp_ok(scalar(@options), '>', 10, 'amped has options');
is_deeply(complete('amped', '-'), \@options, 'all options');
is_deeply(complete('amped', '-t', '-'), \@options, '... behind another, too');
is_deeply(complete('amped', '-t', '-f', 'one'),
    ['one dir', 'one file.conf', 'one.txt'], 'files for -f');
is_deeply(complete('amped', '-f', 'one f'), ['one file.conf'],
    '... with a blank in the name');
is_deeply(complete('amped', ''), ['one dir', 'two'], 'directories to serve');
is_deeply(complete('amped', '-A', ''), ['amped', 'mp', 'mt', 'pipelined',
    'sped'], 'architectures');
is_deeply(complete('amped', '-A', 's'), ['sped'], '... that begin so');
is_deeply(complete('amped', '-u', ''), [], 'nothing where nobody can know');

my (undef, $list) = Amped::run_command(undef, "$build/ampedctl", '-L');
my @commands = sort(map { (split(/\t/))[0] } split(/\n/, $list));
cmp_ok(scalar(@commands), '>', 5, 'ampedctl has commands');
is_deeply(complete('ampedctl', ''), \@commands, 'all commands');
is_deeply(complete('ampedctl', '-s', '/run/x', 're'),
    [grep { /^re/ } @commands], '... behind an option, by their beginning');
is_deeply(complete('ampedctl', '-'), [options('ampedctl')],
    'all options');
is_deeply(complete('ampedctl', '-f', 'one'),
    ['one dir', 'one file.conf', 'one.txt'], 'files for -f');
is_deeply(complete('ampedctl', 'purge', ''), [], 'a command is enough');

done_testing();
