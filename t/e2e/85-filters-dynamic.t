#!/usr/bin/perl
# Answers of programs that pass through filters: which do, what their heads say,
# that bytes come while the program runs, and what comes of filters that fail.
# arch: all
use strict;
use warnings;

use Digest::SHA qw(sha256_hex);
use FindBin;
use lib "$FindBin::Bin/../lib";
use Amped qw(content);
use Amped::Applications;
use Amped::Programs;
use Test::More;

my $programs = Amped::Programs->new('bin/' => '', 'run/' => '',
    'www/part.html' => 'a part', 'www/a.txt' => 'a file');
my $dir = $programs->dir;

# Filters as scripts; those with a gate wait for the test.
sub tool { return $programs->script("bin/$_[0]", "#!/bin/sh\n$_[1]\n") }

my %tool = (
	upper => 'exec tr a-z A-Z',
	fails => 'cat > /dev/null; echo cannot >&2; exit 3',
	dies => 'kill -SEGV $$',
	breaks => 'head -c 1000; exit 3',
	endless => 'exec cat /dev/zero',
	hangs => "echo \$\$ > '%GATE/hangs.new'; mv '%GATE/hangs.new' " .
	    "'%GATE/hangs'; exec sleep 60",
	stalls => 'head -c 10; exec sleep 60',
	first => 'exec head -c 5',
	gated => "echo \$\$ > '%GATE/'\$NAME.new; mv '%GATE/'\$NAME.new " .
	    "'%GATE/'\$NAME; until [ -e '%GATE/pass' ]; do sleep 0.05; done; " .
	    'exec cat',
	vars => 'cat > /dev/null; exec env',
	twice => 'exec sed p',
	last => 'exec cat',
	leaves => 'setsid sleep 60 2> /dev/null & exec cat',
);
my $filters = join('', map { "program $_ { filter " . tool($_, $tool{$_}) .
    "; confine basic; nice 0" . ($_ eq 'hangs' || $_ eq 'stalls' ?
    '; answer 300ms' : $_ eq 'endless' ? '; result 100K' : $_ eq 'gated' ?
    '; most 1; queue 0; environment NAME gated' : '') . " }\nchain $_ { filters $_ }\n" }
    sort keys %tool);

my $has_markdown = `'@{[Amped::program('amped')]}' -V` =~ /, cmark /;
my %file = map { $_ => Amped::Applications::make($programs, $_, $_) }
    qw(fastcgi scgi);
my $scgi = Amped::Applications::place('unix', "$dir/run", 'scgi');
my $application = Amped::Applications->serve($file{scgi}, $scgi, 2);

my $server = $programs->start(program => "\tmost 8\n\thold 64K\n",
    others => $filters . <<"END",
program a-to-b { filter replace a b; nice 0 }
program latin { filter charset utf-8 latin1; nice 0 }
program ssi { filter ssi; result 1M; nice 0 }
@{[$has_markdown ? 'program pages { filter markdown; nice 0 }' : '']}
@{[$has_markdown ? 'chain pages { filters pages }' : '']}
program may {
	filter $dir/bin/gated
	environment NAME may
	most 1
	queue 0
	optional on
	confine basic
	nice 0
}
program left { filter $dir/bin/gated; environment NAME filter; confine basic }
chain left { filters left }
chain three { filters upper a-to-b last }
chain streams { filters a-to-b latin }
chain replaces { filters a-to-b }
chain passes { filters fails; onfail pass }
chain late { filters upper hangs; onfail pass }
chain ssi { filters ssi }
chain short { filters twice first }
chain may { filters may upper }
chain mays { filters may }
program own { fastcgi $file{fastcgi}; most 2; nice 0 }
program other { scgi $scgi }
program quick { directory $dir/cgi; nice 0; silence 1s; most 4 }
program streamed { directory $dir/cgi; nice 0; stream on; most 4 }
END
    site => join('', map { "\tpath /$_ { run all; chain $_ }\n" }
    (sort keys %tool), qw(three streams passes late ssi short may mays left),
    $has_markdown ? 'pages' : ()) . <<"END");
	path /html { run all; chain upper for text/html }
	path /names { run all; chain upper for play* }
	path /own { run own; chain upper }
	path /other { run other; chain upper }
	path /quick { run quick; chain upper }
	path /streamed { run streamed; chain replaces; body 16M }
	path /query { run all; chain upper by query "w=1-10" }
	path /files { chain upper; alias $dir/www }
END

# Where a program is to answer.
sub at { return $_[1] =~ s{^/cgi}{/$_[0]}r }

sub play { return at($_[0], $programs->play($_[1])) }

sub cat { return at($_[0], $programs->cat($_[1])) }

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
is($programs->get(cat('three', $text))->{body}, "A TEXT\n", 'three filters');
is($programs->get(cat('short', $text))->{body}, 'a tex', 'one that ends early');
is($programs->get(cat('html', $text))->{field}{etag}, '"x"',
    'another type does not pass');
is($programs->get(cat('html', "Content-Type: text/html; charset=utf-8\n\nx"))
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
	my $none = $programs->get(cat('upper', "Status: $status\nETag: \"x\"\n\n"));

	is("$none->{status} $none->{field}{etag} $none->{then}",
	    "$status \"x\" open", "$status stays as it is");
}
is($programs->get(cat('query', $text))->{body}, "a text\n",
    'a query is that of the program');

my (undef, $said) = Amped::run_amped('-f', "$server->{dir}/amped.conf", '-u',
    '/html/cat');
like($said, qr{^filters +upper for text/html: upper$}m, '-u names the filters');

# Other protocols, and a body that comes meanwhile.
is($programs->get($programs->play('head(); put("fast"); finish();')
    =~ s{^/cgi/play}{/own}r)->{body}, 'FAST', 'FastCGI');
is($programs->get($programs->play('head(); put("easy"); finish();')
    =~ s{^/cgi/play}{/other}r)->{body}, 'EASY', 'SCGI');
my $bytes = content('large', 3 << 20);
$answer = $programs->get(play('streamed', 'head(); my $b; put($b) ' .
    'while sysread(STDIN, $b, 65536);'), method => 'POST',
    body => $bytes);
ok($answer->{body} eq $bytes =~ tr/a/b/r, 'a body that goes through')
    or diag(length($answer->{body}));

# A large one, to a slow client, and a length that the program has named.
my $large = join('', map { "line $_ of many\n" } 1 .. 200_000);
my $target = cat('three', "$type\nContent-Length: " . length($large) .
    "\n\n$large");
$answer = $programs->get($target);
ok($answer->{body} eq uc($large), 'a large one') or diag(length($answer->{body}));
is($answer->{then}, 'open', '... in step');
my $slow = $programs->ask($target, window => 4096);
$slow->want(2000);
is(sha256_hex($slow->response->{body}), sha256_hex(uc($large)),
    '... also slowly');
is($programs->get(cat('upper', "$type\nContent-Length: 3\n\nabcdef"))->{body},
    'ABC', 'no more than its length says');

# Bytes come as they are written.
sub check_stream {
	my ($path, $first, $second) = @_;
	my $gate = "go-$path";
	my $client = $programs->ask(play($path, "head(); put(\"caf\\xc3\\xa9 a" .
	    "\"); wait_test('$gate'); put(' c');"));

	$client->fill until $client->{in} =~ /\Q$first\E/ || $client->{end};
	like($client->{in}, qr/\Q$first\E/, "$path: the begin has come");
	$programs->let($gate);
	my $answer = $client->response;
	is("$answer->{body} $answer->{short}", "$first$second 0",
	    '... and then the rest');
}
check_stream('streams', "cbf\xe9 b", ' c');

# Failures before the response has begun.
for my $case (['fails', 500], ['dies', 500], ['hangs', 504]) {
	my ($path, $status) = @$case;
	my $failed = $programs->get(cat($path, $text));

	is("$failed->{status} $failed->{then}", "$status open",
	    "/$path: $status");
}
$server->wait_line(qr/warn: fails\[\d+\]: cannot/);
$server->wait_line(qr/filter fails: \/fails\/cat: failed/);
$server->wait_line(qr/filter hangs: \/hangs\/cat: ended, since .* 300 ms/);
for my $path (qw(passes late)) {
	$answer = $programs->get(cat($path, $text));
	is("$answer->{body} $answer->{field}{etag} " .
	    "$answer->{field}{'content-length'} $answer->{then}",
	    "a text\n \"x\" 7 open", "$path: the answer as it was");
}
is($programs->get(cat('passes', "$type\n\n" . 'x' x 200_000))->{status}, 500,
    '... but for more than is held');

# Failures in the middle.
$answer = $programs->get(cat('breaks', "$type\n\n$large"));
ok($answer->{status} == 500 || $answer->{short}, 'a filter that breaks off');
for my $path (qw(endless stalls)) {
	my $client = $programs->ask(cat($path, "$type\n\n$large"));
	my $cut = $client->response;

	is($cut->{short}, 1, "/$path: the client notices");
	ok($client->closed, '... as the connection ends');
}
$server->wait_line(qr/filter endless: \/endless\/cat: it writes more than 102/);
$answer = $programs->get(cat('leaves', $text));
is("$answer->{body} $answer->{short}", "a text\n 0",
    'a process that is left does not hold it up');

# Failures of the program.
my $begun = 'head(); put("abc");';
$answer = $programs->get(play('quick', "$begun wait_test('never');"));
is($answer->{status}, 504, 'a program that pauses for too long');
$answer = $programs->get(play('upper', "$begun kill('KILL', \$\$);"));
ok($answer->{status} == 502 || $answer->{short}, 'one that dies');
$answer = $programs->get(cat('upper', "$type\nContent-Length: 9\n\nabc"));
ok($answer->{status} == 502 || $answer->{short}, 'one that writes too little');

# A client that leaves.
my $client = $programs->ask(play('left', 'head(); put("x"); ' .
    'tell_test("left"); wait_test("never");'));
my @pids = ($programs->told('left'), $programs->told('filter') =~ /(\d+)/);
$client->abort;
$programs->gone('a client that leaves ends program and filters', @pids);

# No place.
sub check_places {
	my $first = $programs->ask(cat('gated', "$type\n\nfirst"));
	my $may = $programs->ask(cat('may', "$type\n\nmay"));
	$programs->told($_) for qw(gated may);
	is($programs->get(cat('gated', "$type\n\nnext"))->{status}, 503,
	    'no more filters run than may');
	$answer = $programs->get(cat('may', "$type\n\nnext"));
	is($answer->{body}, 'NEXT', 'one that is optional is left out');
	$answer = $programs->get(cat('mays', $text));
	is("$answer->{body} $answer->{field}{etag}", "a text\n \"x\"",
	    '... or all of them');
	$programs->let('pass');
	is($first->response->{body}, 'first', 'the first one goes on');
	is($may->response->{body}, 'MAY', '... and that with an optional one');
}
check_places() if Amped::many_clients();

# What filters are told, and filters that need all of it.
my %told = $programs->get(cat('vars', $text))->{body} =~ /^(\w+)=(.*)$/mg;
is($told{DOCUMENT_URI}, '/vars/cat', 'the path');
is($told{QUERY_STRING}, '', 'no query');
is($told{CONTENT_TYPE}, 'text/plain', 'the type');
is($told{CONTENT_LENGTH}, 7, 'the length');
is($told{DOCUMENT_ROOT}, $programs->www, 'the root');
is($programs->get(cat('ssi', "$type\n\n<!--#include virtual=\"/part.html\" -->."
    ))->{body}, 'a part.', 'a part of a page');
is($programs->get(cat('ssi', "$type\n\n" . 'x' x (2 << 20)))->{status}, 500,
    'a page that is too large for it');
is($programs->get(cat('streams', "$type; charset=utf-8\n\nx"))
    ->{field}{'content-type'}, 'text/plain; charset=latin1',
    'another character set is told');
if ($has_markdown) {
	$answer = $programs->get(cat('pages', "$type\n\n# Head\n"));
	like($answer->{body}, qr{<h1>Head</h1>}, 'Markdown');
	is($answer->{field}{'content-type'}, 'text/html; charset=utf-8',
	    '... becomes a page');
}
$server->finish;
$application->stop;
done_testing();
