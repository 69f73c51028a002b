#!/usr/bin/perl
# What starting and serving need beside a conf without errors: -t looks at it as
# those who will need it, and says which statement is in vain.
# arch: one: no architecture has a part in it
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use Amped qw(docroot run_amped write_file);
use Test::More;

my $user = $> == 0 ? Amped::ordinary_user() : getpwuid($>);
my $sha = crypt('secret', '$5$salt');
my $dir = docroot('www/404.html' => 'x', 'www/there.html' => 'x',
    'www/secret.html' => 'x', 'www/pages/' => '', 'www/a b.html' => 'x',
    'mine/' => '', 'shut/' => '', 'file' => 'x', 'good' => "joe:$sha\n",
    'old' => "joe:\$apr1\$x\$y\nann:{SHA}abc\n", 'rubbish' => "no user\n",
    'both' => "# two\njoe:\$apr1\$x\$y\nann:$sha\nmax:{SHA}x\n",
    'plain' => "joe:$sha\nann:secret\n", 'des' => "joe:ab.cdefghijkl\n", 'closed' => "joe:$sha\n");
chmod(0, "$dir/www/secret.html", "$dir/closed") == 2 or die;
chmod(0500, "$dir/shut") or die;
my $root = $> == 0;
chown((getpwnam($user))[2, 3], "$dir/mine") == 1 or die if $root;
my $conf = "$dir/amped.conf";

# The lines that -t prints for lines of the site and of the top, and its status.
sub check {
	my ($site, $top) = @_;

	write_file($conf, ($root ? "user $user\n" : "# nobody\n") . ($top // '') .
	    "\nsite default {\n\tlisten 127.0.0.1:0\n\troot $dir/www\n$site\n}\n");
	my ($status, $out, $err) = run_amped('-t', '-f', $conf);
	is($out, '', 'nothing on standard output');
	return ($status >> 8, map { s/\A\S+ \S+\[\d+\] //r } split(/\n/, $err));
}

# One pattern of several.
sub pattern {
	my $all = join('', @_);

	return qr/$all/;
}

my $fine = "amped: $conf is fine: 1 site on 127.0.0.1:0";
my $sockets = join('', map { ", unix:$dir/mine/$_" } qw(a b c));
is_deeply([check('')], [0, $fine], 'a site');
is_deeply([check("auth X $dir/good; error 404 /404.html\n" .
    "fallback /there.html; error 403 \"/a b.html\"\n" .
    "files *.a { auth Y $dir/good }\npath /p { fallback off }\n" .
    "path /q { require user joe }\nlisten unix:$dir/mine/a mode 0600 " .
    "unix:$dir/mine/b mode 0600\nlisten unix:$dir/mine/c",
    "pid $dir/mine/pid\ncontrol $dir/mine/control\n" .
    "cache { variants $dir/mine; hotlist $dir/mine/hot }\n")], [0, $fine . $sockets],
    'all is there');

# Fields of which a client can add one.
like((check('', "trust 127.0.0.1 ::1\n"))[1], pattern(qr{\Awarn: trust },
    qr{127\.0\.0\.1 ::1 \(\Q$conf\E:\d+\): with "fields any"}),
    'trust without fields');
is_deeply([check('', "trust 127.0.0.1 fields x-forwarded\n")], [0, $fine],
    'trust with fields');

# What serving needs: warnings, each with its statement.
my %vain = (
	"error 404 /none.html" =>
	    "error 404 /none.html (%:6): the page cannot be had: " .
	    "$dir/www/none.html: is not there",
	"fallback /none.html" =>
	    "fallback /none.html (%:6): the page cannot be had: " .
	    "$dir/www/none.html: is not there",
	"path /p { error 404 /none.html }" =>
	    "error 404 /none.html (%:6): the page cannot be had: " .
	    "$dir/www/none.html: is not there",
	"error 404 /none.html; fallback /there.html" =>
	    "error 404 /none.html (%:6): the page cannot be had: " .
	    "$dir/www/none.html: is not there",
	"error 404 /pages" =>
	    "error 404 /pages (%:6): the page cannot be had: " .
	    "$dir/www/pages: a directory",
	"error 404 /moved; path /moved { redirect 301 /x }" =>
	    "error 404 /moved (%:6): the page cannot be had: " .
	    "the conf redirects it: redirect 301 /x (%:6)",
	"auth X $dir/old" =>
	    "auth X $dir/old (%:6): the password of joe in line 1 (\$apr1\$) " .
	    'and 1 more cannot be verified, so nobody is let in: ' .
	    'make them anew with htpasswd -B',
	"auth X $dir/both" =>
	    "auth X $dir/both (%:6): the password of joe in line 2 (\$apr1\$) " .
	    'and 1 more cannot be verified, so these users are not let in: ' .
	    'make them anew with htpasswd -B',
	"auth X $dir/plain" =>
	    "auth X $dir/plain (%:6): the password of ann in line 2 (plain " .
	    'text) cannot be verified, so this user is not let in: ' .
	    'make it anew with htpasswd -B',
	"files *.a { auth X $dir/des }" =>
	    "files *.a (%:6): auth $dir/des: the password of joe in line 1 " .
	    '(DES) cannot be verified, so nobody is let in: ' .
	    'make it anew with htpasswd -B',
	"auth X $dir/good; require user joe ann" =>
	    "require user joe ann (%:6): there is no user ann in $dir/good",
	"auth X $dir/good\npath /p { require user staff }" =>
	    "require user staff (%:7): there is no user staff in $dir/good",
	"files *.a { auth X $dir/good; require user ann }" =>
	    "files *.a (%:6): there is no user ann in $dir/good",
	"listen unix:$dir/mine/a unix:$dir/mine/b mode 0600" =>
	    "listen unix:$dir/mine/a mode 0660 (%:6): unix:$dir/mine/b differs: " .
	    'mode, owner and group belong to the socket before them alone',
	"path /p { auth X $dir/rubbish }" =>
	    "auth X $dir/rubbish (%:6): the file has no line of a user and a " .
	    'password, so nobody is let in: make one with htpasswd -B',
	"files *.a *.b { auth X $dir/rubbish }" =>
	    "files *.a *.b (%:6): auth $dir/rubbish: the file has no line of a " .
	    'user and a password, so nobody is let in: make one with ' .
	    'htpasswd -B',
	"auth X $dir/rubbish; path /p { error 404 /404.html }" =>
	    "auth X $dir/rubbish (%:6): the file has no line of a user and a " .
	    'password, so nobody is let in: make one with htpasswd -B',
);
for my $site (sort keys %vain) {
	my ($status, @lines) = check($site);

	is($status, 0, $site);
	is_deeply(\@lines, ["warn: $vain{$site}" =~ s/%/$conf/gr, $fine .
	    join('', map { ", $_" } $site =~ /(unix:\S+)/g)], 'says so');
}

# A program may stand in for paths that do not exist, and for no error.
write_file("$dir/www/a.sh", "secret\n");
my $program = "program sh { command /bin/sh }\n";
is_deeply([check('run sh for *.sh; fallback /a.sh', $program)], [0, $fine],
    'a program as fallback');
is_deeply([check('run sh for *.sh; error 404 /a.sh', $program)], [0,
    "warn: error 404 /a.sh ($conf:7): the page cannot be had: it is a " .
    'program, and only a file can be such a page', $fine],
    'a program as the page of an error');

# Programs: sockets that are not there, or are none; an interpreter without a
# script; an owner of a program that has another user.
for my $case (
	["fastcgi unix:$dir/none", qr{\Awarn: program p: unix:\Q$dir\E/none: } .
	    'requests get 502 until its server is started: No such file'],
	["scgi unix:$dir/good", qr{\Awarn: program p: unix:\Q$dir\E/good is no} .
	    ' socket: requests get 502'],
	['command /bin/sh', '\Awarn: program p: /bin/sh is given no script, and ' .
	    'executes the bodies of requests: write "run p for"'],
) {
	my ($what, $want) = @$case;
	my ($status, @lines) = check('run p', "program p { $what }\n");

	is($status, 0, $what);
	like($lines[0], qr/$want/, 'says so');
	is(@lines, 2, 'and nothing else');
}
is_deeply([check('run p', "program p { command /bin/sh $dir/www/a.sh }\n")],
    [0, $fine], 'an interpreter with a script');
is_deeply([check('run p', "program p { fastcgi 127.0.0.1:9 }\n")],
    [0, $fine], 'a server by its address');
SKIP: {
	skip('root becomes another user', 11) unless $root;
	write_file($conf, "user root\nsite default {\n\tlisten 127.0.0.1:0\n" .
	    "\troot $dir/www\n}\n");
	my ($code, undef, $said) = run_amped('-t', '-f', $conf);
	is($code, 0, 'user root');
	like($said, qr{warn: user root \(\Q$conf\E:1\): all processes run as root},
	    'gets a warning');
	my ($status, @lines) = check("auth X $dir/closed");
	is($status, 0, 'a password file for root alone');
	is_deeply(\@lines, ["warn: auth X $dir/closed ($conf:6): the file " .
	    'cannot be read, and requests get 500: Permission denied; check ' .
	    'owner and mode, of the directories above it too', $fine], 'says so') or
	    diag(@lines);
	($status, @lines) = check('error 403 /secret.html');
	is(@lines, 2, 'a page for root alone');
	like($lines[0], pattern(qr{: the page cannot be had: \Q$dir\E/www/secret\.html: is },
	    qr{a file with mode 0000.*; \Q$user\E may not read it}), 'says so');
	($status, @lines) = check('', "cache { variants $dir/shut }\n");
	is(@lines, 2, 'variants');
	like($lines[0], pattern(qr{\Qwarn: cache { variants $dir/shut }\E: this directory },
	    qr{cannot be written to, and compressed files are not kept: Perm}),
	    'says so');
	for my $at (["$dir/shut", 'Perm'], ["$dir/none", 'No such']) {
		($status, @lines) = check('',
		    "cache { hotlist $at->[0]/hot }\n");
		is($status, 0, "a hot list in $at->[0]");
		like($lines[0], pattern(
		    qr{\Qwarn: cache { hotlist $at->[0]/hot }\E: no file can },
		    qr{be made in \Q$at->[0]\E, .*: $at->[1]}), 'says so');
	}
	($status, @lines) = check('', "cache { results $dir/shut }\n");
	is(@lines, 2, 'results');
	like($lines[0], pattern(qr{\Qwarn: cache { results $dir/shut }\E: this directory },
	    qr{is not one that belongs to user \d+ and .* are not kept: Perm}),
	    'says so');
	($status, @lines) = check('', "cache { results /tmp }\n");
	is(@lines, 2, 'a directory of all');
}

# What the start needs: errors, but for a directory that may come.
for my $what (qw(pid control)) {
	my ($status, @lines) = check('', "$what $dir/none/file\n");
	is($status, 0, "$what in a directory that is not there");
	is_deeply(\@lines, ["warn: $what $dir/none/file ($conf:2): there is no " .
	    "directory $dir/none: if it is not there at the start, amped " .
	    'cannot start', $fine], 'says so');
	($status, @lines) = check('', "$what $dir/file/file\n");
	is($status, 78, "$what in a file");
	like($lines[0], pattern(qr{error: $what \Q$dir\E/file/file \(.*:2\): cannot make },
	    qr{files in \Q$dir\E/file: Not a directory}), 'says so');
	is(@lines, 1, 'and not that the conf is fine');
	($status, @lines) = check('', "$what $dir/mine\n");
	is($status, 78, "$what is a directory");
	like($lines[0], pattern(qr{error: $what \Q$dir\E/mine \(.*:2\): the file is there, },
	    qr{and is something else}), 'says so');
}

# Several sites and addresses.
write_file($conf, ($root ? "user $user\n" : '') .
    "site a.example {\n\tlisten *:8080 127.0.0.1:8081\n\troot $dir/www\n}\n" .
    "site b.example {\n\tlisten [::1]:8082 *:8080\n\troot $dir/www\n}\n");
is((run_amped('-t', '-f', $conf))[2],
    "amped: $conf is fine: 2 sites on *:8080, 127.0.0.1:8081, [::1]:8082\n",
    'what is in it');
my ($status, undef, $err) = run_amped('-t', '-l', '127.0.0.1:8080', "$dir/www");
is($err, "amped: the command line is fine: 1 site on 127.0.0.1:8080\n",
    'of the command line');

# A start says the same of what serving needs, and so does a reload.
my $server = Amped->start(root => "$dir/www",
    site => "\terror 404 /none.html\n");
$server->wait_line(qr{ warn: error 404 /none\.html \(.*\): the page cannot be } .
    qr{had: \Q$dir\E/www/none\.html: is not there});
write_file("$dir/www/none.html", "there now\n");
write_file("$server->{dir}/amped.conf", $server->conf_text =~
    s{error 404 /none}{error 403 /nothing}r =~ s/127\.0\.0\.1:0/127.0.0.1:0/r);
kill('HUP', $server->{pid});
$server->wait_line(qr{ warn: error 403 /nothing\.html .* cannot be had});
$server->wait_line(qr/has been read again/);
$server->stop;

done_testing();
