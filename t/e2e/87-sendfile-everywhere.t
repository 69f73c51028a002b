#!/usr/bin/perl
# X-Sendfile and X-Accel-Redirect in each architecture: the least of it.
# t/e2e/87-sendfile.t has all.
# arch: all
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use Amped qw(content);
use Amped::Programs;
use Test::More;

my $big = content('big', 1_000_000);
my $programs = Amped::Programs->new('files/big' => $big, 'other/s' => 's',
    'www/in/report' => 'report');
my $dir = $programs->dir;
symlink('../other/s', "$dir/files/out");
my $server = $programs->start(program => "\tsendfile $dir/files\n",
    site => "\tpath /in { internal on }\n");
my $file = $programs->cat("X-Sendfile: $dir/files/big\n\n");
my $out = $programs->cat("X-Sendfile: $dir/files/out\n\n");
my $path = $programs->cat("Content-Type: a/b\n" .
    "X-Accel-Redirect: /in/report\n\nbody");

# From a look-up, then from memory.
for my $time (qw(first second)) {
	my $answer = $programs->get($file);
	ok($answer->{status} == 200 && $answer->{body} eq $big,
	    "a file, the $time time");
	$answer = $programs->get($file, fields => ['Range: bytes=500000-9']);
	is($answer->{status}, 200, '... a range that is none');
	$answer = $programs->get($file,
	    fields => ['Range: bytes=500000-500009']);
	is("$answer->{status} $answer->{body}", '206 ' .
	    substr($big, 500_000, 10), '... a range');
	$answer = $programs->get($file, method => 'HEAD');
	is("$answer->{status} $answer->{field}{'content-length'}",
	    '200 1000000', '... HEAD');
	is($programs->get($file, fields => ["If-None-Match: " .
	    $answer->{field}{etag}])->{status}, 304, '... a condition');
	is($programs->get($out)->{status}, 404, '... a link out');
	$answer = $programs->get($path, method => 'POST', body => 'abc');
	is("$answer->{status} $answer->{body} $answer->{field}{'content-type'}",
	    '200 report a/b', '... a path');
	is($answer->{then}, 'open', '... and the connection goes on');
	is($programs->get('/in/report')->{status}, 404,
	    '... which no client may ask for');
}
$server->stop;
done_testing();
