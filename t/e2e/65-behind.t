#!/usr/bin/perl
# Behind proxies of other projects: the log, allow and deny, and redirects are
# about the client, and no client can pass for another one.
# arch: all
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use Amped;
use Amped::Foreign qw(which_program);
use Amped::Proxy;
use Test::More;

my $server = Amped->start(
    global => "trust 127.0.0.1\n",
    site => "\tpath /closed { deny 127.0.0.66 127.0.0.1 }\n",
    files => { page => 'page', 'sub/index.html' => 'sub',
	'closed/page' => 'closed' });

# The client that the log has of the request for a path.
sub client_of {
	my ($target) = @_;
	my ($client) = $server->wait_line(qr/"GET \Q$target\E /,
	    $server->{access}) =~ /^(\S+)/;

	return $client;
}

my $n = 0;

for my $program (qw(haproxy nginx caddy)) {
	SKIP: {
		skip("there is no $program", 1) unless which_program($program);
		my $proxy = Amped::Proxy->start($program,
		    to => '127.0.0.1:' . $server->port);
		my $answer = $proxy->get('/page?' . ++$n, from => '127.0.0.5');
		is($answer->{body}, 'page', "$program: a page");
		is(client_of("/page?$n"), '127.0.0.5', '... for its client');

		$answer = $proxy->get('/sub', from => '127.0.0.5',
		    host => 'public.example');
		is($answer->{field}{location}, 'http://public.example/sub/',
		    '... a redirect to the host of its request');

		is($proxy->get('/closed/page', from => $_->[0])->{status},
		    $_->[1], "... $_->[0] gets $_->[1]")
		    for ['127.0.0.5', 200], ['127.0.0.66', 403];

		# What clients write themselves.
		$proxy->get('/page?' . ++$n, from => '127.0.0.5',
		    fields => ['X-Forwarded-For: 127.0.0.9']);
		is(client_of("/page?$n"), '127.0.0.5',
		    '... a forged X-Forwarded-For is not believed');
		$answer = $proxy->get('/closed/page', from => '127.0.0.66',
		    fields => ['X-Forwarded-For: 127.0.0.5, 127.0.0.5']);
		is($answer->{status}, 403, '... nor opens what is closed');
		$answer = $proxy->get('/closed/page', from => '127.0.0.66',
		    fields => ['Forwarded: for=127.0.0.5']);
		is($answer->{status}, 400, '... nor does a forged Forwarded');
		$answer = $proxy->get('/sub', from => '127.0.0.5',
		    host => 'public.example', fields => [
		    'X-Forwarded-Proto: https', 'X-Forwarded-Host: evil']);
		is($answer->{field}{location}, 'http://public.example/sub/',
		    '... nor a scheme or host');
		$proxy->stop;
	}
}

# Without a proxy nothing is believed, and nothing is refused.
$server->get('/page?direct', from => '127.0.0.5', fields => [
    'X-Forwarded-For: 127.0.0.9', 'Forwarded: for=127.0.0.9']);
is(client_of('/page?direct'), '127.0.0.5', 'a client names nobody');
is($server->get('/sub', from => '127.0.0.5', fields => [
    'X-Forwarded-Host: evil'])->{field}{location}, '/sub/', '... no host');
is($server->get('/closed/page', from => '127.0.0.66', fields => [
    'X-Forwarded-For: 127.0.0.5'])->{status}, 403, '... is not let in');

# Forwarded alone.
$server->get('/page?forwarded', fields => [
    'Forwarded: for=127.0.0.9, for=127.0.0.5']);
is(client_of('/page?forwarded'), '127.0.0.5', 'by the field Forwarded');

$server->stop;
done_testing();
