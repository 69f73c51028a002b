#!/usr/bin/perl
# Pushes of 50 MB to git http-backend, in chunks and with a length, and a clone
# of what came of it.
# arch: one: smaller ones are in all, by 84-git
use strict;
use warnings;

use Digest::SHA qw(sha512);
use FindBin;
use lib "$FindBin::Bin/../lib";
use Amped qw(docroot write_file);
use Amped::Git qw(git head init_served same);
use Test::More;

alarm(20 * Amped::timeout());

my $backend = (qx(git --exec-path) =~ s/\n\z//r) . '/git-http-backend';
plan(skip_all => 'there is no git-http-backend') unless -x $backend;

@ENV{qw(GIT_CONFIG_COUNT GIT_CONFIG_KEY_0 GIT_CONFIG_VALUE_0)} =
    (1, 'safe.directory', '*');

my $top = docroot('repositories/' => '', 'www/z' => "z\n");
my ($work, $clone) = (docroot(), docroot());
my $bare = "$top/repositories/project.git";

init_served($bare, $work);
git('... which takes pushes', '-C', $bare, 'config', 'http.receivepack',
    'true');
if ($> == 0) {
	system('chown', '-R', Amped::ordinary_user(), "$top/repositories")
	    == 0 or die "chown\n";
}
my $server = Amped->start(root => "$top/www", global => <<"END", site =>
program git {
	command $backend
	environment GIT_PROJECT_ROOT $top/repositories
	environment GIT_HTTP_EXPORT_ALL 1
	nice 0
	answer 5m
}
limits { bodies 512M }
END
    "\tpath /git { run git; body 80M within 5m }\n" .
    "\tpath /small { run git; body 5M }\n");
my $url = $server->url('/git/project.git');

# Commits files that no two blocks of are the same: nothing gets smaller.
sub commit {
	my ($name, $megabytes) = @_;

	for my $n (1 .. $megabytes) {
		write_file("$work/$name$n", join('',
		    map { sha512("$name$n/$_") } 1 .. 16384));
	}
	git("$name: $megabytes MB", '-C', $work, 'add', '.');
	git('... committed', '-C', $work, '-c', 'core.compression=0', 'commit',
	    '-q', '-m', $name);
}

commit('chunks', 50);
git('a push of 50 MB in chunks', '-C', $work, '-c', 'core.compression=0',
    'push', '-q', $url, 'HEAD:refs/heads/main');
is(head($bare), head($work), '... and the commit is there');
git('git clone of it', 'clone', '-q', $url, $clone);
same('the clone', $clone, $work);
commit('length', 50);
git('a push of 50 MB with its length', '-C', $work, '-c',
    'core.compression=0', '-c', 'http.postBuffer=83886080', 'push', '-q', $url,
    'HEAD:refs/heads/main');
is(head($bare), head($work), '... and the commit is there');

commit('more', 6);
my ($status, undef, $err) = Amped::run_command(undef, 'git', '-C', $work,
    '-c', 'core.compression=0', 'push', '-q', $server->url('/small/project.git'),
    'HEAD:refs/heads/main');
isnt($status, 0, 'a push of more than body');
like($err, qr/413/, '... is refused with 413');
isnt(head($bare), head($work), '... and changes nothing');
is_deeply([grep { /" 5\d\d / } $server->wait_lines(1)], [],
    'no request has failed');

$server->stop;
done_testing();
