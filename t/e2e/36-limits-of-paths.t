#!/usr/bin/perl
# Rate and pace of sites and paths.
# arch: pair
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use Amped qw(await content docroot write_file);
use MIME::Base64 qw(encode_base64);
use Test::More;
use Time::HiRes qw(time);

my $secrets = docroot();

write_file("$secrets/users", 'anna:' .
    crypt('secret', '$6$rounds=1000$saltsalt') . "\n");
my $large = content('large', 100_000);
my $root = docroot(map({ ("$_/large" => $large, "$_/a" => "a\n") }
    qw(few members free slow fast)), a => "a\n", 'busy.html' => "busy\n");
my $server = Amped->start(root => $root, sites => <<"EOT");
site default {
	listen 127.0.0.1:0
	root $root
	path /few { rate 1 burst 3; error 429 /busy.html }
	path /members { rate 1 burst 2; auth "M" $secrets/users }
	path /slow { pace 200K }
}
site other {
	listen 127.0.0.1:0
	root $root
	rate 1 burst 4
	path /free { rate 0 }
}
EOT
my @from = map { { from => "127.0.0.$_" } } 1 .. 3;

sub statuses {
	my ($n, $target, %opt) = @_;

	return join(' ', map { $server->get($target, %opt)->{status} } 1 .. $n);
}

# A second that passes meanwhile lets one more request through.
like(statuses(6, '/few/a', %{$from[0]}), qr/^200 200 200(?: 200)* 429/,
    'a few, then no more');
my $answer = await('429', sub {
	my $now = $server->get('/few/none', %{$from[0]});
	return $now->{status} == 429 ? $now : undef;
});
is($answer->{body}, "busy\n", 'the page');
like($answer->{field}{'retry-after'}, qr/^\d+\z/, 'when to try again');
is(statuses(5, '/a', %{$from[0]}), '200 200 200 200 200', 'another path');
is(statuses(3, '/few/a', %{$from[1]}), '200 200 200', 'another client');
like($server->wait_line(qr/requests a second for a path/), qr/127\.0\.0\.1/,
    'a line in the log');

# Passwords cannot be tried any number of times.
like(statuses(5, '/members/a', %{$from[2]}, fields => ['Authorization: Basic ' .
    encode_base64('anna:guess', '')]), qr/^401 401(?: 401)* 429/,
    'guesses count');

# A site's rate is one for all its paths, but for those with their own.
my @other = (host => 'other');
like(join(' ', map { $server->get($_, @other)->{status} }
    qw(/a /fast/a /a /slow/a /a /fast/a)), qr/^200 200 200 200(?: 200)? 429/,
    'one rate for the site');
is(statuses(6, '/free/a', @other), '200 200 200 200 200 200', 'but for this');

# The pace: of four files on a connection, one second's worth is free.
sub seconds_for_four {
	my ($target) = @_;
	my $client = $server->connect;
	my $began = time;

	for my $n (1 .. 4) {
		$client->send("GET $target HTTP/1.1\r\nHost: x\r\n\r\n");
		is($client->response('GET')->{body}, $large, "$target, $n");
	}
	return time - $began;
}
# 400,000 bytes less 204,800, at 204,800 a second.
cmp_ok(seconds_for_four('/slow/large'), '>', 0.9, 'takes its time');
note('another path: ', seconds_for_four('/few/../fast/large'), ' s');
$server->stop;
done_testing();
