#!/usr/bin/env perl
#
# bootstrap: what "run" makes of its arguments.
#
# A tree of its own has bootstrap, and in place of amped a program that prints
# its arguments: nothing is configured or built.
#
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use Amped qw(docroot slurp);
use Amped::Foreign qw(needs_program);
use Test::More;

needs_program(qw(make autoreconf pkg-config));

my $src = Amped::source_dir();
my $tree = docroot('bootstrap' => slurp("$src/bootstrap"),
    'build/config.status' => '', 'build/Makefile' => "all:\nsite:\n",
    'build/amped' => "#!/bin/sh\nfor i; do echo \"\$i\"; done\n" .
    "[ ! -e \"\$i/index.html\" ] || { cat \"\$i/index.html\"; exit 3; }\n" .
    "case \$i in */amped.conf) cat \"\$i\" ;; esac\n",
    'build/site/index.html' => "the manual\n", 'a file' => '', 'sub dir/' => '',
    'examples/x/amped.conf' => "the conf\n");
chmod(0755, "$tree/bootstrap", "$tree/build/amped");

# Status, and the lines from amped or standard error.
sub bootstrap {
	my (@args) = @_;
	my ($status, $out, $err) = Amped::run_command(undef, '/bin/sh', '-c',
	    'cd "$0" && umask 077 && "$@"', $tree, './bootstrap',
	    '--no-install', @args);

	return ($status >> 8, [grep { !/^make / } split(/\n/, $out)], $err);
}

my ($status, $lines, $err) = bootstrap('run', 'sub dir');
plan(skip_all => 'what the build needs is missing')
    if $err =~ /to install them/;
is($status, 0, 'run DIR') or diag($err);
is_deeply($lines, ["$tree/sub dir"], 'serves it by its whole name');
($status, $lines, $err) = bootstrap('run', '-l', '*:8000', "$tree/sub dir");
is_deeply($lines, ['-l', '*:8000', "$tree/sub dir"], '-l is for amped');
($status, $lines, $err) = bootstrap('-l', '19111', 'run', 'sub dir');
is_deeply($lines, ['-l', '19111', "$tree/sub dir"], '... before run, too');

($status, $lines, $err) = bootstrap('run', '-l', '19111');
if ($> == 0) {
	is($status, 3, 'the manual: the status is that of amped');
	is($lines->[-1], 'the manual', '... which has it');
	my $copy = $lines->[2];
	isnt($copy, "$tree/build/site", '... as a copy, if root serves');
	ok(!-e $copy, '... that is gone at the end');
} else {
	is_deeply($lines, ['-l', '19111', 'build/site', 'the manual'],
	    'the manual');
}

($status, $lines, $err) = bootstrap('run', 'a file');
is_deeply($lines, ['-D', '-f', "$tree/a file"], 'a file is a conf');
for my $conf ('examples/x/amped.conf', "$tree/examples/x/amped.conf") {
	($status, $lines, $err) = bootstrap('run', $conf);
	is_deeply([@$lines[0, 1]], ['-D', '-f'], "$conf is one") or diag($err);
	if ($> == 0) {
		isnt($lines->[2], "$tree/examples/x/amped.conf",
		    '... as a copy, if root serves');
		is($lines->[-1], 'the conf', '... which is whole');
		ok(!-e $lines->[2], '... that is gone at the end');
	} else {
		is($lines->[2], "$tree/examples/x/amped.conf", '... in place');
	}
}

for my $case ([['none'], qr{no directory and no conf \Q$tree\E/none$}m],
    [['-l', '80', 'a file'],
    qr{\Q$tree\E/a file is a conf, and says itself where it listens$}m]) {
	my ($args, $reason) = @$case;
	($status, $lines, $err) = bootstrap('run', @$args);
	is($status, 1, "run @$args fails");
	like($err, $reason, '... with the reason');
	is_deeply($lines, [], '... before anything is built');
}
for my $case ([qw(run -l)], [qw(check -l 80)], [qw(check --quick dir)],
    [qw(run --quick)], [qw(run a b)], []) {
	($status) = bootstrap(@$case);
	is($status, 64, "@$case: the usage");
}

done_testing();
