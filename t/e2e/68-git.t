#!/usr/bin/perl
# git clones a repository that is nothing but files to the server, and later
# fetches what is new.
# arch: pair
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use Amped qw(content docroot write_file);
use Amped::Foreign qw(checksums foreign foreign_ok needs_program);
use Test::More;

needs_program('git');
umask(022);

$ENV{GIT_CONFIG_NOSYSTEM} = 1;
$ENV{GIT_TERMINAL_PROMPT} = 0;
$ENV{"GIT_${_}_NAME"} = 'nobody' for qw(AUTHOR COMMITTER);
$ENV{"GIT_${_}_EMAIL"} = 'nobody@localhost' for qw(AUTHOR COMMITTER);
delete(@ENV{qw(GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE)});

my $root = docroot();
my ($work, $clone) = (docroot(), docroot());
my $bare = "$root/project.git";

sub git { return foreign_ok(shift, 'git', @_) }

# The commit that a repository is at.
sub head { return (foreign('git', '-C', $_[0], 'rev-parse', 'HEAD'))[1] }

# Some more files, pushed to where they are served.
sub commit {
	my ($name, $n) = @_;

	write_file("$work/$name/$_", content("$name$_", $_ * 301))
	    for 1 .. $n;
	git("$n files", '-C', $work, 'add', '.');
	git('... committed', '-C', $work, 'commit', '-q', '-m', $name);
	git('... pushed', '-C', $work, 'push', '-q', $bare,
	    'HEAD:refs/heads/main');
}

sub prepare { git('for plain HTTP', '-C', $bare, 'update-server-info') }

sub work_tree {
	my $sums = checksums($_[0]);

	delete(@$sums{grep { m{^\.git/} } keys(%$sums)});
	return $sums;
}

sub same {
	my ($what) = @_;

	is(head($clone), head($work), "$what: the same commit");
	is_deeply(work_tree($clone), work_tree($work),
	    '... and every file has its checksum');
	git('... and git finds nothing wrong', '-C', $clone, 'fsck',
	    '--full', '--strict');
}

git('a repository to serve', 'init', '-q', '--bare', $bare);
git('... with a main branch', '-C', $bare, 'symbolic-ref', 'HEAD',
    'refs/heads/main');
git('one to work in', 'init', '-q', $work);
commit('loose', 40);
prepare();

# What has changed is to be seen at once.
my $server = Amped->start(root => $root,
    global => "cache {\n\tpaths 1000 revalidate 0s stale 0s\n}");
git('git clone of loose objects', 'clone', '-q',
    $server->url('/project.git'), $clone);
same('the clone');
ok($server->wait_line(qr{GET /project\.git/objects/../\w{38} .* 200 },
    $server->{access}), '... object by object');

commit('packed', 150);
git('a pack', '-C', $bare, 'repack', '-q', '-a', '-d');
prepare();
git('git pull of what is new', '-C', $clone, 'pull', '-q', '--ff-only');
same('after the pull');
ok($server->wait_line(qr{GET /project\.git/objects/pack/\S+\.pack .* 200 },
    $server->{access}), '... as a pack');

my $second = docroot();
git('git clone of a pack', 'clone', '-q', $server->url('/project.git'),
    $second);
is(head($second), head($work), '... is the same');
is_deeply([grep { !/" (200|404) / } $server->wait_lines(1)], [],
    'no request failed, but for objects that are not there');

$server->stop;
done_testing();
