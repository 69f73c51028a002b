#!/usr/bin/env perl
#
# dist: make distcheck, with few tests in it; and what is in the tarball is what
# is in the repository.
#
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use Amped ();
use Amped::Foreign qw(which_program);
use Amped::Package qw(build_dir command_ok locked plain_build quietly);
use Test::More;

plain_build();
alarm(590);

my $src = Amped::source_dir();
my $build = build_dir();
my $list = locked(sub {
	command_ok('make distcheck', 'unset MAKEFLAGS; ' .
	    'exec make -C "$1" distcheck T=unit/lib/', $build);
	return command_ok('a tarball', 'tar -tzf "$1"/amped-[0-9]*.tar.gz',
	    $build);
});
my %there = map { s{^[^/]+/}{}r => 1 } split(/\n/, $list);

# What autogen.sh makes is in it, and nothing that a build makes.
ok($there{$_}, "there is $_") for qw(configure Makefile.in config.h.in
    build-aux/install-sh);
is_deeply([grep { /\.(?:o|so|a|tmp|Po|trs|log)\z/ || /\.dirstamp\z/ }
    sort(keys(%there))], [], 'and nothing that has been built');

SKIP: {
	my ($status, $files) = -e "$src/.git" && which_program('git') ?
	    quietly('git -c safe.directory="*" -C "$1" ls-files', $src) : 1;
	skip('this is no repository', 1) if $status;
	is_deeply([grep { !$there{$_} && $_ ne '.gitignore' &&
	    -e "$src/$_" } split(/\n/, $files)], [],
	    'there is all that the repository has');
}

done_testing();
