#!/usr/bin/perl
# git over HTTP by a CGI program of other people: git http-backend takes pushes
# of some megabytes, and serves clones and fetches, whole and shallow.
# arch: pair
use strict;
use warnings;

use Digest::SHA qw(sha512);
use FindBin;
use lib "$FindBin::Bin/../lib";
use Amped qw(content docroot slurp write_file);
use Amped::Foreign qw(foreign);
use Amped::Git qw(git head init_served same);
use Amped::Programs;
use MIME::Base64 qw(encode_base64);
use Test::More;

my $backend = (qx(git --exec-path) =~ s/\n\z//r) . '/git-http-backend';
plan(skip_all => 'there is no git-http-backend') unless -x $backend;

# The repository belongs to the server's user.
@ENV{qw(GIT_CONFIG_COUNT GIT_CONFIG_KEY_0 GIT_CONFIG_VALUE_0)} =
    (1, 'safe.directory', '*');

my $top = docroot('repositories/' => '', 'www/z' => "z\n",
    'passwords' => 'joe:' . crypt('secret', '$5$salt') . "\n");
my ($work, $clone) = (docroot(), docroot());
my $bare = "$top/repositories/project.git";

sub commit {
	my ($name, $n, $size) = @_;

	write_file("$work/$name/$_", content("$name$_", $size + $_))
	    for 1 .. $n;
	git("$n files", '-C', $work, 'add', '.');
	git('... committed', '-C', $work, 'commit', '-q', '-m', $name);
}

# Bytes that zlib, which looks back 32 KB, does not make smaller.
sub noise {
	my ($name, $megabytes) = @_;

	return join('', map { sha512("$name$_") } 1 .. 1024) x
	    (16 * $megabytes);
}

init_served($bare, $work);
git('... which takes pushes', '-C', $bare, 'config', 'http.receivepack',
    'true');
if ($> == 0) {
	# The program's user must own what it writes, git says.
	system('chown', '-R', Amped::ordinary_user(), "$top/repositories")
	    == 0 or die "chown\n";
}

my $server = Amped->start(root => "$top/www", global => <<"END", site =>
program git {
	command $backend
	environment GIT_PROJECT_ROOT $top/repositories
	environment GIT_HTTP_EXPORT_ALL 1
	nice 0
	answer 60s
}
END
    <<"END");
	path /git { run git; body 64M }
	path /own { run git; body 64M; auth "Git" $top/passwords }
END
my $url = $server->url('/git/project.git');

# A push with a length.
commit('first', 40, 300);
git('git push', '-C', $work, 'push', '-q', $url, 'HEAD:refs/heads/main');
is(head($bare), head($work), '... and the commit is there');
ok($server->wait_line(
    qr{POST /git/project\.git/git-receive-pack HTTP/1\.1" 200 },
    $server->{access}), '... by a request for the program');
git('git clone', 'clone', '-q', $url, $clone);
same('the clone', $clone, $work);

# One of some megabytes, in chunks.
write_file("$work/noise", noise('large', 4));
commit('large', 20, 20_000);
git('git push of 4 MB, in chunks', '-C', $work, '-c', 'http.postBuffer=65536',
    'push', '-q', $url, 'HEAD:refs/heads/main');
is(head($bare), head($work), '... and the commit is there');
git('git pull', '-C', $clone, 'pull', '-q', '--ff-only');
same('after the pull', $clone, $work);

# The same with a length.
write_file("$work/noise", noise('buffered', 2));
commit('buffered', 3, 1000);
git('git push of 2 MB, with a length', '-C', $work, '-c',
    'http.postBuffer=16777216', 'push', '-q', $url, 'HEAD:refs/heads/main');
is(head($bare), head($work), '... and the commit is there');

# Many commits: what the client has is sent in gzip.
my $n = 0;
for (1 .. 60) {
	foreign('git', '-C', $work, 'commit', '-q', '--allow-empty', '-m',
	    'empty ' . $n++);
	foreign('git', '-C', $work, 'tag', "tag$n");
}
git('git push of many tags', '-C', $work, 'push', '-q', '--tags', $url,
    'HEAD:refs/heads/main');
for my $i (1 .. 60) {
	foreign('git', '-C', $clone, 'commit', '-q', '--allow-empty', '-m',
	    "own $i");
}
git('git fetch, which tells much', '-C', $clone, 'fetch', '-q', 'origin');
is((foreign('git', '-C', $clone, 'rev-parse', 'origin/main'))[1], head($work),
    '... and gets what is new');
git('... by protocol 0, too', '-C', $clone, '-c', 'protocol.version=0',
    'fetch', '-q', 'origin', 'refs/tags/tag1');

# Shallow.
my $shallow = docroot();
git('git clone --depth 1', 'clone', '-q', '--depth', '1', $url, $shallow);
is(head($shallow), head($work), '... has the last commit');
is((foreign('git', '-C', $shallow, 'rev-list', '--count', 'HEAD'))[1], "1\n",
    '... and no other');
git('git fetch --deepen', '-C', $shallow, 'fetch', '-q', '--deepen', '5');
is((foreign('git', '-C', $shallow, 'rev-list', '--count', 'HEAD'))[1], "6\n",
    '... gets some more');
git('git fetch --unshallow', '-C', $shallow, 'fetch', '-q', '--unshallow');
is((foreign('git', '-C', $shallow, 'rev-list', '--count', 'HEAD'))[1],
    (foreign('git', '-C', $work, 'rev-list', '--count', 'HEAD'))[1],
    '... and all');
my ($refs) = git('git ls-remote', 'ls-remote', $url);
like($refs, qr{\Q${\(head($work) =~ s/\n//r)}\E\trefs/heads/main},
    '... tells the branch');

# What fails.
my ($status, undef, $err) = foreign('git', 'ls-remote',
    $server->url('/git/nothing.git'));
isnt($status, 0, 'a repository that is not there');
is($server->get('/git/project.git/../../passwords')->{status}, 404,
    'a path out of the repositories');
like($server->get('/git/project.git/%2e%2e%2fpasswords')->{status},
    qr/\A40[04]\z/, '... with an escaped slash');
($status) = foreign('git', 'ls-remote', $server->url('/own/project.git'));
isnt($status, 0, 'no password');
my $auth = 'Authorization: Basic ' . encode_base64('joe:secret', '');
git('a password', '-c', "http.extraHeader=$auth", 'ls-remote',
    $server->url('/own/project.git'));

# A branch that goes, and one that nobody may push.
git('a branch', '-C', $work, 'push', '-q', $url, 'HEAD:refs/heads/other');
git('... goes', '-C', $work, 'push', '-q', $url, ':refs/heads/other');
foreign('git', '-C', $bare, 'config', 'http.receivepack', 'false');
chown((getpwnam(Amped::ordinary_user()))[2], -1, "$bare/config") if $> == 0;
($status, undef, $err) = foreign('git', '-C', $work, 'push', '-q', $url,
    'HEAD:refs/heads/refused');
isnt($status, 0, 'a push that the repository does not take');
like($err, qr/403/, '... is refused by the program');

# Several at once.
my @clones = map { docroot() } 1 .. 4;
my @pids = map {
	Amped::spawn(['git', 'clone', '-q', $url, "$_/c"], "$_/out", "$_/err")
} @clones;
for my $i (0 .. $#pids) {
	waitpid($pids[$i], 0);
	is($?, 0, 'one of several clones at once');
	is(head("$clones[$i]/c"), head($work), '... is the same');
}
is_deeply([grep { /" 5\d\d / } $server->wait_lines(1)], [],
    'no request has failed');

$server->stop;
done_testing();
