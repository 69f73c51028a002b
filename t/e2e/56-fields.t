#!/usr/bin/perl
# Fields by type: character sets, ages, and what is safe by default.
# arch: pair
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use Amped qw(docroot run_amped);
use Test::More;

my %files = map { $_ => "$_\n" } qw(a.html a.png a.gif a.css a.json none),
    map { ("kept/$_", "own/$_", "old/$_", "bare/$_") } qw(a.html a.png);
my $server = Amped->start(files => { %files, '404.html' => "none\n" },
    site => <<'END');
	error 404 /404.html
	expires */* 10m
	expires text/html 1h
	expires image/* 30d
	path /kept { expires image/png 365d }
	path /own { header Cache-Control "max-age=5, immutable" }
	path /old { charset off type text/html iso-8859-1 }
	path /bare { nosniff off; charset off; expires */* 0s }
END

# target, Cache-Control, Content-Type, X-Content-Type-Options
my @cases = (
	['/a.html', 'max-age=3600', 'text/html; charset=utf-8', 'nosniff'],
	['/a.png', 'max-age=2592000', 'image/png', 'nosniff'],
	['/a.css', 'max-age=600', 'text/css; charset=utf-8', 'nosniff'],
	['/a.json', 'max-age=600', 'application/json', 'nosniff'],
	['/none', 'max-age=600', 'application/octet-stream', 'nosniff'],
	['/kept/a.png', 'max-age=31536000', 'image/png', 'nosniff'],
	['/kept/a.html', 'max-age=3600', 'text/html; charset=utf-8',
	    'nosniff'],
	['/own/a.html', 'max-age=5, immutable', 'text/html; charset=utf-8',
	    'nosniff'],
	['/old/a.html', 'max-age=3600', 'text/html; charset=iso-8859-1',
	    'nosniff'],
	['/bare/a.html', 'max-age=0', 'text/html', undef],
	['/bare/a.png', 'max-age=0', 'image/png', undef],
);
for my $case (@cases) {
	my ($target, @want) = @$case;
	my $answer = $server->get($target);

	is($answer->{status}, 200, $target);
	is_deeply([@{$answer->{field}}{qw(cache-control content-type
	    x-content-type-options)}], \@want, 'its fields');
	is_deeply([@{$server->get($target)->{field}}{qw(cache-control
	    content-type x-content-type-options)}], \@want, 'and again');
	$answer = $server->get($target, fields => ['Range: bytes=0-0']);
	is_deeply([$answer->{status}, @{$answer->{field}}{qw(cache-control
	    content-type x-content-type-options)}], [206, @want], 'of a part');
	$answer = $server->get($target, fields => ['If-None-Match: *']);
	is_deeply([$answer->{status}, @{$answer->{field}}{qw(cache-control
	    content-type x-content-type-options)}],
	    [304, $want[0], undef, undef], 'without a body only the age');
}
# Errors are not kept, and not guessed at; nor what was no request.
for my $case (['/nothing', 404], ['/own/nothing', 404], ['/own', 301],
    ['/.x', 403]) {
	my ($target, $status) = @$case;
	my $answer = $server->get($target);

	is($answer->{status}, $status, $target);
	is($answer->{field}{'x-content-type-options'}, 'nosniff', 'nosniff');
	ok(!exists($answer->{field}{'cache-control'}), 'no age');
}
ok(!exists($server->get('/bare')->{field}{'x-content-type-options'}),
    'nor is a redirect of a path without');
is($server->raw("nonsense\r\n\r\n")->{field}{'x-content-type-options'},
    'nosniff', 'on what is no request');
is($server->get('/a.html')->{field}{server}, 'amped', 'no version');
$server->stop;

# What is refused before its path is looked at has the path's fields and page.
$server = Amped->start(files => { 'm.html' => "not so\n", 'in/a' => "a\n" },
    site => <<'END');
	header X-Site yes always
	path /in {
		header X-In yes always
		error 405 501 /m.html
	}
END
for my $case (['POST /in/a', 405], ['DELETE /in/none', 405], ['BREW /in/a', 501],
    ['GET /in/.git/x', 403], ['GET /in/a', 413, 'Content-Length: 9999999'],
    ['GET /in/a', 417, 'Expect: wonders'], ['POST /in%2', 405, undef, 1],
    ['POST /a', 405, undef, 1]) {
	my ($line, $status, $field, $out) = @$case;
	my $answer = $server->raw("$line HTTP/1.1\r\nHost: x\r\n" .
	    ($field ? "$field\r\n" : '') . "Connection: close\r\n\r\n");

	is($answer->{status}, $status, $line);
	is($answer->{field}{$out ? 'x-site' : 'x-in'}, 'yes', 'its field');
	is($answer->{body}, "not so\n", 'its page')
	    if !$out && ($status == 405 || $status == 501);
}
$server->stop;

my ($version) = split(/\n/, (run_amped('-V'))[1]);
my $told = Amped->start(files => { a => "a\n" }, global => 'version on');
like($version, qr/^amped /, 'the version');
for my $target ('/a', '/a', '/b') {
	is($told->get($target)->{field}{server}, $version =~ s{ }{/}r,
	    "told with $target");
}
$told->stop;

# Fields on every response, and fields by the names of files.
my $more = Amped->start(files => { map { $_ => "$_\n" } qw(a.css a.txt b.css
    index.html page.html 404.html data.jsonl odd.xyz LICENSE fonts/a.woff2
    fonts/index.html own/x.css pass/x new/a) },
    global => "type .jsonl application/jsonl\ntype .xyz text/plain\n",
    site => <<'END');
	error 404 /404.html
	try .html
	header X-Plain plain
	header X-All all always
	header set X-Kept site always
	header Cache-Control no-cache
	listing html
	path /moved { redirect 301 /new/ }
	path /own { header set X-All own always; header add X-Path path always }
	path /out { header remove X-All; header X-Else else always }
	path /pass { deny all }
	path /status { status on }
	path /quiet { return 410 }
	files *.css { header X-Css 1; header set X-Plain css; expires 1h }
	files b.* { header X-B b; header set X-Kept b }
	files index.html page.html { header X-Page yes }
	files *.woff2 { header Access-Control-Allow-Origin "*"; type font/own }
	files LICENSE { type text/plain }
END

# The values of fields of the conf's names.
sub fields_of {
	my ($answer) = @_;

	return { map { $_ => $answer->{field}{$_} }
	    grep { /^x-(?!content)|^access-|^cache-/ } keys %{$answer->{field}} };
}

my %plain = ('x-plain' => 'plain', 'x-all' => 'all', 'x-kept' => 'site',
    'cache-control' => 'no-cache');
my %error = ('x-all' => 'all', 'x-kept' => 'site');
my %css = (%plain, 'x-css' => 1, 'x-plain' => 'css',
    'cache-control' => 'max-age=3600');

# target, status, fields of the conf
for my $case (
    ['/a.txt', 200, \%plain], ['/none', 404, \%error], ['/.x', 403, \%error],
    ['/fonts', 301, \%error], ['/moved/x', 301, \%error],
    ['/quiet', 410, \%error], ['/pass/x', 403, \%error],
    ['/own/none', 404, { %error, 'x-all' => 'own', 'x-path' => 'path' }],
    ['/out/none', 404, { 'x-kept' => 'site', 'x-else' => 'else' }],
    ['/new/', 200, \%plain],
    ['/a.css', 200, \%css],
    ['/b.css', 200, { %css, 'x-b' => 'b', 'x-kept' => 'b' }],
    ['/own/x.css', 200, { %css, 'x-all' => 'own', 'x-path' => 'path' }],
    ['/', 200, { %plain, 'x-page' => 'yes' }],
    ['/page', 200, { %plain, 'x-page' => 'yes' }],
    ['/fonts/a.woff2', 200, { %plain,
	'access-control-allow-origin' => '*' }]) {
	my ($target, $status, $want) = @$case;

	for my $method ('GET', 'HEAD', 'GET') {
		my $answer = $more->get($target, method => $method);

		is($answer->{status}, $status, "$method $target");
		is_deeply(fields_of($answer), $want, 'its fields');
	}
}
is_deeply(fields_of($more->get('/status?json')),
    { %error, 'cache-control' => 'no-store' }, 'of the status page');
is_deeply(fields_of($more->get('/a.txt', method => 'OPTIONS')), \%error,
    'of OPTIONS');
is_deeply(fields_of($more->get('/a.txt', method => 'POST')), \%error,
    'of a method that is not served');
is_deeply(fields_of($more->get('/a.css', fields => ['If-None-Match: *'])),
    \%css, 'of 304');
is_deeply(fields_of($more->get('/a.css', fields => ['Range: bytes=0-0'])),
    \%css, 'of 206');
is_deeply(fields_of($more->get('/a.css', fields => ['Range: bytes=99-'])),
    \%error, 'of 416');
is_deeply(fields_of($more->raw("nonsense\r\n\r\n")), {},
    'of what belongs to no site');
is($more->get($_->[0])->{field}{'content-type'}, $_->[1], "type of $_->[0]")
    for ['/data.jsonl', 'application/jsonl'],
    ['/odd.xyz', 'text/plain; charset=utf-8'], ['/fonts/a.woff2', 'font/own'],
    ['/LICENSE', 'text/plain; charset=utf-8'],
    ['/a.css', 'text/css; charset=utf-8'];
$more->stop;
done_testing();
