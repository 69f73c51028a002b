#!/usr/bin/perl
# ampedctl preload and find: patterns, directories, lists and logs; how many
# files, bytes and failures there were; and what is wrong with all of these.
# arch: pair
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use Amped qw(await content docroot write_file);
use Test::More;

# Each main of several has caches of its own.
Amped::one_main();

my %files = ('index.html' => "index\n", 'page.html' => "page\n",
    'img/a.png' => 'a' x 100, 'img/b.png' => 'b' x 200,
    'img/c.gif' => 'c' x 300, 'img/deep/d.png' => 'd' x 400,
    'img/deep/x y*[1].png' => 'e' x 500, '.hidden/a.png' => 'h',
    'usual/a@2x+(b),c.png' => 'u',
    'img/.h.png' => 'h', 'closed/a.png' => 'f',
    'cgi/run.cgi' => '#!/bin/sh',
    'docs/index.html' => "docs\n", 'docs/one.html' => "one\n");
my $root = docroot(%files);
my $elsewhere = docroot('z.png' => 'z' x 50, 'sub/y.png' => 'y' x 60);
my $place = docroot();
my $control = "$place/control";

symlink('.', "$root/img/loop") or die "loop: $!\n";
symlink('/etc', "$root/img/etc") or die "etc: $!\n";
mkdir("$root/empty") or die "empty: $!\n";

sub ctl {
	my (@words) = @_;
	my ($status, $out, $err) = Amped::run_command(undef,
	    Amped::copy_for_all('ampedctl'), '-s', $control, @words);

	return [$status >> 8, $out, $err];
}

sub is_ctl {
	my ($words, $status, $out, $err, $name) = @_;

	is_deeply(ctl(@$words), [$status, $out, $err], $name // "@$words");
}

sub list_of { return join('', map { "$_\n" } @_) }

my $server = Amped->start(root => $root, global => "control $control\n" .
    "program cgi {\n\tcommand /bin/cat\n}\n",
    log => "\tformat own \"%s|%m|%U\"\n" .
    "\taccess $place/access.log own\n\terror stderr info\n",
    site => "\tlinks beneath\n\tpath /closed {\n\t\tdeny all\n\t}\n" .
    "\tpath /there {\n\t\talias $elsewhere\n\t}\n" .
    "\tpath /cgi { run cgi for *.cgi }\n" .
    "\tpath /away {\n\t\tredirect 301 /page.html\n\t}\n" .
    "\tpath /refused {\n\t\treturn 403\n\t}\n");
await('the socket', sub { -S $control });

# What patterns stand for: the upper directories come first.
for my $case (
	['/img/*', qw(a.png b.png c.gif deep/d.png deep/x%20y%2A%5B1%5D.png)],
	['/img/*.png', qw(a.png b.png deep/d.png deep/x%20y%2A%5B1%5D.png)],
	['/img/deep/x%20*', 'deep/x%20y%2A%5B1%5D.png'],
	['/img/deep/x*[1]*', 'deep/x%20y%2A%5B1%5D.png'],
	['/img/a*', 'a.png'], ['/img/%61*', 'a.png'], ['/img/*/d*', 'deep/d.png'],
	['/*.html', '/index.html', '/page.html', '/docs/index.html',
	    '/docs/one.html'],
	['/there/*', '/there/z.png', '/there/sub/y.png'],
	['/closed/*', '/closed/a.png'],
	['/usual/*', '/usual/a@2x+(b),c.png'],	# as browsers spell it
	['/do*', '/docs/index.html', '/docs/one.html']) {
	my ($pattern, @names) = @$case;

	is_ctl(['find', $pattern], 0,
	    list_of(map { m{^/} ? $_ : "/img/$_" } @names), '');
}
is_ctl(['find', $_], 66, '', "ampedctl: $_: there is no such file\n")
    for qw(/none/* /none* /*.nothing /empty/* /cgi/* /away/* /refused/*
    /img/[a]* /page.html/*);
for my $pattern (qw(/img/ /img x* * /*?x /%zz* /../* /a%00* /.hidden/*), '', '/a *') {
	my $answer = ctl('find', $pattern);

	is($answer->[0], 64, "$pattern: no pattern");
	like($answer->[2], qr/\Aampedctl: \Q$pattern\E: \S.*\n\z/,
	    '... and why not');
}

# The walk refuses nobody.
unlike($server->errors, qr{ for /(?:img|docs)/ }, 'no refusal is logged');

# Patterns and directories.
is_ctl(['preload', '/img/*.png'], 0, "4 files, 1200 bytes, 0 failures\n", '');
is_ctl(['preload', '/docs/'], 0, "3 files, 14 bytes, 0 failures\n", '');
is_ctl(['preload', '/*'], 0, "11 files, 1522 bytes, 0 failures\n", '');
is_ctl(['preload', '/page.html'], 0,
    "/page.html: 5 bytes\n1 file, 5 bytes, 0 failures\n", '');
is_ctl(['preload', '/none*', '/page.html', 'x*', '/there/*'], 66,
    "3 files, 115 bytes, 2 failures\n",
    "ampedctl: /none*: there is no such file\n" .
    "ampedctl: x*: a URL begins with http:// or, without a host, with /\n");
is_ctl(['preload', '/cgi/run.cgi'], 66, "0 files, 0 bytes, 1 failure\n",
    "ampedctl: /cgi/run.cgi: 404, There is no page at this address.\n");
my $answer = ctl('preload', '/empty/');
is($answer->[0], 66, 'an empty directory has no index');
is($answer->[1], "0 files, 0 bytes, 1 failure\n", '... and nothing beneath');

# Lists.
write_file("$place/list", "/page.html\n# a comment\n\n/img/a.png\r\n/none\n" .
    "/img/*\nx\n/a\x01b\n/" . 'x' x 20000 . "\n/" . 'y' x 200000 .
    "\n/img/b.png");
is_ctl(['preload', '-i', "$place/list"], 66,
    "3 files, 305 bytes, 6 failures\n", join('', map { "ampedctl: $_\n" }
    "$place/list, line 8: a control byte stands in the path",
    "$place/list, line 9: the line is too long",
    "$place/list, line 10: the line is too long",
    '/none: 404, there is no such file', '/img/*: 404, there is no such file',
    'x: a URL begins with http:// or, without a host, with /'));
write_file("$place/many", "/page.html\n" x 450);
is_ctl(['-i', "$place/many", 'preload', '/docs/one.html'], 0,
    "451 files, 2254 bytes, 0 failures\n", '', 'many, and a path');
my ($status, $out) = Amped::run_command(undef, 'sh', '-c',
    'printf "/page.html\n" | "$0" -s "$1" preload -i -',
    Amped::copy_for_all('ampedctl'), $control);
is_deeply([$status, $out], [0, "1 file, 5 bytes, 0 failures\n"],
    'standard input');
write_file("$place/empty", '');
is_ctl(['preload', '-i', "$place/empty"], 0,
    "0 files, 0 bytes, 0 failures\n", '');
for my $case (["$place/nothing", 'No such file or directory'],
    [$place, 'Is a directory']) {
	my ($file, $why) = @$case;

	is_ctl(['preload', @$_, '-i', $file], 66,
	    "0 files, 0 bytes, 1 failure\n", "ampedctl: $file: $why\n")
	    for [], ['-n', 5];
}
my $random = 1;
write_file("$place/bytes", join('', map { chr($random = ($random * 1103515245 +
    12345) % (1 << 31) >> 16 & 255) } 1 .. 30000));
for my $words ([], ['-n', 5]) {
	$answer = ctl('preload', @$words, '-i', "$place/bytes");
	like($answer->[1], qr/^0 files, 0 bytes, \d+ failures?\n\z/,
	    "bytes: @$words");
}
is((ctl(@$_))->[0], 64, "@$_") for ['preload'], [qw(preload -n 5)],
    [qw(preload -n 5 /x)], [qw(preload -n 0 -i x)], [qw(preload -n x -i x)],
    [qw(preload -i)], [qw(-i x purge /x)], [qw(-n 5 status)], [qw(find)],
    [qw(find /a* /b*)];
is_ctl([qw(-n x -i x preload)], 64, '', "ampedctl: the value of -n is a number " .
    "from 1; ampedctl -h lists the options\n");
is_ctl([qw(preload -n 5)], 64, '', "ampedctl: -n needs an access log: -i names " .
    "it; ampedctl -h lists the options\n");
is_ctl([qw(-i x purge /x)], 64, '', "ampedctl: -i and -n are for the command " .
    "preload; ampedctl -h lists the options\n");
is_ctl(['preload'], 64, '',
    "usage: ampedctl preload [[-n number] -i file] [path ...]\n");

# The log of this server, by its own format.
for my $name (('page.html') x 3, ('img/a.png') x 2, 'img/b.png', 'none',
    'none') {
	$server->get("/$name?x");
}
$server->get('/img/c.gif', method => 'HEAD') for 1 .. 4;
await('lines', sub { -e "$place/access.log" &&
    (() = Amped::slurp("$place/access.log") =~ /\n/g) == 12 });
my @hottest = ('-f', "$server->{dir}/amped.conf", 'preload', '-i',
    "$place/access.log", '-n');
is_ctl([@hottest, 1], 0, "1 file, 5 bytes, 0 failures\n", '');
is_ctl([@hottest, 2], 0, "2 files, 105 bytes, 0 failures\n", '');
is_ctl([@hottest, 1000], 0, "3 files, 305 bytes, 0 failures\n", '');
like(ctl('-f', "$place/no.conf", @hottest[2 .. $#hottest], 1)->[2],
    qr{^ampedctl: the conf \Q$place\E/no\.conf cannot be read, so its}m,
    'a conf that is not there');
open(my $log, '>>', "$place/access.log") or die "access.log: $!\n";
print $log "no line\n", 'x' x 100000, "\n", "200|GET|/gone\n" x 9,
    '200|GET|/' . 'x' x 20000 . "\n";
close($log) or die "access.log: $!\n";
is_ctl([@hottest, 2], 66, "1 file, 5 bytes, 1 failure\n",
    "ampedctl: $place/access.log: not counted are lines that are too long: " .
    "1\nampedctl: $place/access.log: not counted are lines that have no " .
    "format of the conf, and none that amped has built in: 1\n" .
    "ampedctl: /gone: 404, there is no such file\n");

$answer = ctl(@hottest, 1000);
like($answer->[2], qr{^ampedctl: /x{59} \.\.\.: the path is too long\n}m,
    'a path that is too long fails');
is($answer->[1], "3 files, 305 bytes, 2 failures\n", '... alone');

# More files than a pattern may stand for.
mkdir("$root/many") or die "many: $!\n";
write_file("$root/many/$_", '') for 1 .. 10_005;
$answer = ctl('find', '/many/*');
is($answer->[0], 0, 'very many');
my $rest = $answer->[1] =~ s{^/many/\d+\n}{}mgr;
is($answer->[1] =~ tr/\n//, 10_001, '... are cut off');
is($rest, "# there are more files: these are the first 10000\n",
    '... which is said');
is($server->get('/page.html')->{body}, "page\n", 'clients are served');
$server->stop;

done_testing();
