#!/usr/bin/perl
# git clones a repository that is nothing but files to the server, and later
# fetches what is new.
# arch: pair
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use Amped qw(content docroot write_file);
use Amped::Git qw(git head init_served same);
use Test::More;

my $root = docroot();
my ($work, $clone) = (docroot(), docroot());
my $bare = "$root/project.git";

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

# What is watched is new at once; elsewhere it is so after `revalidate`.
my $server;

sub prepare {
	git('for plain HTTP', '-C', $bare, 'update-server-info');
	sleep(2) if $server && $server->get('/status?text')->{body} =~
	    /^watches 0$/m;
}

init_served($bare, $work);
commit('loose', 40);
prepare();

$server = Amped->start(root => $root, site => "path /status { status on }\n");
git('git clone of loose objects', 'clone', '-q',
    $server->url('/project.git'), $clone);
same('the clone', $clone, $work);
ok($server->wait_line(qr{GET /project\.git/objects/../\w{38} .* 200 },
    $server->{access}), '... object by object');

commit('packed', 150);
git('a pack', '-C', $bare, 'repack', '-q', '-a', '-d');
prepare();
git('git pull of what is new', '-C', $clone, 'pull', '-q', '--ff-only');
same('after the pull', $clone, $work);
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
