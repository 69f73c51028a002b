#!/usr/bin/perl
# Answers of programs that pass through filters: which do, what their heads say,
# and what filters are told.
# arch: pair
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use Amped qw(content run_amped slurp write_file);
use Amped::Applications;
use Amped::Programs;
use Test::More;

my $programs = Amped::Programs->new('bin/' => '', 'run/' => '',
    'www/part.html' => 'a part', 'www/a.txt' => 'a file');
my $dir = $programs->dir;

# Filters as scripts.
sub tool { return $programs->script("bin/$_[0]", "#!/bin/sh\n$_[1]\n") }

my %tool = (upper => 'exec tr a-z A-Z', vars => 'cat > /dev/null; exec env',
    first => 'exec head -c 5', twice => 'exec sed p', last => 'exec cat',
    count => 'exec wc -c');
my $filters = join('', map { "program $_ { filter " . tool($_, $tool{$_}) .
    "; confine basic; nice 0 }\nchain $_ { filters $_ }\n" } sort keys %tool);

# A module that passes on what it is fed; "cc" makes it where that is there.
my $source = Amped::source_dir();
my $module = "$dir/bin/marks.so";
write_file("$dir/bin/marks.c", <<'END');
#include "amped-filter.h"
static const struct amped_filter_host *host;
static void *begin(const struct amped_filter_host *h) { host = h; return &host; }
static int feed(void *s, const void *b, size_t n)
{ (void)s; host->emit("<", 1); host->emit(b, n); host->emit(">", 1); return 0; }
static int end(void *s) { (void)s; host->emit(".", 1); return 0; }
static void flush(void *s) { (void)s; host->emit("|", 1); }
const struct amped_filter amped_filter = { AMPED_FILTER_VERSION, begin, feed, end, flush };
END
my $example = "$dir/bin/minify.so";

sub compile {
	my ($to, $from) = @_;

	system("cc -shared -fPIC -I'$source/helpers/filters' -o '$to' " .
	    "'$from' 2> /dev/null") == 0 or return 0;
	return chmod(0755, $to);
}
my $has_module = compile($module, "$dir/bin/marks.c") &&
    compile($example, "$source/contrib/filters/minify.c");
my $marks = $has_module ? "module $module" : 'replace a a';
my $minify = $has_module ? "module $example" : 'replace a a';
my $has_markdown = `'@{[Amped::program('amped')]}' -V` =~ /, cmark /;
my $markdown = $has_markdown ? 'markdown' : 'replace a b';
my %file = map { $_ => Amped::Applications::make($programs, $_, $_) }
    qw(fastcgi scgi);
my $scgi = Amped::Applications::place('unix', "$dir/run", 'scgi');
my $application = Amped::Applications->serve($file{scgi}, $scgi, 2);

my $server = $programs->start(program => "\tmost 8\n\thold 64K\n",
    others => $filters . <<"END",
program a-to-b { filter replace aab b; nice 0 }
program latin { filter charset utf-8 latin1; nice 0 }
program marks { filter $marks; nice 0; confine basic }
program minify { filter $minify; nice 0; confine basic }
chain minify { filters minify }
program ssi { filter ssi; result 1M; nice 0 }
program small { filter replace xxxxxxxxx z; result 16K; nice 0 }
program pages { filter $markdown; nice 0 }
chain three { filters upper twice last }
chain pieces { filters a-to-b latin }
chain marks { filters marks }
chain small { filters small }
chain ssi { filters ssi }
chain pages { filters pages }
chain short { filters twice first }
program own { fastcgi $file{fastcgi}; most 2; nice 0 }
program other { scgi $scgi }
program streamed { directory $dir/cgi; nice 0; stream on; most 4 }
END
    site => join('', map { "\tpath /$_ { run all; chain $_ }\n" }
    (sort keys %tool), qw(three pieces marks minify ssi small
    pages short)) . <<"END");
	path /html { run all; chain upper for text/html }
	path /names { run all; chain upper for play* }
	path /own { run own; chain upper }
	path /other { run other; chain upper }
	path /counted { run other; chain count }
	path /streamed { run streamed; chain upper; body 16M }
	path /less { chain small; alias $dir/www }
	path /query { run all; chain upper by query "w=1-10" }
	path /files { chain upper; alias $dir/www }
END

# What a program at that path is to do; the target.
sub play { return $programs->play($_[1]) =~ s{^/cgi}{/$_[0]}r }

sub cat { return $programs->cat($_[1]) =~ s{^/cgi}{/$_[0]}r }

my $type = 'Content-Type: text/plain';
my $text = "$type\nETag: \"x\"\nContent-Length: 7\nContent-MD5: x\n" .
    "Accept-Ranges: bytes\nLast-Modified: Sun, 06 Nov 1994 08:49:37 GMT\n" .
    "X-Own: y\n\na text\n";

# What passes, and what its head has.
my $answer = $programs->get(cat('upper', $text));
is("$answer->{status} $answer->{body} $answer->{then}", "200 A TEXT\n open",
    'an answer passes through a filter');
is($answer->{field}{$_}, undef, "... without $_") for qw(etag content-length
    content-md5 accept-ranges last-modified);
is($answer->{field}{'x-own'}, 'y', '... and with other fields');
my $head = $programs->get(cat('upper', $text), method => 'HEAD');
delete($_->{field}{date}) for $answer, $head;
delete($answer->{field}{'transfer-encoding'});
is_deeply($head->{field}, $answer->{field}, 'HEAD has the same');
is($head->{then}, 'open', '... and nothing behind it');
is($programs->get(cat('three', $text))->{body}, "A TEXT\n" x 2,
    'three filters');
is($programs->get(cat('short', $text))->{body}, 'a tex', 'one that ends early');
is($programs->get(cat('html', $text))->{field}{etag}, '"x"',
    'another type does not pass');
is($programs->get(cat('html', "Content-Type: Text/HTML; charset=utf-8\n\nx"))
    ->{body}, 'X', '... but that one');
is($programs->get(cat('names', $text))->{body}, "a text\n",
    'nor does another name');
is($programs->get(play('names', 'head(); put("x")'))->{body}, 'X',
    '... but that one');
is($programs->get(cat('upper', "Status: 404 No\n$type\n\nx"))->{body}, 'X',
    'an error page does');
is($programs->get(cat('upper', "$type\n\n"))->{body}, '', 'an empty one, too');
my $bare = $programs->get(cat('upper', $text), version => '1.0');
is("$bare->{body} $bare->{then}", "A TEXT\n closed", 'to an old client');
is($programs->get('/files/a.txt')->{body}, 'A FILE', 'as files do');
for my $line ('Status: 206 Part', 'Content-Encoding: gzip',
    'Cache-Control: private, no-transform', 'Content-Range: bytes 0-6/7') {
	my $whole = $programs->get(cat('upper', "$line\n$text"));

	is("$whole->{body} $whole->{field}{etag}", "a text\n \"x\"",
	    "$line: it stays as it is");
}
for my $status (204, 304) {
	my $none = $programs->get(cat('upper',
	    "Status: $status\nETag: \"x\"\n\n"));

	is("$none->{status} $none->{field}{etag} $none->{then}",
	    "$status \"x\" open", "$status stays as it is");
}
is($programs->get(cat('query', $text))->{body}, "a text\n",
    'a query is that of the program');
my (undef, $said) = run_amped('-f', "$server->{dir}/amped.conf", '-u',
    '/html/cat');
like($said, qr{^filters\ +upper\ for\ text/html:\ upper;
    \ an\ answer\ that\ passes\ has\ no\ tag$}mx, '-u names the filters');

# Other protocols, and a body that comes meanwhile.
my $puts = $programs->play('head(); put("fast"); finish();');
is($programs->get($puts =~ s{^/cgi/play}{/$_}r)->{body}, 'FAST', "$_ program")
    for qw(own other);
my $bytes = content('large', 3 << 20);
$answer = $programs->get(play('streamed', 'head(); my $b; put($b) ' .
    'while sysread(STDIN, $b, 65536);'), method => 'POST', body => $bytes);
ok($answer->{body} eq $bytes =~ tr/a-z/A-Z/r, 'a body that goes through')
    or diag(length($answer->{body}));

# The answer goes to the first filter without passing main, which reads what
# comes with the head.
my ($main) = $server->role('main');

sub bytes_read { return slurp("/proc/$main/io") =~ /^rchar: (\d+)/m ? $1 : 0 }

SKIP: {
	skip('what main reads is not to be seen here', 4)
	    unless eval { bytes_read() };
	for my $path (qw(count counted)) {
		my $before = bytes_read();

		$answer = $programs->get(play($path,
		    'head(); put("x" x 65536) for 1 .. 64;'));
		is($answer->{body} + 0, 4 << 20, "/$path: a large answer");
		cmp_ok(bytes_read() - $before, '<', 256 << 10,
		    '... which main does not read');
	}
}

# Texts in pieces.
my $client = $programs->ask(play('pieces', 'head(); put("aa"); ' .
    'wait_test("one"); put("b\xc3"); wait_test("two"); put("\xa9 aa");'));
$programs->let('one');
$client->fill until $client->{in} =~ /\r\nb/ || $client->{end};
$programs->let('two');
is($client->response->{body}, "b\xe9 aa", 'a text in pieces');
$answer = $programs->get(cat('pieces', "$type; charset=utf-8\n\nx"));
is($answer->{field}{'content-type'}, 'text/plain; charset=latin1',
    'another character set is told');
if ($has_module) {
	$client = $programs->ask(play('marks', 'head(); put("a"); ' .
	    'wait_test("module"); put("b");'));
	$client->fill until $client->{in} =~ /<a>\|/ || $client->{end};
	like($client->{in}, qr/<a>\|/, 'a module is fed what there is, and flushed');
	$programs->let('module');
	like($client->response->{body}, qr/^<a>\|<b>\|?\.$/,
	    '... and then the rest');
	$client = $programs->ask(play('minify', 'head(); ' .
	    'put("<p>  a<!-- <p>"); wait_test("example"); put("x -->  <b>");'));
	$client->fill until $client->{in} =~ /<p> a/ || $client->{end};
	like($client->{in}, qr/<p> a/, 'the example holds back what may change');
	$programs->let('example');
	is($client->response->{body}, '<p> a <b>', '... and no more');
}

# What filters are told, and filters that need all of it.
my %told = $programs->get(cat('vars', $text))->{body} =~ /^(\w+)=(.*)$/mg;
is($told{DOCUMENT_URI}, '/vars/cat', 'the path');
is($told{QUERY_STRING}, '', 'no query');
is($told{CONTENT_TYPE}, 'text/plain', 'the type');
is($told{CONTENT_LENGTH}, 7, 'the length');
is($told{DOCUMENT_ROOT}, $programs->www, 'the root');
is($programs->get(cat('ssi',
    "$type\n\n<!--#include virtual=\"/part.html\" -->."))->{body}, 'a part.',
    'a part of a page');
is($programs->get(cat('ssi', "$type\n\n" . 'x' x (2 << 20)))->{status}, 500,
    'a page that is too large for it');
$server->wait_line(qr{ssi\[\d+\]: it needs its whole input, .* 1048576 bytes: .*"result"});

# What is collected is limited, but not what passes.
my $many = "xxxxxxxxx\n" x 4000;
write_file("$dir/www/$_->[0].txt", $_->[1]) for ['many', $many],
    ['same', '0123456789' x 4000];
for my $target ('/less/many.txt', cat('small', "$type\n\n$many")) {
	$answer = $programs->get($target);
	is("$answer->{status} " . length($answer->{body}), '200 8000',
	    'an input that is larger than its result may be');
}
is($programs->get('/less/same.txt')->{status}, 500, '... but not the result');
$server->wait_line(qr/filter small: .*larger than 16384 bytes \(result\)/);
if ($has_markdown) {
	$answer = $programs->get(cat('pages', "$type\n\n# Head\n"));
	like($answer->{body}, qr{<h1>Head</h1>}, 'Markdown');
	is($answer->{field}{'content-type'}, 'text/html; charset=utf-8',
	    '... becomes a page');
}
$server->finish;
$application->stop;
done_testing();
