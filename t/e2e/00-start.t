#!/usr/bin/perl
# The server starts, serves a file and stops; nothing is left behind.
# arch: all
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use Amped qw(docroot slurp);
use Test::More;

my $page = "<p>It works.</p>\n";
my $server = Amped->start(files => { 'index.html' => $page });
my $answer = $server->get('/');

is($answer->{status}, 200, 'a page is there');
is($answer->{body}, $page, 'it is the page');
ok($answer->{closed}, 'the connection is closed as asked');
ok(!$answer->{short}, 'and not before the end');
$server->stop;

# Without a conf: amped DIR.
$server = Amped->start(plain => 1, files => { 'index.html' => $page });
like(slurp($server->{out}), qr{http://127\.0\.0\.1:\d+/$}m,
    'it prints its address');
is($server->get('/index.html')->{body}, $page, 'a directory is served');
$server->stop;

# The same by ^C.
$server = Amped->start(plain => 1, files => { 'index.html' => $page });
is($server->get('/')->{status}, 200, 'served again');
$server->stop('INT');

done_testing();
