#!/usr/bin/perl
# root DIR/%host: each host has a directory, which no other host and no forged
# one reaches; cached, watched and limited as others are.
# arch: all
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use Amped qw(await docroot run_amped slurp write_file);
use Test::More;

Amped::one_main();

my $secret = "the secret outside\n";
my @hosts = qw(a.example b.example 192.0.2.1 x-1);
my $all = docroot('secret' => $secret, 'outside/page' => $secret,
    'plain/plain/page' => "plain\n", 'alias/page' => "alias\n",
    (map { ("srv/$_/page" => "page of $_\n", "srv/$_/index.html" => "$_\n",
	"srv/$_/sub/x" => "x of $_\n", "srv/$_/404.html" => "none at $_\n",
	"srv/$_/zip" => "z" x 100, "srv/$_/zip.gz" => "zip of $_\n",
	"srv/$_/.well-known/x" => "known of $_\n", "srv/$_/.git" => $secret)
	} @hosts),
    # What no host may be.
    (map { ("srv/$_/page" => $secret) } qw(.hidden a_b a..b .well-known)),
    'srv/page' => $secret, 'srv/file.example' => $secret);
symlink('a.example', "$all/srv/www.a.example");
symlink('../outside', "$all/srv/out.example");
my $server = Amped->start(root => $all, sites => <<"EOT", global => <<'EOT');
site default *.named.example {
	listen 127.0.0.1:0
	root $all/srv/%host
	error 400 404 /404.html
	precompressed gzip
	path /status { status on }
	path /plain { root $all/plain }
	path /alias { alias $all/alias }
	path /listed { listing html }
}
site other.example {
	listen 127.0.0.1:0
	root $all/plain/plain
}
EOT
cache {
	paths 1000 negative 1h
}
EOT

sub ask { return $server->get($_[0], host => $_[1], @_[2 .. $#_]) }
sub body { return ask(@_)->{body} }

sub count {
	my ($name) = @_;
	my ($n) = body('/status?text', 'x-1') =~ /^\Q$name\E (\d+)/m;

	return $n;
}

# Twice, the second time out of the caches.
for my $time (1, 2) {
	for my $host (@hosts) {
		is(body('/page', $host), "page of $host\n", "$host, time $time");
		is(body('/', $host), "$host\n", '... its index');
		is(body('/.well-known/x', $host), "known of $host\n",
		    '... a name that may begin with a dot');
		is(body('/zip', $host, fields => ['Accept-Encoding: gzip']),
		    "zip of $host\n", '... its variant');
		my $answer = ask('/none', $host);
		is($answer->{status}, 404, '... what it has not');
		is($answer->{body}, "none at $host\n", '... its page');
		$answer = ask('/sub', $host);
		is($answer->{field}{location}, '/sub/', '... a directory');
		is(ask('/sub/../.git', $host)->{status}, 403, '... hidden');
	}
	for my $host ('A.Example', 'a.example:80', 'a.example.',
	    'A.EXAMPLE.:1234', 'www.a.example') {
		is(body('/page', $host), "page of a.example\n", $host);
	}
	is(body('http://b.example/page', 'a.example'), "page of b.example\n",
	    'the target counts, not Host');
	is(body('/plain/page', 'a.example'), "plain\n", 'another root');
	is(body('/alias/page', 'b.example'), "alias\n", 'an alias');
	is(body('/page', 'other.example'), "plain\n", 'another site');

	# Outside, by the path.
	for my $target ('/../b.example/page', '/%2e%2e/b.example/page',
	    '/../../secret', '/sub/../../b.example/page') {
		my $answer = ask($target, 'a.example');
		is($answer->{status}, 403, "$target is above the root");
	}
	is(ask('/%2e%2e%2fb.example/page', 'a.example')->{status}, 404,
	    'nor by an escaped slash');
	is(ask('/page', 'out.example')->{status}, 403, 'a link out of the root');
	is(ask('/', 'file.example')->{status}, 404, 'a file');
	is(ask('/page', 'absent.example')->{status}, 404, 'no directory');
	is(ask('/listed/', 'absent.example')->{status}, 404, '... to be listed');
}

# Hosts that are none, some of them in a request that is not valid.
for my $host ('', '.', '..', '.hidden', '.well-known', '../secret', 'a..b',
    'a_b', '/', '//', '/etc', './a.example', 'a.example/../b.example',
    'a.example/', '%2e%2e', '..%2foutside', 'a.example%00', 'a.example\\..',
    '.a.example', '..a.example', 'a.example..', '[::1]', '*', '~root', '%host',
    'a.example b.example', "a\xc3\xa9", 'x' x 254, 'x' x 5000, ':80', '.:80') {
	my $answer = ask('/page', $host);
	my $name = length($host) > 100 ? length($host) . ' bytes' : $host;

	like($answer->{status}, qr/^40[04]\z/, "forged: \"$name\"");
	unlike($answer->{body}, qr/secret|page of|none at/, '... gets nothing');
}
my $client = $server->connect;
$client->send("GET /page HTTP/1.0\r\n\r\n");
is($client->response('GET')->{status}, 404, 'no host at all');
$client = $server->connect;
$client->send("GET /page HTTP/1.1\r\nHost: a.example\r\nA B: c\r\n\r\n");
my $wrong = $client->response('GET');
is($wrong->{status}, 400, 'a request that is not valid');
unlike($wrong->{body}, qr/none at/, '... is of no host');
is(body('/plain/page', 'a_b'), "plain\n", 'where the host is of no matter');

# What changes is noticed, and is of that host alone.
sub replace {
	my ($name, $text) = @_;

	write_file("$all/srv/$name.next", $text);
	rename("$all/srv/$name.next", "$all/srv/$name") or die "rename: $!\n";
}

replace('a.example/page', "another page of a.example\n");
await('the change', sub {
	body('/page', 'a.example') eq "another page of a.example\n" });
is(body('/page', 'b.example'), "page of b.example\n", 'of one host alone');
unlink("$all/srv/b.example/page");
await('the end', sub { ask('/page', 'b.example')->{status} == 404 });
is(body('/page', 'a.example'), "another page of a.example\n", 'likewise');
rename("$all/srv/b.example", "$all/srv/c.example") or die "rename: $!\n";
await('the move', sub { body('/', 'c.example') eq "b.example\n" });
await('the absence', sub { ask('/', 'b.example')->{status} == 404 });

SKIP: {
	skip('the file system here cannot be watched', 2)
	    unless count('watches');
	is(ask('/page', 'new.example')->{status}, 404, 'a new host');
	mkdir("$all/srv/new.example") or die "mkdir: $!\n";
	write_file("$all/srv/new.example/page", "new\n");
	await('the new host, within an hour', sub {
		body('/page', 'new.example') eq "new\n" });
	pass('is there at once');
}

# A flood of names fills nothing but its share of the cache.
my $watches = count('watches');
$client = $server->connect;
for my $n (1 .. 3000) {
	$client->send("GET / HTTP/1.1\r\nHost: h$n.flood.example\r\n\r\n");
	my $status = $client->response('GET')->{status};
	is($status, 404, "flood: $n") if $status != 404;
}
cmp_ok(count('path-entries'), '<=', 1000, 'no more paths than the limit');
cmp_ok(count('watches'), '<=', $watches + 1, 'nor more watches');
is(body('/', 'a.example'), "a.example\n", 'and it serves');
$server->stop;

# The conf.
my $conf = "$all/amped.conf";

sub check {
	my ($root, $option) = @_;

	write_file($conf, ($> == 0 ? 'user ' . Amped::ordinary_user() . "\n" :
	    '') . "site default {\n\tlisten 127.0.0.1:8081\n\troot $root\n" .
	    "\terror 404 /404.html\n}\n");
	my ($status, $out, $err) = run_amped($option // '-t', '-f', $conf);
	return ($status >> 8, "$out$err");
}

my ($status, $said) = check("$all/srv/%host");
is($status, 0, '-t');
unlike($said, qr/warn/, '... has no warning');
($status, $said) = check("$all/srv/%host", '-T');
like($said, qr{^\s*root +\Q$all\E/srv/%host\s}m, '-T');
($status, $said) = check("$all/none/%host");
is($status, 78, '-t: what is in front of %host must exist');
like($said, qr{\Q$all\E/none: No such file}, '... is told');
for my $root ("$all/%host/srv", "$all/srv%host", "%host", "$all/%hosts") {
	($status, $said) = check($root);
	is($status, 78, "-t: $root");
	like($said, qr/%host can only be the last name/, '... is told');
}
check("$all/srv/%host");
($status, $said) = run_amped('-f', $conf, '-u', 'http://A.example:8081/page');
like($said, qr{^lookup +\Q$all\E/srv/a\.example/page: a file$}m, '-u');
($status, $said) = run_amped('-f', $conf, '-u', 'http://a_b:8081/page');
like($said, qr{^why +its host cannot be the name of a directory.*root }m,
    '-u: a forged host');

done_testing();
