#!/usr/bin/perl
# Filters: which files pass through which, what clients get, and when a result
# is made anew.
# arch: all
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use Amped qw(await docroot slurp write_file);
use Amped::Coding qw(decoded);
use Test::More;
use Time::HiRes qw(time utime);

Amped::one_main();

# A filter that counts its runs, and does what the conf says.
my $all = docroot('runs/' => '', 'tools/' => '');
my $root = "$all/root";
my $runs = "$all/runs";
my $as_user = $> == 0 ? scalar(getpwnam(Amped::ordinary_user())) : $>;
chown($as_user, -1, $runs);
chmod(0755, "$all/tools");

sub write_tool {
	my ($name, $text) = @_;

	write_file("$all/tools/.new", "#!/bin/sh\n$text\n");
	chmod(0755, "$all/tools/.new");
	rename("$all/tools/.new", "$all/tools/$name") or die "rename: $!\n";
	return "$all/tools/$name";
}

sub put {
	my ($name, $bytes, $age) = @_;

	write_file("$root/$name", $bytes);
	# Old enough for a strong tag.
	utime(time() - ($age // 100), time() - ($age // 100), "$root/$name");
}

my $upper = write_tool('upper', "echo x >> $runs/upper; exec tr a-z A-Z");
my $fails = write_tool('fails', "echo x >> $runs/fails; echo 'cannot do it' " .
    ">&2; exit 3");
my $dies = write_tool('dies', 'kill -SEGV $$');
my $endless = write_tool('endless', 'exec cat /dev/zero');
my $sleeps = write_tool('sleeps', "echo x >> $runs/sleeps; exec sleep 60");
my $gate = write_tool('gate', "echo x >> $runs/gate; until [ -e $runs/open ]" .
    '; do sleep 0.05; done; exec cat');
my $vars = write_tool('vars', 'exec env');
my $differs = write_tool('differs', 'exec date +%s%N');
my $leaves = write_tool('leaves', 'setsid sleep 60 > /dev/null 2>&1 & cat');
put('a.txt', "a text\n");
put('b.html', "<p>a page</p>\n");
put('d/index.html', "an index\n");
put('c.bin', "bytes\n");
put('empty.txt', '');
put('t.html', "a text\n");
put('t.html.de', "ein Text\n");
put('large.txt', 'a line of a text' x 100_000);
put("$_.txt", "$_ text\n") for qw(one two three);

# Where its library is there.
my $binary = ($ENV{AMPED_BUILD} // Amped::source_dir()) . '/amped';
my $has_markdown = `'$binary' -V` =~ /, cmark /;
my $markdown = $has_markdown ? 'program pages { filter markdown }' :
    'program pages { filter replace a b }';
put('m.md', "# Head\n\nA *text* <script>x</script>\n");

my $server = Amped->start(root => $root, errors => 1, global => <<"END",
cache { paths 1000 revalidate 50ms negative 50ms }
program upper { filter $upper; confine basic }
program tail { filter replace PAGE "page and more" }
program fails { filter $fails; confine basic }
program dies { filter $dies }
program endless { filter $endless; result 100K }
program sleeps { filter $sleeps; answer 300ms; confine basic }
program gate { filter $gate; most 1; queue 0; optional on; confine basic }
program vars { filter $vars; environment OWN "its own" }
program differs { filter $differs }
program leaves { filter $leaves }
program head { filter /usr/bin/head -c "%{n}" }
program wait { filter $gate; most 1; queue 0; confine basic }
$markdown
chain upper { filters upper }
chain both { filters upper tail }
chain fails { filters upper fails }
chain passes { filters fails; onfail pass }
chain dies { filters dies }
chain endless { filters endless }
chain sleeps { filters sleeps }
chain gate { filters upper gate }
chain vars { filters vars }
chain differs { filters differs }
chain leaves { filters leaves }
chain head { filters head }
chain wait { filters wait }
chain pages { filters pages }
END
    site => <<"END");
	chain upper for text/plain
	chain both for *.html
	path /off { chain off; alias $root }
	path /md { chain pages for *.md; alias $root }
	path /fails { chain fails; alias $root }
	path /passes { chain passes; alias $root }
	path /dies { chain dies; alias $root }
	path /endless { chain endless; alias $root }
	path /sleeps { chain sleeps; alias $root }
	path /gate { chain gate; alias $root }
	path /wait { chain wait; alias $root }
	path /vars { chain vars by query "x=0-9 w=plain|fancy";
		alias $root }
	path /differs { chain differs; alias $root }
	path /leaves { chain leaves; alias $root }
	path /head { chain head by query "n=1-1000 how=plain|fancy"; alias $root }
	path /tongue { chain upper for *.html; languages de; alias $root }
	path /tongue/vars { chain vars; languages de; alias $root }
	path /packed { chain upper; compress gzip; alias $root }
	path /packed/head { chain head by query "n=1-9999"; compress gzip; alias $root }
END

sub get { return $server->get(@_) }

sub count {
	my ($name) = @_;

	return -e "$runs/$name" ? scalar(() = slurp("$runs/$name") =~ /x/g) :
	    0;
}

# By type, by name; an index; no other.
is(get('/a.txt')->{body}, "A TEXT\n", 'a file by its type');
is(get('/b.html')->{body}, "<P>A page and more</P>\n", 'a file by its name');
is(get('/d/')->{body}, "AN INDEX\n", 'an index');
is(get('/c.bin')->{body}, "bytes\n", 'another file is as it is');
is(get('/off/a.txt')->{body}, "a text\n", 'off is off');
is(get('/none.txt')->{status}, 404, 'what is not there');
is(get('/empty.txt')->{body}, '', 'an empty file');
ok(get('/large.txt')->{body} eq 'A LINE OF A TEXT' x 100_000, 'a large one');

SKIP: {
	skip('there is no libcmark', 2) unless $has_markdown;
	my $page = get('/md/m.md')->{body};
	like($page, qr{<title>m\.md</title>.*<h1>Head</h1>\s*<p>A <em>text</em>}s,
	    'a page of Markdown');
	unlike($page, qr{<script}, 'without the HTML in it');
}

# A result is a file: once made, with a tag, ranges, conditions.
await('settled ones', sub { get('/a.txt')->{field}{etag} =~ /^"/ });
my $before = count('upper');
my $whole = get('/a.txt');
is(get('/a.txt')->{body}, "A TEXT\n", 'again') for 1 .. 3;
my $tag = $whole->{field}{etag};
isnt($tag, get('/off/a.txt')->{field}{etag}, 'its tag is not that of the file');
is($whole->{field}{'last-modified'}, undef, 'it has no date');
my $head = get('/a.txt', method => 'HEAD');
is($head->{field}{$_}, $whole->{field}{$_}, "HEAD: $_")
    for qw(content-length etag content-type);
is(get('/a.txt', fields => ["If-None-Match: $tag"])->{status}, 304,
    'not modified');
is(get('/a.txt', fields => ["If-Match: \"x\""])->{status}, 412,
    'another tag');
my $part = get('/a.txt', fields => ['Range: bytes=2-4']);
is($part->{status}, 206, 'a range');
is($part->{body}, 'TEX', 'of the result');
is($part->{field}{'content-range'}, 'bytes 2-4/7', 'which it names');
is(get('/a.txt', fields => ['Range: bytes=7-'])->{status}, 416, 'beyond it');
is(count('upper'), $before, 'all by one run');

# Another version, another filter.
put('a.txt', "new text\n", 50);
await('the new version', sub { get('/a.txt')->{body} eq "NEW TEXT\n" });
isnt(get('/a.txt')->{field}{etag}, $tag, 'it has another tag');
write_tool('upper', "echo x >> $runs/upper; exec sed 's/^/> /'");
await('the new filter', sub { get('/a.txt')->{body} eq "> new text\n" });
pass('a filter that is replaced is run');
unlink("$root/a.txt");
await('it to go', sub { get('/a.txt')->{status} == 404 });
pass('what is gone is gone');
put('a.txt', "a text\n");
await('it to come', sub { get('/a.txt')->{body} eq "> a text\n" });

# Failures.
for my $case (['fails', 500], ['dies', 500], ['endless', 500],
    ['sleeps', 504]) {
	my ($path, $status) = @$case;
	my $answer = get("/$path/c.bin");

	is($answer->{status}, $status, "/$path: $status");
	is(get('/c.bin')->{status}, 200, 'and others are served');
}
$server->wait_line(qr/warn: fails\[\d+\]: cannot do it/);
$server->wait_line(qr/filter fails: \S+c\.bin: failed/);
$server->wait_line(qr/filter endless: \S+c\.bin: its result is larger than 102/);
$server->wait_line(qr/filter sleeps: \S+c\.bin: ended, since .* 300 ms/);
$server->wait_line(qr/500 for \/fails\/c.bin .*: a filter has failed/);
is(get('/passes/c.bin')->{body}, "bytes\n", 'pass: the file as it is');
like(get('/passes/c.bin')->{field}{'last-modified'}, qr/GMT/, 'with its date');

# Queries.
is(get('/head/a.txt')->{body}, "a text\n", 'without a query the file');
is(get('/head/a.txt?n=3')->{body}, 'a t', 'with one a result');
is(get('/head/a.txt?n=4')->{body}, 'a te', 'another');

sub tag { return get("/head/c.bin?$_[0]")->{field}{etag} =~ s{^W/}{}r }

is(tag('n=03'), tag('n=3'), 'a number is a number');
isnt(tag('n=3'), tag('n=4'), 'another number is another one');
is(tag('how=plain&n=3'), tag('n=3&how=plain'), 'in any order');
is(get("/head/a.txt?$_")->{status}, 400, "?$_ is out of bounds")
    for qw(n=0 n=1001 n=x n=-1 n= n m=1 n=1&n=2 n=1&m=1 how=other
    how=plain&how=plain n=99999999999999999999);
is(get('/head/none?n=3')->{status}, 404, 'of what is not there');
is(get('/a.txt?whatever')->{body}, "> a text\n", 'elsewhere a query is none');

# A filter that makes something else of the same file the next time: equal
# strong tags would mean equal bytes.
my $result = get('/differs/c.bin');
like($result->{field}{etag}, qr/^"/, 'a strong tag');
kill('HUP', $server->{pid});
my $next;
await('another run', sub {
	$next = get('/differs/c.bin');
	return $next->{body} ne $result->{body};
});
isnt($next->{field}{etag}, $result->{field}{etag},
    'other bytes have another tag');

# What a filter is told.
my %told = get('/vars/d/../c.bin?x=5')->{body} =~ /^(\w+)=(.*)$/mg;
is($told{QUERY_STRING}, 'x=5', 'the query');
like(get('/vars/c.bin?w=fancy&x=5')->{body}, qr/^QUERY_STRING=x=5&w=fancy$/m,
    'a word is a word');
is($told{DOCUMENT_URI}, '/vars/c.bin', 'the path');
is($told{SCRIPT_NAME}, '/vars', 'what its directory stands for');
is($told{PATH_TRANSLATED}, "$root/c.bin", 'the file');
is($told{DOCUMENT_ROOT}, $root, 'the directory');
is($told{CONTENT_LENGTH}, 6, 'its length');
is($told{OWN}, 'its own', 'a variable of the conf');
ok(!defined($told{HOME}), 'and no other of the server');
is(get('/leaves/c.bin')->{body}, "bytes\n",
    'a process that is left does not hold the result up');

# A file in a language has the chain of the file beside it.
my @german = (fields => ['Accept-Language: de']);
is(get('/tongue/t.html', @german)->{body}, "> ein Text\n", 'a language');
is(get('/tongue/t.html')->{body}, "> a text\n", '... and the file itself');
%told = get('/tongue/vars/t.html', @german)->{body} =~ /^(\w+)=(.*)$/mg;
is($told{DOCUMENT_URI}, '/tongue/vars/t.html.de', 'its path');
is($told{PATH_TRANSLATED}, "$root/t.html.de", 'its file');

# A result is compressed as a file is, and not made anew for that.
sub check_compression {
	my ($name, $bytes) = @_;

	put($name, $bytes);
	my $want = $bytes =~ s/^/> /mgr;
	for my $time (1 .. 3) {
		my $answer = get("/packed/$name",
		    fields => ['Accept-Encoding: gzip']);

		is($answer->{field}{'content-encoding'}, 'gzip',
		    "$name is compressed, $time");
		is($answer->{field}{vary}, 'Accept-Encoding', 'and varies');
		ok(decoded($answer) eq $want, 'as the filter made it');
		my $plain = get("/packed/$name");
		ok($plain->{body} eq $want, 'or is as it is');
		isnt($plain->{field}{etag}, $answer->{field}{etag},
		    'each with a tag');
	}
	put($name, "new $bytes", 20);
	await("the new $name", sub {
		decoded(get("/packed/$name", fields => ['Accept-Encoding: gzip'])) eq "> new $bytes" =~ s/\n(?=.)/\n> /gr });
	pass('of the new version');
}
check_compression('small.txt', join('', map { "line $_\n" } 1 .. 400));
check_compression('big.txt', join('', map { "line $_\n" } 1 .. 40_000));
put('noise.txt', join('', map { chr(33 + rand(90)) } 1 .. 5000));
is(get('/packed/noise.txt', fields => ['Accept-Encoding: gzip'])->{status}, 200,
    'a result that does not get smaller');
my $query = get('/packed/head/big.txt?n=5000',
    fields => ['Accept-Encoding: gzip']);
is($query->{field}{'content-encoding'}, 'gzip', 'chosen by a query');
is(length(decoded($query)), 5000, 'it is compressed as well');
await('a settled one', sub {
	get('/packed/small.txt')->{field}{etag} =~ /^"/ });
$before = count('upper');
get('/packed/small.txt', fields => ["Accept-Encoding: $_"])
    for ('gzip', 'identity') x 10;
cmp_ok(count('upper'), '<=', $before + 1, 'all by one run')
    if Amped::architecture() ne 'mp';	# where each main has its own

# Those who ask at once share one run; others go on.
sub check_sharing {
	my @clients = map { $server->connect } 1 .. 5;
	my $before = count('gate');

	$_->send("GET /wait/one.txt HTTP/1.1\r\nHost: x\r\n\r\n") for @clients;
	await('the filter', sub { count('gate') > $before });
	is(get('/c.bin')->{body}, "bytes\n", 'others are served meanwhile');
	is(get('/wait/two.txt')->{status}, 503, 'no more may run or wait');
	write_file("$runs/open", '');
	my @answers = map { $_->response('GET') } @clients;
	is(scalar(grep { $_->{body} eq "one text\n" } @answers), 5,
	    'all get the result');
	is(count('gate'), $before + 1, 'by one run');
	unlink("$runs/open");
}

sub check_optional {
	my $client = $server->connect;
	my $before = count('gate');

	$client->send("GET /gate/one.txt HTTP/1.1\r\nHost: x\r\n\r\n");
	await('the filter', sub { count('gate') > $before });
	is(get('/gate/two.txt')->{body}, "> two text\n",
	    'an optional filter is left out');
	write_file("$runs/open", '');
	is($client->response('GET')->{body}, "> one text\n", 'another waits');
}
check_sharing() if Amped::architecture() !~ /^m[pt]\z/;
check_optional() if Amped::many_clients();
$server->finish;
done_testing();
