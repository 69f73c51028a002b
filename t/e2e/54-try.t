#!/usr/bin/perl
# Names that are tried with a suffix: /about is about.html, with all that goes
# for that file.
# arch: pair
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use Amped qw(await content docroot run_amped slurp write_file);
use Test::More;

Amped::one_main();

my $about = content('about', 40_000);
my $root = docroot(
	'index.html' => "home\n", 'about.html' => $about,
	'about.html.gz' => "zipped\n", 'plain.txt' => "plain\n",
	'plain.txt.html' => "never\n", 'old.htm' => "old\n",
	'both/index.html' => "directory\n", 'both.html' => "page\n",
	'dir/index.html' => "directory\n", 'dir/in.html' => "within\n",
	'secret.html' => "secret\n", 'shut/page.html' => "shut\n",
	'off/page.html' => "off\n", 'app/index.html' => "application\n",
	'app/real.html' => "real\n", 'text/page.txt' => "text\n",
	'packed/page.html' => "line\n" x 1000, 'a.b.html' => "dots\n");
my $site = <<'END';
	try .html .htm
	precompressed gzip
	files secret.html { deny all }
	path /shut/page.html { deny all }
	path /off { try off }
	path /app { fallback /app/index.html }
	path /text { try .txt }
	path /packed { compress on }
END
my $server = Amped->start(root => $root, site => $site,
    global => "cache { paths revalidate 0s negative 0s }\n");

# target, status, body
my @cases = (
	['/about', 200, $about], ['/about.html', 200, $about],
	['/about?x=1', 200, $about], ['/%61bout', 200, $about],
	['/plain.txt', 200, "plain\n"], ['/old', 200, "old\n"],
	['/both', 200, "page\n"], ['/both/', 200, "directory\n"],
	['/dir', 301], ['/dir/', 200, "directory\n"],
	['/dir/in', 200, "within\n"], ['/dir/in/', 404], ['/', 200, "home\n"],
	['/none', 404], ['/about/x', 404], ['/.html', 403], ['/a.b', 200, "dots\n"],
	['/secret', 403], ['/secret.html', 403], ['/shut/page', 403],
	['/off/page', 404], ['/off/page.html', 200, "off\n"],
	['/app/real', 200, "real\n"], ['/app/none', 200, "application\n"],
	['/text/page', 200, "text\n"], ['/' . 'x' x 252, 404],
);
for my $case (@cases) {
	my ($target, $status, $body) = @$case;
	my $answer = $server->get($target);

	is($answer->{status}, $status, "GET $target");
	is($answer->{body}, $body, 'its body') if defined $body;
}

# All that goes for the file goes for the name.
my $answer = $server->get('/about');
my $file = $server->get('/about.html');
is($answer->{field}{$_}, $file->{field}{$_}, "the same \u$_")
    for qw(etag last-modified content-type content-length vary);
is($answer->{field}{'content-type'}, 'text/html; charset=utf-8',
    'the type is that of the suffix');
is($server->get('/text/page')->{field}{'content-type'},
    'text/plain; charset=utf-8', 'so is that of another');
is($server->get('/about', fields =>
    ["If-None-Match: $answer->{field}{etag}"])->{status}, 304, 'a condition');
$answer = $server->get('/about', fields => ['Range: bytes=10-19']);
is($answer->{status}, 206, 'a range');
is($answer->{body}, substr($about, 10, 10), 'its bytes');
$answer = $server->get('/about', method => 'HEAD');
is($answer->{field}{'content-length'}, length($about), 'HEAD');
$answer = $server->get('/about', fields => ['Accept-Encoding: gzip']);
is($answer->{body}, "zipped\n", 'a sibling of the file');
is($answer->{field}{'content-encoding'}, 'gzip', 'its coding');
is($answer->{field}{'content-type'}, 'text/html; charset=utf-8', 'its type');
$answer = $server->get('/packed/page', fields => ['Accept-Encoding: gzip']);
is($answer->{field}{'content-encoding'}, 'gzip', 'a variant that is made');
is($server->get('/packed/page')->{body}, "line\n" x 1000, 'and the file');

# What comes and goes.
sub becomes {
	my ($target, $want, $what) = @_;

	await($what, sub { $server->get($target)->{body} eq $want });
	pass($what);
}
write_file("$root/about.html", "new\n");
becomes('/about', "new\n", 'the file changes');
write_file("$root/about", "itself\n");
becomes('/about', "itself\n", 'a file of the very name appears');
unlink("$root/about");
becomes('/about', "new\n", 'and goes');
rename("$root/old.htm", "$root/old.html");
becomes('/old', "old\n", 'another suffix');
unlink("$root/old.html");
await('it is gone', sub { $server->get('/old')->{status} == 404 });
$server->stop;

# The same at once, where directories are watched.
$server = Amped->start(root => $root, site => $site .
    "\tpath /status { status on }\n", global => "cache { watches 1000\n" .
    "paths 1000 revalidate 1h wait 10s stale 2h negative 1h }\n");
$server->get('/about');
SKIP: {
	skip('the file system here cannot be watched', 4) unless
	    $server->get('/status?text')->{body} =~ /^watches [1-9]/m;
	write_file("$root/about.html", "newer\n");
	becomes('/about', "newer\n", 'watched: the file changes');
	write_file("$root/about", "itself\n");
	becomes('/about', "itself\n", 'watched: a file of the very name');
	unlink("$root/about");
	becomes('/about', "newer\n", 'watched: it goes');
	is($server->get('/late')->{status}, 404, 'watched: not there');
	write_file("$root/late.html", "late\n");
	becomes('/late', "late\n", 'watched: there');
	is($server->get('/about', fields => ['Accept-Encoding: gzip'])->{body},
	    "newer\n", 'watched: the sibling is older');
	utime(time + 9, time + 9, "$root/about.html.gz");
	await('watched: the sibling is newer', sub {
		$server->get('/about', fields =>
		    ['Accept-Encoding: gzip'])->{body} eq "zipped\n" });
}
$server->stop;

# What amped -u says.
my $conf = "$root/../amped-$$.conf";
write_file($conf, ($> == 0 ? 'user ' . Amped::ordinary_user() . "\n" : '') .
    "site default {\n\tlisten 127.0.0.1:8081\n\troot $root\n$site}\n");
my %said = (
	'/about' => "lookup    $root/about.html: a file",
	'/none' => "lookup    $root/none: is not there; nor is there one with " .
	    '.html, .htm',
	'/dir' => "lookup    $root/dir: a directory; nor is there one with " .
	    '.html, .htm',
	'/off/page' => "lookup    $root/off/page: is not there",
);
for my $url (sort keys %said) {
	my ($status, $out) = run_amped('-u', $url, '-f', $conf);

	like($out, qr/^\Q$said{$url}\E(?:;.*)?$/m, "amped -u $url");
}
unlink($conf);

done_testing();
