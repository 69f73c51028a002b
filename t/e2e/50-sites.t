#!/usr/bin/perl
# Sites by listener and by Host, path blocks, includes.
# arch: pair
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use Amped qw(docroot free_port write_file);
use Test::More;

my @words = qw(one two three four);
my $all = docroot(map { ("$_/who" => "$_\n", "$_/assets/a.css" => "a\n",
    "$_/assets/deep/b.css" => "b\n", "$_/assetsnot/c.css" => "c\n",
    "$_/assets/start.html" => "start\n", "$_/bare/d.css" => "d\n") } @words);
my ($first, $second) = (free_port(), free_port());
write_file("$all/sites/3.conf", <<"END");
site three.example *.example {
	listen 127.0.0.1:$second
	root $all/three
}
END
write_file("$all/sites/4.conf", <<"END");
site four.example 127.0.0.1 {
	listen 127.0.0.1:$second
	root $all/four
}
END
write_file("$all/sites/not-this", "nonsense\n");
my $server = Amped->start(listeners => 2, sites => <<"END");
site one.example www.One.example {
	listen 127.0.0.1:$first
	root $all/one
	header X-Site one
	path /assets {
		header Cache-Control "max-age=31536000, immutable"
		index start.html
	}
	path /bare {
		header remove X-Site
	}
	path /assets/deep {
		header X-Deep yes
		header set x-site deep
	}
}
site two.example {
	listen 127.0.0.1:$first
	listen 127.0.0.1:$second
	root $all/two
}
include $all/sites/*.conf
END

# Port, Host, who answers.
my @hosts = (
	[$first, 'one.example', 'one'], [$first, 'www.one.example', 'one'],
	[$first, 'ONE.EXAMPLE', 'one'], [$first, "one.example:$first", 'one'],
	[$first, 'one.example.', 'one'], [$first, 'two.example', 'two'],
	[$first, 'two.example:9', 'two'], [$first, 'unknown', 'one'],
	[$first, 'three.example', 'one'], [$first, 'xone.example', 'one'],
	[$second, 'two.example', 'two'], [$second, 'three.example', 'three'],
	[$second, 'four.example', 'four'], [$second, '127.0.0.1', 'four'],
	[$second, "127.0.0.1:$second", 'four'],
	[$second, 'one.example', 'three'], [$second, 'unknown', 'two'],
	[$second, 'a.b.Example:1', 'three'], [$second, 'example', 'two'],
);
for my $case (@hosts) {
	my ($port, $host, $who) = @$case;

	for my $time (1, 2) {
		my $answer = $server->get('/who', port => $port,
		    host => $host);
		is($answer->{body}, "$who\n", "$host is $who, time $time");
	}
}
is($server->get('http://two.example/who', port => $first,
    host => 'one.example')->{body}, "two\n", 'the target counts, not Host');
my $client = Amped::Client->new(port => $first);
$client->send("GET /who HTTP/1.0\r\n\r\n");
is($client->response->{body}, "one\n", 'without Host the first site');
# One connection, several sites.
$client = Amped::Client->new(port => $second);
for my $who (qw(two three four three two)) {
	$client->send("GET /who HTTP/1.1\r\nHost: $who.example\r\n\r\n");
	is($client->response->{body}, "$who\n", "$who on one connection");
}

# Fields of path blocks: whole segments, the longest wins, lists add up.
my @fields = (
	['/who', 'one', undef, undef],
	['/assets/a.css', 'one', 'max-age=31536000, immutable', undef],
	['/assets/', 'one', 'max-age=31536000, immutable', undef],
	['/assetsnot/c.css', 'one', undef, undef],
	['/who/../assets/a.css', 'one', 'max-age=31536000, immutable', undef],
	['/%61ssets/a.css', 'one', 'max-age=31536000, immutable', undef],
	['//assets//a.css', 'one', 'max-age=31536000, immutable', undef],
	['/assets/../who', 'one', undef, undef],
);
for my $case (@fields) {
	my ($target, @wanted) = @$case;
	my $answer = $server->get($target, port => $first,
	    host => 'one.example');

	is($answer->{status}, 200, $target);
	is_deeply([@{$answer->{field}}{qw(x-site cache-control x-deep)}],
	    \@wanted, 'its fields');
}
my $answer = $server->get('/assets/deep/b.css', port => $first,
    host => 'one.example');
is($answer->{field}{'x-deep'}, 'yes', 'the longest path');
is($answer->{field}{'x-site'}, 'deep', 'in place of the site\'s');
$answer = $server->get('/bare/d.css', port => $first, host => 'one.example');
is($answer->{status}, 200, 'a path without fields');
ok(!exists($answer->{field}{'x-site'}), 'not even the site\'s');
$answer = $server->get('/assets/a.css', port => $first,
    host => 'one.example', fields => ['If-None-Match: *']);
is($answer->{status}, 304, 'not modified');
is($answer->{field}{'cache-control'}, 'max-age=31536000, immutable',
    'with the field too');
$answer = $server->get('/assets/a.css', port => $first,
    host => 'two.example');
ok(!exists($answer->{field}{'x-site'}), 'another site has none of them');

$server->stop;
done_testing();
