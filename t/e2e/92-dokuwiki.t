#!/usr/bin/perl
# A walk through DokuWiki: someone reads, logs in, writes a page, uploads an
# image, searches.  PHP is processes that amped keeps.
# arch: one: an application sees requests alone
# Debian: dokuwiki php-cgi
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use Amped qw(await content docroot slurp write_file);
use Amped::Foreign qw(browse needs_program);
use Amped::Visitor;
use Test::More;

my $wiki = '/usr/share/dokuwiki';
plan(skip_all => 'there is no DokuWiki') unless -e "$wiki/doku.php";
needs_program('php-cgi');

# A wiki of its own; its code is the package's.
my @kinds = qw(attic cache index locks log media media_attic media_meta meta
    pages tmp);
my $dir = docroot((map { ("data/$_/" => '') } @kinds), 'sessions/' => '',
    'www/z' => "z\n", 'conf/' => '', 'php-cgi' => '');
write_file("$dir/conf/local.php", "<?php\n\$conf['savedir'] = '$dir/data';\n" .
    "\$conf['useacl'] = 1;\n\$conf['title'] = 'Own wiki';\n" .
    "\$conf['userewrite'] = 2;\n\$conf['useslash'] = 1;\n");
write_file("$dir/conf/acl.auth.php", "* \@ALL 1\n* \@user 16\n");
write_file("$dir/conf/users.auth.php", 'joe:' . crypt('secret',
    '$6$abcdefgh$') . ":Joe:joe\@localhost:user\n");
write_file("$dir/site.php", "<?php\ndefine('DOKU_CONF', '$dir/conf/');\n");
if ($> == 0) {
	system('chown', '-R', Amped::ordinary_user(), "$dir/data",
	    "$dir/sessions", "$dir/conf") == 0 or die "chown\n";
}
chmod(0644, "$dir/conf/users.auth.php");

my $server = Amped->start(root => "$dir/www", errors => 1, global => <<"END",
program php {
	fastcgi /usr/bin/php-cgi -d auto_prepend_file=$dir/site.php -d session.save_path=$dir/sessions
	environment PHP_FCGI_MAX_REQUESTS 0
	most 4
	nice 0
}
END
    site => <<"END");
	path /dokuwiki {
		alias $wiki
		index doku.php
		links all
		run php for *.php
		body 8M
	}
	path /dokuwiki/inc { return 404 }
	path /dokuwiki/bin { return 404 }
	path /dokuwiki/vendor { return 404 }
END
my $joe = Amped::Visitor->new($server);
my $guest = Amped::Visitor->new($server);

# Who only reads.
my $page = $guest->sees('the start page', '/dokuwiki/', 200, qr/Own wiki/,
    qr/This topic does not exist yet/);
is($page->{type}, 'text/html; charset=utf-8', '... is HTML');
for my $link ($page->{body} =~
    /<link rel="stylesheet" href="([^"]+)"/, $page->{body} =~
    /<script src="([^"]*(?:jquery|js)\.php[^"]*)"/g) {
	$guest->sees("$link, which it needs", Amped::Visitor::plain($link),
	    200, qr/\S/);
}
$guest->sees('an image of the template',
    '/dokuwiki/lib/tpl/dokuwiki/images/logo.png', 200, qr/\A\x89PNG/);
$guest->sees('the code', '/dokuwiki/inc/init.php', 404);
$guest->sees('what guests may not', '/dokuwiki/doku.php/start?do=edit', 200,
    qr/Permission Denied/);

# Logs in, wrong and right.
$page = $joe->post('/dokuwiki/doku.php/start', do => 'login', u => 'joe',
    p => 'wrong');
Amped::Visitor::shows('a wrong password', $page, 403, qr/wrong/i);
$page = $joe->post('/dokuwiki/doku.php/start', do => 'login', u => 'joe',
    p => 'secret');
Amped::Visitor::shows('the right password', $page, 200, qr/do=logout/);

# Writes a page: edit, look, save.
sub edit {
	my ($id, $text) = @_;
	my $path = "/dokuwiki/doku.php/$id";
	my $form = $joe->sees("the form of $id", "$path?do=edit", 200,
	    qr/name="wikitext"/);
	my %hidden = Amped::Visitor::hidden($form, 'wikitext');

	my $look = $joe->post($path, %hidden, wikitext => $text,
	    'do[preview]' => 'Preview');
	Amped::Visitor::shows('... its preview', $look, 200, qr/Preview/);
	my $saved = $joe->post($path,
	    Amped::Visitor::hidden($look, 'wikitext'), wikitext => $text,
	    summary => 'by a test', 'do[save]' => 'Save');
	cmp_ok($saved->{redirects}, '==', 1, '... saved, and sent on');
	return $saved;
}

my $long = join('', map { "  * item $_ " . 'x' x 60 . "\n" } 1 .. 2000);
my $saved = edit('notes/first', "====== First ======\n\nSome **bold** words, " .
    "caf\xc3\xa9, and [[second]].\n\n{{:notes:dot.png}}\n\n$long");
Amped::Visitor::shows('... is the page', $saved, 200,
    qr{<strong>bold</strong>}, qr/caf\xc3\xa9/, qr/item 2000 xxx/);
like($saved->{url}, qr{/dokuwiki/doku\.php/notes/first\z},
    '... at its address');
$guest->sees('others read it', '/dokuwiki/doku.php/notes/first', 200,
    qr{<strong>bold</strong>}, qr/item 2000 xxx/);
# A version is called by the second in which it was saved.
my $second = time;
await('another second', sub { time > $second });
edit('notes/first', "====== First ======\n\nOther words.\n");
$page = $guest->sees('... and its next version',
    '/dokuwiki/doku.php/notes/first', 200, qr/Other words/);
unlike($page->{body}, qr/item 2000/, '... without the old text');
$page = $guest->sees('... both in its history',
    '/dokuwiki/doku.php/notes/first?do=revisions', 200, qr/by a test/);
my ($rev) = $page->{body} =~ /[?&](?:amp;)?rev=(\d+)/;
$guest->sees('... which shows the old one',
    "/dokuwiki/doku.php/notes/first?rev=$rev", 200, qr/item 2000/) if $rev;
ok($rev, '... has an old one');
$guest->sees('... and its source',
    '/dokuwiki/doku.php/notes/first?do=export_raw', 200,
    qr/\A====== First ======\n\nOther words\.\n\z/);

# Uploads a file, as the media manager's script does.
my $image = slurp("$wiki/lib/tpl/dokuwiki/images/logo.png") . content('more',
    1_500_000);
write_file("$dir/dot.png", $image);
$page = $joe->sees('the media manager',
    '/dokuwiki/lib/exe/mediamanager.php?ns=notes', 200, qr/sectok/);
my %hidden = Amped::Visitor::hidden($page, 'sectok');
$page = $joe->visit('/dokuwiki/lib/exe/ajax.php', '-F', 'call=mediaupload',
    '-F', "sectok=$hidden{sectok}", '-F', 'ns=notes', '-F', 'mediaid=dot.png',
    '-F', "qqfile=\@$dir/dot.png;type=image/png");
Amped::Visitor::shows('an upload of 1.5 MB', $page, 200,
    qr/"success":true/);
$page = $guest->visit('/dokuwiki/lib/exe/fetch.php/notes/dot.png');
ok($page->{status} == 200 && $page->{body} eq $image,
    '... comes back the same') or diag($page->{status});
my $tag = $page->{fields}{etag};
ok($tag, '... with a tag');
is($guest->visit('/dokuwiki/lib/exe/fetch.php/notes/dot.png', '-H',
    "If-None-Match: $tag")->{status}, 304, '... which is asked for once');
$page = $guest->visit('/dokuwiki/lib/exe/fetch.php/notes/dot.png', '-r',
    '1000-1999');
ok($page->{status} == 206 && $page->{body} eq substr($image, 1000, 1000),
    '... also in part') or diag($page->{status});
$page = $guest->visit('/dokuwiki/lib/exe/ajax.php', '-F', 'call=mediaupload',
    '-F', 'ns=notes', '-F', 'mediaid=evil.png',
    '-F', "qqfile=\@$dir/dot.png;type=image/png");
unlike($page->{body}, qr/"success":true/, 'a guest uploads nothing');

# The image at the end of each page, which works on when its client has gone.
$guest->sees('work beside a page',
    '/dokuwiki/lib/exe/taskrunner.php?id=notes:first', 200, qr/\AGIF89a/);
$page = Amped::await('the index', sub {
	my $found = $guest->visit('/dokuwiki/doku.php/start?do=search&q=words');

	return $found->{body} =~ /notes:first|notes\/first/ ? $found : 0;
});
Amped::Visitor::shows('a search finds the page', $page, 200, qr/First/);
$guest->sees('the changes as a feed', '/dokuwiki/feed.php', 200,
    qr/<rdf:RDF|<rss/, qr{notes[:/]first});

SKIP: {
	my $seen = browse($server->url('/dokuwiki/doku.php/notes/first'));

	skip('there is no chromium', 1) unless defined($seen);
	like($seen, qr/<html[^>]*\bclass="[^"]*\bjs\b/,
	    'a browser runs its script');
}

unlike($server->errors, qr/PHP (?:Fatal|Parse) error/,
    'no error of PHP is in the log');
is_deeply([grep { /" 5\d\d / } $server->wait_lines(1)], [],
    'no request has failed');
$server->stop;

done_testing();
