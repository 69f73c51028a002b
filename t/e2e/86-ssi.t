#!/usr/bin/perl
# Server-side includes in a site; the same bytes as Apache's mod_include makes of
# pages that do not depend on the time, and, of the same texts, as its
# mod_ext_filter by the same command.
# arch: one: how a page is made has nothing to do with who waits for it
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use Amped qw(await docroot free_port slurp write_file);
use Amped::Client;
use Amped::Foreign qw(which_program);
use Test::More;
use Time::HiRes qw(time utime);

my $error = '[an error occurred while processing this directive]';

# Name, page, what it becomes; whether Apache makes something else of it.
my @pages = (
	['plain', 'no directive', 'no directive'],
	['comment', '<!-- a comment --> <!--x-->', '<!-- a comment --> <!--x-->'],
	['virtual', 'a<!--#include virtual="/inc/b.html" -->c', 'abc'],
	['relative', 'a<!--#include virtual="inc/b.html" -->c', 'abc'],
	['file', 'a<!--#include file="inc/b.html" -->c', 'abc'],
	['two', '<!--#include file="inc/b.html" file="inc/b.html" -->', 'bb'],
	['escaped', '<!--#include virtual="/inc/%62.html" -->', 'b'],
	['spaces', "<!--#  include   virtual = '/inc/b.html'-->", 'b', 1],
	['nested', '<!--#include virtual="/inc/nested.html" -->', '[b]'],
	['missing', 'a<!--#include virtual="/none.html" -->b', "a${error}b"],
	['hidden', '<!--#include file=".secret" -->', $error, 1],
	['hidden2', '<!--#include virtual="/inc/.secret" -->', $error, 1],
	['above', '<!--#include file="../outside.html" -->', $error],
	['above2', '<!--#include virtual="/../outside.html" -->', $error, 1],
	['absolute', '<!--#include file="/etc/passwd" -->', $error],
	['link', '<!--#include file="inc/link" -->', $error, 1],
	['directory', '<!--#include file="inc" -->', $error, 1],
	['exec', '<!--#exec cmd="id" -->', $error],
	['unknown', 'a<!--#nothing x="y" -->b', "a${error}b"],
	['unended', 'a<!--#echo var="X"', "a$error", 1],
	['set', '<!--#set var="x" value="1 2" --><!--#echo var="x" -->', '1 2'],
	['unset', '<!--#echo var="nothing" -->', '(none)'],
	['echomsg', '<!--#config echomsg="-" --><!--#echo var="nothing" -->',
	    '-'],
	['errmsg', '<!--#config errmsg="oh" --><!--#nothing -->', 'oh'],
	['entity', '<!--#set var="x" value="<a&b>" --><!--#echo var="x" -->',
	    '&lt;a&amp;b&gt;'],
	['none', '<!--#set var="x" value="<a>" -->' .
	    '<!--#echo encoding="none" var="x" -->', '<a>'],
	['url', '<!--#set var="x" value="a b" -->' .
	    '<!--#echo encoding="url" var="x" -->', 'a%20b'],
	['again', '<!--#set var="x" value="1" --><!--#set var="x" value="2" -->' .
	    '<!--#echo var="x" -->', '2'],
	['dollar', '<!--#set var="x" value="1" -->' .
	    '<!--#set var="y" value="$x${x}2" --><!--#echo var="y" -->', '112'],
	['backslash', '<!--#set var="y" value="\$x" --><!--#echo var="y" -->',
	    '$x'],
	['name', '<!--#echo var="DOCUMENT_NAME" -->', 'name.shtml'],
	['uri', '<!--#echo var="DOCUMENT_URI" -->', '/uri.shtml'],
	['size', '<!--#config sizefmt="bytes" --><!--#fsize file="inc/b.html" -->',
	    '1'],
	['time', '<!--#config timefmt="%Y" -->' .
	    '<!--#flastmod file="inc/b.html" -->', '2001'],
	['own', '<!--#include virtual="/inc/var.html" -->' .
	    '<!--#echo var="inner" -->', 'set'],
);

# Expressions: the value of "if", and whether it is true.
my @expressions = (
	['$x', 1], ['$none', 0], ['! $none', 1], ['!$x', 0], ['text', 1],
	['$x = 1', 1], ['$x == 1', 1], ['$x = 2', 0], ['$x != 2', 1],
	["'a b' = 'a b'", 1], ['a b = a b', 1], ['$x < 2', 1], ['$x >= 2', 0],
	['$x && $y', 1], ['$x && $none', 0], ['$none || $y', 1],
	['$none || $none', 0], ['($none || $x) && $y', 1],
	['$none && $x || $y', 1, 1], ['! ($x && $none)', 1],
	['abc = /b/', 1], ['abc = /^b/', 0], ['abc != /^b/', 1],
	['$y = /^[0-9]+$/', 1], ["''", 0],
);
my $n = 0;
for my $case (@expressions) {
	my ($expression, $true, $own) = @$case;

	push(@pages, ['if' . $n++, '<!--#set var="x" value="1" -->' .
	    '<!--#set var="y" value="22" --><!--#if expr="' . $expression .
	    '" -->yes<!--#else -->no<!--#endif -->', $true ? 'yes' : 'no',
	    $own]);
}
push(@pages, ['elif', '<!--#set var="x" value="b" --><!--#if expr="$x = a" -->' .
    'A<!--#elif expr="$x = b" -->B<!--#elif expr="$x = b" -->C<!--#else -->' .
    'D<!--#endif -->.', 'B.'],
    ['inner', '<!--#if expr="$none" --><!--#if expr="a" -->A<!--#else -->B' .
    '<!--#endif --><!--#echo var="none" -->C<!--#else -->D<!--#endif -->',
    'D'],
    ['quiet', '<!--#if expr="$none" --><!--#include file="none" -->' .
    '<!--#nothing --><!--#endif -->.', '.'],
    ['badif', '<!--#if expr="(a" -->A<!--#endif -->', $error, 1],
    ['loneend', '<!--#endif -->', $error, 1]);


# What Apache's list has beside these.
push(@pages,
	['fsizevirtual', '<!--#config sizefmt="bytes" -->' .
	    '<!--#fsize virtual="/inc/5000" -->', '5,000'],
	['fsizenone', '<!--#fsize file="none" -->', $error],
	['flastvirtual', '<!--#config timefmt="%d.%m.%Y" -->' .
	    '<!--#flastmod virtual="/inc/b.html" -->', '09.09.2001'],
	['flastnone', '<!--#flastmod virtual="/none" -->', $error],
	['lastmod', '<!--#config timefmt="%d.%m.%Y" -->' .
	    '<!--#echo var="LAST_MODIFIED" -->', '09.09.2001'],
	['lastmodfmt', '<!--#config timefmt="%H:%M" -->' .
	    '<!--#config timefmt="%Y" --><!--#echo var="LAST_MODIFIED" -->',
	    '2001'],
	['dategmt', '<!--#config timefmt="%Y" --><!--#echo var="DATE_GMT" -->',
	    (gmtime)[5] + 1900],
	['datelocal', '<!--#config timefmt="%Y" -->' .
	    '<!--#echo var="DATE_LOCAL" -->', (localtime)[5] + 1900],
	['zonegmt', '<!--#config timefmt="%Z" --><!--#echo var="DATE_GMT" -->',
	    'GMT'],
	['query', '[<!--#echo var="QUERY_STRING" -->]', '[]'],
	['twovars', '<!--#set var="x" value="1" --><!--#set var="y" value="2" -->' .
	    '<!--#echo var="x" var="y" -->', '12'],
	['encodings', '<!--#set var="x" value="<a b>" --><!--#echo ' .
	    'encoding="none" var="x" encoding="url" var="x" encoding="entity" ' .
	    'var="x" -->', '<a b>%3ca%20b%3e&lt;a b&gt;'],
	['setinorder', '<!--#set value="1" var="x" --><!--#echo var="x" -->',
	    '1', 1],
	['setnovalue', '<!--#set var="x" --><!--#echo var="x" -->',
	    $error . '(none)'],
	['setempty', '<!--#set var="x" value="" -->[<!--#echo var="x" -->]',
	    '[]'],
	['setself', '<!--#set var="x" value="1" -->' .
	    '<!--#set var="x" value="$x$x" --><!--#echo var="x" -->', '11'],
	['longname', '<!--#set var="' . 'n' x 100 . '" value="v" -->' .
	    '<!--#echo var="' . 'n' x 100 . '" -->', 'v'],
	['braces', '<!--#set var="x" value="1" -->' .
	    '<!--#set var="y" value="${x}y$x.${none}." -->' .
	    '<!--#echo var="y" -->', '1y1..'],
	['loneprice', '<!--#set var="y" value="5$" --><!--#echo var="y" -->',
	    '5$'],
	['single', q{<!--#set var='x' value='a "b"' -->} .
	    '<!--#echo encoding="none" var="x" -->', 'a "b"'],
	['quoted', '<!--#set var="x" value="a \"b\"" -->' .
	    '<!--#echo encoding="none" var="x" -->', 'a "b"'],
	['bare', '<!--#set var=x value=1 --><!--#echo var=x -->', '1'],
	['upper', '<!--#SET VAR="x" VALUE="1" --><!--#Echo Var="x" -->', '1'],
	['lines', "<!--#set\n\tvar=\"x\"\n\tvalue=\"1\"\n--><!--#echo\nvar=\"x\"\n-->",
	    '1'],
	['close', '<!--#set var="x" value="a" --><!--#echo var="x"-->', 'a'],
	['inside', '<!--#set var="x" value="a --> b" -->' .
	    '<!--#echo encoding="none" var="x" -->', 'a --> b'],
	['unquoted', 'a<!--#set var="x" value=1-->b --><!--#echo var="x" -->',
	    'a1--&gt;b'],
	['quotedend', '<!--#set var="x" value="-->" -->' .
	    '<!--#echo encoding="none" var="x" -->', '-->'],
	['openquote', 'a<!--#set var="x" value="1 -->b<!--#echo var="x" -->c',
	    'ac'],
	['starts', '<!-<!--<!--#set var="x" value="1" --><!<!--#echo var="x" -->',
	    '<!-<!--<!1'],
	['noattribute', '<!--#echo -->.', "$error."],
	['wrongattribute', '<!--#echo nothing="x" -->.', "$error."],
	['errmsgtwice', '<!--#config errmsg="a" --><!--#nothing -->' .
	    '<!--#config errmsg="b" --><!--#nothing -->', 'ab'],
	['errmsgempty', '<!--#config errmsg="" -->[<!--#nothing -->]', '[]'],
	['configinner', '<!--#include file="inc/config.html" -->' .
	    '<!--#nothing -->', "inner$error"],
	['configouter', '<!--#config errmsg="outer" -->' .
	    '<!--#include file="inc/wrong.html" --><!--#nothing -->',
	    "${error}outer"],
	['emptyfile', '[<!--#include file="inc/empty.html" -->]', '[]'],
	['largefile', '<!--#include file="inc/large.html" -->',
	    "a line\n" x 20_000],
	['above3', '<!--#include virtual="/inc/../inc/b.html" -->', 'b'],
	['dots', '<!--#include file="inc/./../inc/b.html" -->', 'b'],
	['subdir', '<!--#include virtual="/inc/deep/a.html" -->', '(b)'],
	['deepif', '<!--#if expr="a" --><!--#if expr="$none" -->1<!--#else -->' .
	    '<!--#if expr="b" -->2<!--#endif -->3<!--#endif -->4<!--#endif -->5',
	    '2345'],
	['ifunended', '<!--#if expr="$none" -->a', ''],
	['elsetwice', '<!--#if expr="a" -->1<!--#else -->2<!--#else -->3' .
	    '<!--#endif -->', '1'],
	['elifelse', '<!--#if expr="$none" -->1<!--#elif expr="$none" -->2' .
	    '<!--#else -->3<!--#endif -->4', '34'],
	['ifnoexpr', '<!--#if -->a<!--#endif -->', $error],
	['groups', '<!--#set var="x" value="abcd" -->' .
	    '<!--#if expr="$x = /(b)(c)/" --><!--#echo var="1" -->' .
	    '<!--#set var="y" value="$2" --><!--#echo var="y" --><!--#endif -->',
	    'bc'],
	['boundary', 'x' x 8190 . '<!--#include file="inc/b.html" -->' .
	    'x' x 65_529 . '<!--#include file="inc/b.html" -->',
	    'x' x 8190 . 'b' . 'x' x 65_529 . 'b'],
	['rawbytes', "\0\xff\r\n<!--#include file=\"inc/b.html\" -->\0",
	    "\0\xff\r\nb\0"]);
my %size = (0 => '  0 ', 1 => '  1 ', 972 => '972 ', 973 => '1.0K',
    1000 => '1.0K', 1023 => '1.0K', 1024 => '1.0K', 5000 => '4.9K',
    10_188 => '9.9K', 10_189 => ' 10K', 10_240 => ' 10K', 99_999 => ' 98K',
    1_047_527 => '1.0M', 1_048_576 => '1.0M', 10_000_000 => '9.5M');
push(@pages, map {
	["abbrev$_", '<!--#config sizefmt="abbrev" -->' .
	    "[<!--#fsize file=\"inc/$_\" -->]", "[$size{$_}]"],
	["bytes$_", '<!--#config sizefmt="bytes" -->' .
	    "<!--#fsize file=\"inc/$_\" -->", scalar(reverse(join(',',
	    unpack('(A3)*', reverse($_)))))]
} sort(keys(%size)));

# Fifty texts are also changed by a command.
my %commanded = map { $_->[0] => 1 } @pages[0 .. 49];
my $index = 'index.shtml /pages/index.shtml part';

my $all = docroot('outside.html' => 'outside');
my $root = "$all/root";
write_file("$root/inc/b.html", 'b');
utime(1_000_000_000, 1_000_000_000, "$root/inc/b.html");
write_file("$root/inc/nested.html", '[<!--#include file="b.html" -->]');
write_file("$root/inc/var.html", '<!--#set var="inner" value="set" -->');
write_file("$root/inc/.secret", 'secret');
write_file("$root/.secret", 'secret');
symlink('../../outside.html', "$root/inc/link");
write_file("$root/inc/config.html", '<!--#config errmsg="inner" --><!--#nothing -->');
write_file("$root/inc/wrong.html", '<!--#nothing -->');
write_file("$root/inc/empty.html", '');
write_file("$root/inc/large.html", "a line\n" x 20_000);
write_file("$root/inc/deep/a.html", '(<!--#include virtual="../b.html" -->)');
for my $size (keys(%size)) {
	write_file("$root/inc/$size", '');
	truncate("$root/inc/$size", $size);
}
write_file("$root/printenv.shtml", '<!--#config timefmt="%Y" -->' .
    '<!--#if expr="abc = /(b)/" --><!--#set var="x" value="<1>" -->' .
    '<!--#endif --><!--#printenv -->');
utime(1_000_000_000, 1_000_000_000, "$root/printenv.shtml");
for my $page (@pages) {
	write_file("$root/$page->[0].$_", $page->[1]) for qw(shtml txt);
	utime(1_000_000_000, 1_000_000_000, "$root/$page->[0].shtml");
}
write_file("$root/pages/index.shtml", '<!--#echo var="DOCUMENT_NAME" --> ' .
    '<!--#echo var="DOCUMENT_URI" --> <!--#include file="part" -->');
write_file("$root/pages/part", 'part');
write_file("$root/loop.shtml", '.<!--#include virtual="/loop.shtml" -->');
write_file("$root/turn/$_->[0].shtml",
    "$_->[0]<!--#include file=\"$_->[1].shtml\" -->") for ['a', 'b'],
    ['b', 'a'];

my $server = Amped->start(root => $root, errors => 1, global => <<'END',
cache { paths 1000 revalidate 50ms negative 50ms }
program ssi { filter ssi }
program upper { filter /usr/bin/tr a-z A-Z }
chain ssi { filters ssi }
chain upper { filters upper }
END
    site => "\tindex index.shtml\n\tchain ssi for *.shtml\n\tchain upper for text/plain\n" .
    "\tpath /sub { alias $root; chain ssi for *.shtml }\n" .
    "\tpath /asked { alias $root; chain ssi for *.shtml by query \"x=0-9\" }\n");

for my $page (@pages) {
	my ($name, $text, $want) = @$page;

	is($server->get("/$name.shtml")->{body}, $want, "$name: $text");
	is($server->get("/$name.txt")->{body}, uc($text), "$name by a command")
	    if $commanded{$name};
}
my %env = $server->get('/printenv.shtml')->{body} =~ /^(.*?)=(.*)$/mg;
is_deeply([@env{qw(x DOCUMENT_NAME LAST_MODIFIED QUERY_STRING)}],
    ['&lt;1&gt;', 'printenv.shtml', '2001', ''], 'printenv');
is($env{1}, undef, '... without groups');
like($env{DATE_GMT}, qr/^\d{4}$/, '... with times in their form');
is($server->get('/asked/query.shtml?x=5')->{body}, '[x=5]', 'a query');
is($server->get('/inc/nested.html')->{body},
    '[<!--#include file="b.html" -->]', 'another file is as it is');
is($server->get('/pages/')->{body}, $index, 'an index has a name');
is($server->get('/sub/file.shtml')->{body}, 'abc', 'beneath an alias');
is($server->get('/sub/virtual.shtml')->{body}, "a${error}c",
    'a path that its directory does not stand for');
like($server->get('/loop.shtml')->{body}, qr/^\.{17}\Q$error\E\z/,
    'a page within itself ends');
# Each is a file to the other, so no page waits for the other's result.
like($server->get("/turn/$_.shtml")->{body}, qr/^$_(?:[ab]){16}\Q$error\E\z/,
    "pages within each other end: $_") for qw(a b);
$server->wait_line(qr/exec is not done/);

# A page costs no more than its length, though nothing in it ends a word.
my $helper = ($ENV{AMPED_BUILD} // Amped::source_dir()) . '/amped-helper';
for my $directive ('<!--#endif-->', '<!--#x y=z-->', '<!--#=x-->') {
	write_file("$root/million", $directive x 80_000);
	my $before = (times)[2];
	is(system("'$helper' filter ssi <'$root/million' >/dev/null 2>&1"), 0,
	    "80,000 times $directive");
	cmp_ok((times)[2] - $before, '<', 1, '... in a second');
}

# A page changes with the files in it, even with those that are missing.
sub body { return $server->get('/nested.shtml')->{body} }

my $tag = $server->get('/nested.shtml')->{field}{etag};
write_file("$root/inc/b.html", 'new b');
my $new;
await('the new part', sub {
	$new = $server->get('/nested.shtml');
	return $new->{body} eq '[new b]';
});
isnt($new->{field}{etag}, $tag, 'by another tag');
unlink("$root/inc/b.html");
await('it to go', sub { body() eq "[$error]" });
write_file("$root/inc/b.html", 'b');
await('it to come', sub { body() eq '[b]' });
pass('what a page includes counts');
write_file("$root/n$_", "$_ ") for 1 .. 100;
write_file("$root/hundred.shtml", join('', map {
	"<!--#include file=\"n$_\" -->"
} 1 .. 100));
write_file("$root/many.shtml", '<!--#include file="inc/b.html" -->' x 3000);
my $many;
await('a page that is kept', sub {
	$many = $server->get('/many.shtml');
	return $many->{field}{etag} =~ /^"/;
});
is($many->{body}, 'b' x 3000, 'a file many times');
write_file("$root/inc/b.html", 'c');
await('the new part', sub {
	return $server->get('/many.shtml')->{body} eq 'c' x 3000;
});
pass('... counts');

# A page of more files than a lookup can tell of is made for each request.
is($server->get('/hundred.shtml')->{body}, join('', map { "$_ " } 1 .. 100),
    'a hundred files');
like($server->get('/hundred.shtml')->{field}{etag}, qr{^W/"}, 'a weak tag');
write_file("$root/n100", 'the last');
like($server->get('/hundred.shtml')->{body}, qr/ 99 the last\z/,
    'the last one counts at once');
write_file("$root/inc/b.html", 'b');
utime(1_000_000_000, 1_000_000_000, "$root/inc/b.html");
$server->finish;

# Apache, with the expressions that it has had for longer.
my $conf = <<'END';
%ROOTUser %USER
%ROOTGroup %GROUP
ServerName localhost
ServerRoot %DIR
PidFile %DIR/apache.pid
DefaultRuntimeDir %DIR
Mutex file:%DIR
Listen 127.0.0.1:%PORT
LoadModule mpm_event_module %MODULES/mod_mpm_event.so
LoadModule authz_core_module %MODULES/mod_authz_core.so
LoadModule dir_module %MODULES/mod_dir.so
LoadModule mime_module %MODULES/mod_mime.so
LoadModule include_module %MODULES/mod_include.so
LoadModule ext_filter_module %MODULES/mod_ext_filter.so
StartServers 1
ErrorLog %DIR/log
DocumentRoot %WWW
TypesConfig /etc/mime.types
ExtFilterDefine upper mode=output cmd="/usr/bin/tr a-z A-Z"
<Directory %WWW>
	Require all granted
	DirectoryIndex index.shtml
	Options +Includes
	SSILegacyExprParser on
	AddType text/html .shtml
	AddOutputFilter INCLUDES .shtml .html
	AddOutputFilter upper .txt
</Directory>
END
my $pid;

sub start_apache {
	my ($apache, $modules) = @_;
	my $dir = docroot(log => '');
	my $user = Amped::ordinary_user();
	my $port = free_port();
	my %value = (PORT => $port, DIR => $dir, WWW => $root, USER => $user,
	    GROUP => scalar(getgrgid((getpwnam($user))[3])),
	    MODULES => $modules, ROOT => $> == 0 ? '' : '#');

	write_file("$dir/conf", $conf =~
	    s/%(PORT|DIR|WWW|USER|GROUP|MODULES|ROOT)/$value{$1}/gr);
	$pid = Amped::spawn([$apache, '-DFOREGROUND', '-f', "$dir/conf"],
	    '/dev/null', "$dir/log");
	await("Apache to listen: see $dir/log", sub {
		die slurp("$dir/log") if waitpid($pid, 1) > 0;
		return IO::Socket::INET->new(PeerAddr => '127.0.0.1',
		    PeerPort => $port);
	});
	return $port;
}

END {
	local $?;

	kill('TERM', $pid) if $pid;
	waitpid($pid, 0) if $pid;
}

SKIP: {
	my $modules = '/usr/lib/apache2/modules';
	local $ENV{PATH} = "$ENV{PATH}:/usr/sbin";
	skip('there is no Apache with mod_include', 1)
	    unless which_program('apache2') && -e "$modules/mod_include.so";
	my $port = start_apache('apache2', $modules);
	my $ask = sub {
		my ($name) = @_;
		my $client = Amped::Client->new(port => $port, relayed => 1);

		$client->send("GET /$name HTTP/1.1\r\nHost: localhost\r\n" .
		    "Connection: close\r\n\r\n");
		return $client->response('GET')->{body};
	};
	is($ask->('pages/'), $index, 'Apache agrees: an index');
	for my $page (@pages) {
		my ($name, $text, $want, $own) = @$page;

		is($ask->("$name.shtml"), $want, "Apache agrees: $name")
		    unless $own;
		is($ask->("$name.txt"), uc($text),
		    "Apache agrees: $name by a command")
		    if $commanded{$name};
	}
}
done_testing();
