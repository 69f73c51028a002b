#!/usr/bin/perl
# A walk through MediaWiki on SQLite: someone reads, logs in, writes pages,
# uploads an image; programs use its interfaces.  PHP is processes that amped
# keeps.
# arch: one: an application sees requests alone
# Debian: mediawiki php-sqlite3 php-cli php-cgi
use strict;
use warnings;

use FindBin;
use JSON::PP qw(decode_json);
use lib "$FindBin::Bin/../lib";
use Amped qw(await docroot free_port slurp write_file);
use Amped::Foreign qw(browse foreign foreign_ok needs_program);
use Amped::Visitor;
use Test::More;

alarm(20 * Amped::timeout());

my $code = '/usr/share/mediawiki';
plan(skip_all => 'there is no MediaWiki') unless -e "$code/index.php";
needs_program('php', 'php-cgi');
plan(skip_all => 'PHP has no SQLite')
    unless (foreign('php', '-m'))[1] =~ /^pdo_sqlite$/m;

my $dir = docroot('data/' => '', 'conf/' => '', 'images/' => '',
    'sessions/' => '', 'www/z' => "z\n");
my $port = free_port();
foreign_ok('the installation', 'php', "$code/maintenance/install.php",
    '--confpath', "$dir/conf", '--dbtype', 'sqlite', '--dbpath', "$dir/data",
    '--dbname', 'wiki', '--server', "http://127.0.0.1:$port",
    '--scriptpath', '/w', '--pass', 'not-to-be-guessed', 'Own wiki', 'Joe');
write_file("$dir/conf/LocalSettings.php", slurp("$dir/conf/LocalSettings.php") .
    <<"END");
\$wgEnableUploads = true;
\$wgUploadDirectory = '$dir/images';
\$wgUploadPath = '/images';
\$wgArticlePath = '/wiki/\$1';
\$wgTmpDirectory = '$dir/data';
\$wgCacheDirectory = '$dir/data';
\$wgMainCacheType = CACHE_NONE;
END
if ($> == 0) {
	system('chown', '-R', Amped::ordinary_user(), map { "$dir/$_" }
	    qw(data images sessions)) == 0 or die "chown\n";
}

my $server = Amped->start(errors => 1, global => <<"END", sites => <<"SITE");
program php {
	fastcgi /usr/bin/php-cgi -d session.save_path=$dir/sessions
	environment PHP_FCGI_MAX_REQUESTS 0
	environment MW_CONFIG_FILE $dir/conf/LocalSettings.php
	most 4
	nice 0
}
END
site default {
	listen 127.0.0.1:$port
	root $dir/www
	fallback /w/index.php
	path /w {
		alias $code
		links all
		index index.php
		run php for *.php
		body 8M
	}
	path /images { alias $dir/images; run off }
	path /w/maintenance { return 404 }
	path /w/includes { return 404 }
}
SITE
my $joe = Amped::Visitor->new($server);
my $guest = Amped::Visitor->new($server);

# Who only reads.
my $page = $guest->sees('the start leads on', '/', 200,
    qr/MediaWiki has been installed/);
is($page->{url}, '/wiki/Main_Page', '... to the main page');
for my $link (map { Amped::Visitor::plain($_) } $page->{body} =~
    /<link rel="stylesheet" href="([^"]+)"/g, $page->{body} =~
    /<script [^>]*src="([^"]+)"/g) {
	$guest->sees("$link, which it needs", $link, 200, qr/\S/);
}
$guest->sees('a page that is not there', '/wiki/Nothing', 404,
    qr/no text in this page/);
$guest->sees('... by a query', '/w/index.php?title=Main_Page&action=raw', 200,
    qr/MediaWiki has been installed/);
$guest->sees('the code', '/w/includes/Title.php', 404);

# Logs in, wrong and right.
sub login {
	my ($password) = @_;
	my $form = $joe->visit('/w/index.php?title=Special:UserLogin');

	return $joe->post('/w/index.php?title=Special:UserLogin',
	    Amped::Visitor::hidden($form, 'wpPassword'), wpName => 'Joe',
	    wpPassword => $password, wploginattempt => 'Log in');
}

Amped::Visitor::shows('a wrong password', login('wrong'), 200,
    qr/[Ii]ncorrect/);
Amped::Visitor::shows('the right one', login('not-to-be-guessed'), 200,
    qr/Special:UserLogout/);

# Writes a page; the page as it is then.
sub edit {
	my ($title, $text) = @_;
	my $at = "/w/index.php?title=$title";
	my $form = $joe->sees("the form of $title", "$at&action=edit", 200,
	    qr/name="wpTextbox1"/);

	my $saved = $joe->post("$at&action=submit",
	    Amped::Visitor::hidden($form, 'wpTextbox1'), wpTextbox1 => $text,
	    wpSummary => 'by a test', wpSave => 'Save');
	cmp_ok($saved->{redirects}, '==', 1, '... saved, and sent on');
	return $saved;
}

my $long = join('', map { "* item $_ " . 'x' x 60 . "\n" } 1 .. 2000);
my $saved = edit('First', "Some '''bold''' words, caf\xc3\xa9, [[Second]].\n" .
    "\n== Much ==\n$long");
Amped::Visitor::shows('... is the page', $saved, 200, qr{<b>bold</b>},
    qr/caf\xc3\xa9/, qr/item 2000 xxx/);
is($saved->{url}, '/wiki/First', '... at its address');
$guest->sees('others read it', '/wiki/First', 200, qr{<b>bold</b>},
    qr/item 2000 xxx/);
edit('First', "Other words.\n");
$page = $guest->sees('... and its next version', '/wiki/First', 200,
    qr/Other words/);
unlike($page->{body}, qr/item 2000/, '... without the old text');
$guest->sees('... both in its history',
    '/w/index.php?title=First&action=history', 200, qr/by a test/);

# Titles of all kinds.
for my $title ('Caf%C3%A9', 'A_%26_B', 'C%2B%2B', '100%25', 'What%3F',
    'Sub/page', 'Sub/page/two', 'Quote%22s', 'A:B', "It's") {
	my $at = edit($title, "Page of $title.\n");

	Amped::Visitor::shows("the page $title", $at, 200,
	    qr/Page of \Q$title\E\./);
	$guest->sees('... by its path', "/wiki/$title", 200,
	    qr/Page of \Q$title\E\./);
	$guest->sees('... and behind the program', "/w/index.php/$title", 200,
	    qr/Page of \Q$title\E\./);
}

# Uploads an image.
my ($logo) = grep { -e } map { "$code/resources/assets/$_" } qw(wiki.png
    change-your-logo.png mediawiki.png);
SKIP: {
	skip('there is no image to upload', 1) unless defined($logo);
	my $form = $joe->sees('the form for files',
	    '/w/index.php?title=Special:Upload', 200, qr/wpUploadFile/);
	my %hidden = Amped::Visitor::hidden($form, 'wpUploadFile');
	my $done = $joe->visit('/w/index.php?title=Special:Upload',
	    (map { ('-F', "$_=$hidden{$_}") } sort(keys(%hidden))), '-F',
	    'wpDestFile=Own.png', '-F', 'wpUploadDescription=an image', '-F',
	    'wpIgnoreWarning=1', '-F', 'wpUpload=Upload file', '-F',
	    "wpUploadFile=\@$logo;type=image/png");

	Amped::Visitor::shows('an upload', $done, 200, qr/File:Own\.png/);
	my ($link) = $done->{body} =~ m{href="(/images/[^"]*Own\.png)"};
	my $got = $guest->visit($link // '/images/none');
	ok($got->{status} == 200 && $got->{body} eq slurp($logo),
	    '... comes back the same, as a file') or
	    diag("$got->{status} $got->{url}");
	ok($got->{fields}{etag}, '... with a tag');
}

# Names that amped refuses: amped-programs(7) says so.
is($guest->visit('/wiki/.profile')->{status}, 403, 'a title with a dot first');
$guest->sees('... by a query', '/w/index.php?title=.profile', 404,
    qr/no text in this page/);
is($guest->visit('/w/rest.php/v1/page/Sub%2Fpage')->{status}, 404,
    'an escaped slash');

# Programs.
$page = $guest->visit('/w/api.php?action=query&titles=First&prop=revisions' .
    '&rvprop=content&rvslots=main&format=json&formatversion=2');
is(eval { decode_json($page->{body})->{query}{pages}[0]{revisions}[0]
    {slots}{main}{content} }, 'Other words.', 'the action interface')
    or diag($page->{body});
$page = $guest->visit('/w/rest.php/v1/page/First');
is(eval { decode_json($page->{body})->{source} }, 'Other words.',
    'the REST interface') or diag($page->{body});
$guest->sees('the changes as a feed',
    '/w/api.php?action=feedrecentchanges', 200, qr/<rss/, qr/by a test/);
$page = await('the index', sub {
	my $found = $guest->visit(
	    '/w/index.php?title=Special:Search&fulltext=1&search=other+words');

	return $found->{body} =~ /mw-search-result/ ? $found : 0;
});
Amped::Visitor::shows('a search finds the page', $page, 200, qr/First/);

SKIP: {
	my $seen = browse($server->url('/wiki/First'));

	skip('there is no chromium', 1) unless defined($seen);
	like($seen, qr/<html[^>]*class="[^"]*\bclient-js\b/,
	    'a browser runs its script');
}

is_deeply([grep { /" 5\d\d / } $server->wait_lines(1)], [],
    'no request has failed');
$server->stop;

done_testing();
