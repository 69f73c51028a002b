#!/usr/bin/perl
# Redirects, refusals, fallbacks and error pages of the conf.
# arch: pair
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use Amped qw(await content docroot free_port write_file);
use Test::More;

my $all = docroot(
	'www/index.html' => "home\n", 'www/404.html' => "<p>not here\n",
	'www/403.txt' => "not for you\n", 'www/new/a.txt' => "a\n",
	'www/app/index.html' => "the application\n",
	'www/app/main.js' => "main\n", 'www/app/none/file' => "x\n",
	'www/private/secret' => "secret\n", 'www/sorry.html' => "sorry\n",
	'www/loop/there' => "there\n", 'www/405.html' => "only reading\n",
	'www/large.html' => content('large', 200_000), 'outside' => "secret\n",
	'other/page.html' => "the other root\n",
);
symlink('../outside', "$all/www/out.html");
my ($port, $moved) = (free_port(), free_port());
my $server = Amped->start(listeners => 2, sites => <<"END");
site default {
	listen 127.0.0.1:$port
	root $all/www
	error 404 /404.html
	error 403 /403.txt
	error 405 /405.html
	path /old { redirect 301 /new/ }
	path /see { redirect 303 /new/a.txt }
	path /host { redirect 302 https://example.org:8443 }
	path /asked { redirect 302 https://example.org?all=1 }
	path /app { fallback /app/index.html }
	path /private { return 403 }
	path /gone { return 410; error 410 /large.html }
	path /busy { return 503; error 503 /sorry.html }
	path /loop { fallback /loop/none; error 404 /loop/none }
	path /around { fallback /back/x }
	path /back { redirect 302 /around; error 404 /around/x }
	path /bad { error 404 /out.html; fallback /out.html }
	path /other { alias $all/other; fallback /other/page.html }
	path /any { return 410; error * /sorry.html }
	path /any/class { return 503; error * 404 /404.html; error 5xx /sorry.html }
	path /self { return 404; error 404 /self }
}
site moved.example {
	listen 127.0.0.1:$moved
	redirect 308 https://example.org/
	path /.well-known { root $all/www }
	path /keep { root $all/www; error 404 /keep }
}
END

sub get {
	my ($target, %opt) = @_;

	return $server->get($target, port => $port, %opt);
}

# target, status, Location
my @redirects = (
	['/old/a.txt', 301, '/new/a.txt'], ['/old', 301, '/new/'],
	['/old/a/b/?x=1&y=%20', 301, '/new/a/b/?x=1&y=%20'],
	['/old//evil.example', 301, '/new/evil.example'],
	['/old/%2e%2e/old/%20', 301, '/new/%20'],
	['/host/a/b?c', 302, 'https://example.org:8443/a/b?c'],
	['/host', 302, 'https://example.org:8443/'],
	['/asked/a?c', 302, 'https://example.org?all=1&c'],
	['/see', 303, '/new/a.txt'], ['/see/all?q', 303, '/new/a.txt?q'],
);
for my $case (@redirects) {
	my ($target, $status, $to) = @$case;

	for my $method ('GET', 'HEAD', 'GET') {
		my $answer = get($target, method => $method);
		is($answer->{status}, $status, "$method $target");
		is($answer->{field}{location}, $to, 'where it leads');
	}
}
is(get(get('/old/a.txt')->{field}{location})->{body}, "a\n",
    'and there it is');
my $answer = $server->get('/a/b?c', port => $moved);
is($answer->{status}, 308, 'a site that has moved, without a root');
is($answer->{field}{location}, 'https://example.org/a/b?c', 'as a whole');
is($server->get('/', port => $moved)->{field}{location},
    'https://example.org/', 'its first page');
is($server->get('/.well-known/x', port => $moved)->{status}, 404,
    'but for one path');
is($server->get('/keep/x', port => $moved)->{status}, 404,
    'an error page that is none');

# target, status, body; none: the short page
my @pages = (
	['/nothing', 404, "<p>not here\n"], ['/404.html', 200, "<p>not here\n"],
	['/private/secret', 403, "not for you\n"],
	['/private/nothing', 403, "not for you\n"],
	['/.git/config', 403, "not for you\n"], ['/a%00', 404, "<p>not here\n"],
	['/gone/x', 410, content('large', 200_000)],
	['/busy', 503, "sorry\n"],
	['/any', 410, "sorry\n"], ['/any/none', 410, "sorry\n"],
	['/any/class', 503, "sorry\n"],
	['/app/', 200, "the application\n"], ['/app', 301],
	['/app/deep/link', 200, "the application\n"],
	['/app/main.js', 200, "main\n"], ['/app/none/', 200, "the application\n"],
	['/appendix', 404, "<p>not here\n"],
	['/app/../nothing', 404, "<p>not here\n"],
	['/other/page.html', 200, "the other root\n"],
	['/other/x', 200, "the other root\n"],
	['/other/../../outside', 403, "not for you\n"],
	['/loop/there', 200, "there\n"], ['/loop/x', 404], ['/loop/none', 404],
	['/around/x', 404, "<p>not here\n"], ['/back/x', 302], ['/bad/x', 404],
	['/self', 404], ['/a%', 400],
);
for my $case (@pages) {
	my ($target, $status, $body) = @$case;

	for my $time (1, 2) {
		my $answer = get($target);
		is($answer->{status}, $status, "$target, time $time");
		is($answer->{body}, $body, 'its page') if defined($body);
		like($answer->{body}, qr/<h1>$status /, 'the short page')
		    if !defined($body);
		unlike($answer->{body}, qr/^secret/m, 'nothing else');
	}
	my $answer = get($target, method => 'HEAD');
	is($answer->{status}, $status, "HEAD $target");
	is($answer->{field}{'content-length'}, length($body), 'its length')
	    if defined($body);
	is($answer->{body}, '', 'and no more');
}
is(get('/x', method => 'POST')->{body}, "only reading\n",
    'a page for a method');
is(get('/x', method => 'POST')->{field}{allow}, 'GET, HEAD, OPTIONS',
    'with what belongs to it');
ok(get('/busy')->{field}{'retry-after'}, 'a page for a busy server, too');

# Conditions: about a fallback as about its file, not about error pages.
my $page = get('/app/deep/link');
my $etag = $page->{field}{etag};
is(get('/app/another', fields => ["If-None-Match: $etag"])->{status}, 304,
    'a fallback that the client has');
is(get('/app/another', fields => ['If-Match: "x"'])->{status}, 412,
    'and one that it does not want');
$answer = get('/app/another', fields => ['Range: bytes=4-8']);
is("$answer->{status} $answer->{body}", '206 appli', 'a part of it');
$answer = get('/nothing');
ok(!exists($answer->{field}{$_}), "an error page has no $_")
    for qw(etag last-modified accept-ranges);
$etag = get('/404.html')->{field}{etag};
for my $field ("If-None-Match: $etag", 'If-None-Match: *', 'If-Match: "x"',
    'Range: bytes=0-1', 'If-Modified-Since: Fri, 01 Jan 2100 00:00:00 GMT') {
	$answer = get('/nothing', fields => [$field]);
	is("$answer->{status} $answer->{body}", "404 <p>not here\n",
	    "$field makes no difference to it");
}

# In a row on one connection.
my $client = Amped::Client->new(port => $port);
my @row = (['/nothing', 404], ['/app/x', 200], ['/old/x', 301], ['/gone', 410],
    ['/', 200], ['/private/', 403], ['/loop/x', 404], ['/new/a.txt', 200]);
$client->send(join('', map { "GET $_->[0] HTTP/1.1\r\nHost: x\r\n\r\n" } @row));
for my $case (@row) {
	is($client->response->{status}, $case->[1], "$case->[0] in a row");
}

# Pages change as files do, and come when a file goes.
write_file("$all/www/404.html", "changed, and longer\n");
await('the page to change',
    sub { get('/nothing')->{body} eq "changed, and longer\n" });
unlink("$all/www/404.html");
await('the short page', sub { get('/nothing')->{body} =~ /<h1>404/ });
unlink("$all/www/app/main.js");
my $fallback;
await('the fallback', sub {
	$fallback = get('/app/main.js');
	return $fallback->{body} eq "the application\n";
});
is($fallback->{field}{'content-type'}, 'text/html; charset=utf-8',
    'of its own type');

$server->stop;
done_testing();
