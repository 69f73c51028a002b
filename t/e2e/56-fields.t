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

my ($version) = split(/\n/, (run_amped('-V'))[1]);
my $told = Amped->start(files => { a => "a\n" }, global => 'version on');
like($version, qr/^amped /, 'the version');
for my $target ('/a', '/a', '/b') {
	is($told->get($target)->{field}{server}, $version =~ s{ }{/}r,
	    "told with $target");
}
$told->stop;
done_testing();
