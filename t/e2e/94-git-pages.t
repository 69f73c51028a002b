#!/usr/bin/perl
# Walks through the pages of a repository: cgit and gitweb show its commits,
# directories, files and differences, and give archives of it.
# arch: one: an application sees requests alone
# Debian: cgit gitweb
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use Amped qw(content docroot slurp write_file);
use Amped::Foreign qw(foreign);
use Amped::Git qw(git head init_served);
use Amped::Visitor;
use Test::More;

alarm(20 * Amped::timeout());

my $cgit = '/usr/lib/cgit/cgit.cgi';
my $gitweb = '/usr/share/gitweb/gitweb.cgi';
plan(skip_all => 'there is neither cgit nor gitweb')
    unless -x $cgit || -x $gitweb;

my $top = docroot('repositories/' => '', 'www/z' => "z\n", 'cache/' => '');
my $work = docroot();
my $bare = "$top/repositories/project.git";
my $odd = "sub dir/caf\xc3\xa9 & more+.txt";
my $binary = pack('C*', 0 .. 255) x 64;

@ENV{qw(GIT_CONFIG_COUNT GIT_CONFIG_KEY_0 GIT_CONFIG_VALUE_0)} =
    (1, 'safe.directory', '*');
init_served($bare, $work);
write_file("$work/README", "first line\n");
write_file("$work/$odd", "odd name\n");
write_file("$work/binary", $binary);
write_file("$work/.gitignore", "*.o\n");
write_file("$work/many/$_", "file $_\n") for 1 .. 300;
git('files', '-C', $work, 'add', '.');
git('... committed', '-C', $work, 'commit', '-q', '-m', 'Begin the project');
write_file("$work/README", "first line\nsecond <line> & more\n");
git('... a change', '-C', $work, 'commit', '-q', '-a', '-m', 'Add a line');
git('... a tag', '-C', $work, 'tag', 'v1');
git('... pushed', '-C', $work, 'push', '-q', '--tags', $bare,
    'HEAD:refs/heads/main');
write_file("$bare/description", "A project to look at\n");
my $commit = head($bare) =~ s/\n//r;
write_file("$top/cgitrc", <<"END");
css=/cgit-css/cgit.css
logo=/cgit-css/cgit.png
cache-size=100
cache-root=$top/cache
snapshots=tar.gz zip
enable-http-clone=1
enable-blame=1
scan-path=$top/repositories
END
write_file("$top/gitweb.conf", "our \$projectroot = '$top/repositories';\n" .
    "\$feature{'snapshot'}{'default'} = ['tgz'];\n");
if ($> == 0) {
	system('chown', '-R', Amped::ordinary_user(), "$top/repositories",
	    "$top/cache") == 0 or die "chown\n";
}

my $trust = "\tenvironment GIT_CONFIG_COUNT 1\n" .
    "\tenvironment GIT_CONFIG_KEY_0 safe.directory\n" .
    "\tenvironment GIT_CONFIG_VALUE_0 *\n\tnice 0\n";
my ($programs, $paths) = ('', '');
if (-x $cgit) {
	$programs .= "program cgit {\n\tcommand $cgit\n" .
	    "\tenvironment CGIT_CONFIG $top/cgitrc\n$trust}\n";
	$paths .= "\tpath /cgit { run cgit }\n" .
	    "\tpath /cgit-css { alias /usr/share/cgit }\n";
}
if (-x $gitweb) {
	$programs .= "program gitweb {\n\tcommand $gitweb\n" .
	    "\tenvironment GITWEB_CONFIG $top/gitweb.conf\n$trust}\n";
	$paths .= "\tpath /gitweb { alias /usr/share/gitweb; " .
	    "index gitweb.cgi; run gitweb for gitweb.cgi }\n";
}
my $server = Amped->start(root => "$top/www", errors => 1,
    global => $programs, site => $paths);
my $reader = Amped::Visitor->new($server);

# An archive as tar tells it: its names.
sub names {
	my ($page) = @_;

	write_file("$top/archive", $page->{body});
	return (foreign('tar', '-tzf', "$top/archive"))[1];
}

# The targets of a page's links that match.
sub links {
	my ($page, $pattern) = @_;

	return map { Amped::Visitor::plain($_) } grep { $_ =~ $pattern }
	    $page->{body} =~ /href=['"]([^'"]*)['"]/g;
}

# Follows each link of a page that stays in the application; those that fail.
sub follow {
	my ($page, $prefix) = @_;
	my %seen = map { ($_ =~ s/#.*//r) => 1 } links($page, qr/\A\Q$prefix/);

	return grep { $reader->visit($_)->{status} != 200 } sort(keys(%seen));
}

SKIP: {
	skip('there is no cgit', 1) unless -x $cgit;
	my $at = '/cgit/project.git';

	my $page = $reader->sees('cgit: the repositories', '/cgit/', 200,
	    qr/A project to look at/, qr{href='/cgit/project\.git/'});
	$reader->sees('... without a slash', '/cgit', 200,
	    qr/A project to look at/);
	$reader->sees('... its style', '/cgit-css/cgit.css', 200, qr/cgit/);
	$page = $reader->sees('cgit: summary', "$at/", 200,
	    qr/Add a line/, qr/v1/);
	is_deeply([follow($page, $at)], [], '... all its links lead somewhere');
	$page = $reader->sees('cgit: log', "$at/log/", 200, qr/Add a line/,
	    qr/Begin the project/);
	$reader->sees('cgit: search in it', "$at/log/?qt=grep&q=Begin", 200,
	    qr/Begin the project/);
	$page = $reader->sees('cgit: tree', "$at/tree/", 200, qr/README/,
	    qr/sub dir/, qr/\.gitignore/);
	is_deeply([follow($page, "$at/tree/")], [],
	    '... all its links lead somewhere');
	$page = $reader->sees('... of a directory', "$at/tree/sub%20dir", 200,
	    qr/caf/);
	my ($blob) = links($page, qr{/tree/sub%20dir/caf});
	$reader->sees('... of a file with an odd name', $blob, 200,
	    qr/odd name/);
	($blob) = links($page, qr{/plain/sub%20dir/caf});
	is($reader->visit($blob)->{body}, "odd name\n", 'cgit: plain');
	ok($reader->visit("$at/plain/binary")->{body} eq $binary,
	    '... of bytes of all kinds');
	$reader->sees('cgit: blame', "$at/blame/README", 200, qr/first line/);
	$reader->sees('cgit: commit', "$at/commit/?id=$commit", 200,
	    qr/second &lt;line&gt; &amp; more/);
	$reader->sees('cgit: diff', "$at/diff/?id=$commit", 200,
	    qr/\+second &lt;line&gt;/);
	$reader->sees('cgit: patch', "$at/patch/?id=$commit", 200,
	    qr/^\+second <line> & more$/m);
	$page = $reader->sees('cgit: snapshot',
	    "$at/snapshot/project-v1.tar.gz", 200, qr/\A\x1f\x8b/);
	like(names($page), qr{^project-v1/many/300$}m, '... has its files');
	$reader->sees('cgit: feed', "$at/atom/", 200, qr/<feed/, qr/Add a line/);
	$reader->sees('cgit: nothing', "$at/tree/none", 404);
	is($reader->visit("$at/", '-I')->{status}, 200, 'cgit: HEAD');
	git('cgit: git clone', 'clone', '-q', $server->url($at),
	    docroot() . '/c');
}

SKIP: {
	skip('there is no gitweb', 1) unless -x $gitweb;
	my $at = '/gitweb/gitweb.cgi/project.git';

	my $page = $reader->sees('gitweb: the repositories', '/gitweb/', 200,
	    qr/A project to look at/);
	for my $link (links($page, qr{static/})) {
		$reader->sees("... its $link", $link =~ m{\A/} ? $link :
		    "/gitweb/$link", 200, qr/\S/);
	}
	$page = $reader->sees('gitweb: summary', $at, 200, qr/Add a line/);
	is_deeply([follow($page, '/gitweb/gitweb.cgi')], [],
	    '... all its links lead somewhere');
	$reader->sees('... by query', '/gitweb/?p=project.git;a=summary', 200,
	    qr/Add a line/);
	$reader->sees('gitweb: log', "$at/log", 200, qr/Begin the project/);
	$page = $reader->sees('gitweb: tree', "$at/tree", 200, qr/README/);
	is_deeply([follow($page, '/gitweb/gitweb.cgi')], [],
	    '... all its links lead somewhere');
	ok($reader->visit("$at/blob_plain/HEAD:/binary")->{body} eq $binary,
	    'gitweb: bytes of all kinds');
	$reader->sees('gitweb: a file with an odd name',
	    "$at/blob/HEAD:/sub%20dir/caf%C3%A9%20%26%20more%2B.txt", 200,
	    qr/odd&nbsp;name/);
	$reader->sees('gitweb: difference', "$at/commitdiff/$commit", 200,
	    qr/second&nbsp;&lt;line&gt;&nbsp;&amp;&nbsp;more/);
	$page = $reader->sees('gitweb: snapshot', "$at/snapshot/v1.tar.gz",
	    200, qr/\A\x1f\x8b/);
	like(names($page), qr{/many/300$}m, '... has its files');
	$reader->sees('gitweb: feed', "$at/rss", 200, qr/<rss/);
	$reader->sees('gitweb: nothing', '/gitweb/?p=none.git;a=log', 404);
}

is_deeply([grep { /" 5\d\d / } $server->wait_lines(1)], [],
    'no request has failed');
$server->stop;

done_testing();
