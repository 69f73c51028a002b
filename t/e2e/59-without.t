#!/usr/bin/perl
# Every combination of the caches and the alignment that cache { off } can switch
# off: slower, and right.  70-edges.t has the edges.
# arch: pair
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use Amped qw(await content docroot write_file);
use Test::More;

Amped::one_main();

my @savings = qw(pathname header chunk alignment);
my $then = 1_000_000_000;
my $date = 'Sun, 09 Sep 2001 01:46:40 GMT';
my %size = (empty => 0, small => 500, odd => 5001, mapped => 100_000,
    large => 700_000);
my %content = map { $_ => content($_, $size{$_}) } keys %size;
my $text = join('', map { "line $_ of a text\n" } 1 .. 1000);
my $root = docroot(%content, 'text.txt' => $text, 'd/index.html' => 'index',
    'list/one' => '1', 'list/two' => '22', 'beside.css' => $text,
    'beside.css.br' => 'brotli, as it were');

utime($then, $then, map { "$root/$_" } keys(%size), 'text.txt',
    'd/index.html', 'beside.css', 'beside.css.br') == 9 or die;

sub inflated {
	my ($bytes) = @_;
	my $dir = docroot(x => $bytes);

	return scalar(`gzip -dc < '$dir/x' 2>&1`);
}

sub started {
	my ($age, %off) = @_;
	my $off = join(' ', sort keys %off);

	return Amped->start(root => $root, global => "cache {\n" .
	    ($off ? "\toff $off\n" : '') .
	    "\tpaths 1000 revalidate $age stale 10m\n}\n",
	    site => "\tlisting json\n\tcompress on\n\tprecompressed br\n" .
	    "\terror 404 /d/index.html\n\tpath /old { redirect 301 /new/ }\n");
}

# Each file, whole and in parts, twice: as it is new, and as it is known.
sub check_files {
	my ($server) = @_;

	for my $name ((sort keys %size) x 2) {
		my $size = $size{$name};
		my $r = $server->get("/$name");

		ok($r->{status} == 200 && $r->{body} eq $content{$name} &&
		    $r->{field}{'content-length'} == $size, "$name: all of it");
		is($r->{field}{'last-modified'}, $date, "$name: its date");
		$r = $server->get("/$name", method => 'HEAD');
		ok($r->{status} == 200 && $r->{body} eq '' &&
		    $r->{field}{'content-length'} == $size, "$name: HEAD");
		next if $size == 0;
		my $last = $size - 1;
		$r = $server->get("/$name", fields => ["Range: bytes=99-$last"]);
		ok($r->{status} == 206 &&
		    $r->{body} eq substr($content{$name}, 99),
		    "$name: a range");
		$r = $server->get("/$name", fields =>
		    ["Range: bytes=$last-,100-199,300-399"]);
		my @parts = $r->{body} =~
		    /content-range: bytes \d+-\d+\/$size\r\n\r\n(.*?)\r\n--/gsi;
		ok("@parts" eq join(' ', substr($content{$name}, -1),
		    map { substr($content{$name}, $_, 100) } 100, 300),
		    "$name: several ranges");
	}
}

sub check_conditions {
	my ($server) = @_;
	my $tag;

	await('a strong tag', sub {
		($tag) = ($server->get('/small')->{field}{etag} // '') =~
		    /\A(".*")\z/ });
	for my $case (["If-None-Match: $tag", 304], ["If-Match: $tag", 200],
	    ["If-Modified-Since: $date", 304], ['If-Match: "x"', 412],
	    ['Range: bytes=500-', 416]) {
		is($server->get('/small', fields => [$case->[0]])->{status},
		    $case->[1], $case->[0]);
	}
}

sub check_names {
	my ($server) = @_;

	is($server->get('/d/')->{body}, 'index', 'an index');
	is($server->get('/d')->{status}, 301, 'a directory without its slash');
	is($server->get('/old/x')->{field}{location}, '/new/x', 'a redirect');
	is($server->get('/none')->{status}, 404, 'what is not there') for 1, 2;
	is($server->get('/none')->{body}, 'index', 'and its page');
	for (1 .. 2) {
		my $r = $server->get('/list/');
		ok($r->{status} == 200 && $r->{body} =~ /"one".*"two"/s,
		    'a listing');
	}
}

sub check_variants {
	my ($server) = @_;

	for (1 .. 2) {
		my $r = $server->get('/text.txt',
		    fields => ['Accept-Encoding: gzip']);
		is($r->{field}{'content-encoding'}, 'gzip', 'compressed');
		is(inflated($r->{body}), $text, 'it is that text');
		$r = $server->get('/text.txt');
		ok($r->{body} eq $text && !$r->{field}{'content-encoding'} &&
		    $r->{field}{vary} eq 'Accept-Encoding', 'or not');
		is($server->get('/beside.css', fields =>
		    ['Accept-Encoding: br'])->{body}, 'brotli, as it were',
		    'what is beside it');
	}
}

sub check_pipeline {
	my ($server) = @_;
	my @names = (qw(small mapped odd small empty large odd), ('small') x 20);
	my $client = $server->connect;
	my @wrong;

	$client->send(join('', map {
	    "GET /$_ HTTP/1.1\r\nHost: x\r\n\r\n" } @names));
	for my $name (@names) {
		push(@wrong, $name)
		    if $client->response('GET')->{body} ne $content{$name};
	}
	is("@wrong", '', 'a pipeline');
}

# Clients that take what they asked for only when all of them have asked.
sub check_crowd {
	my ($server) = @_;
	my @wrong;

	for my $name (qw(small mapped large)) {
		my @clients = $server->ask(("/$name") x 20);
		$_->close for splice(@clients, 0, 3);
		push(@wrong, $name) for grep {
			$_->response('GET')->{body} ne $content{$name}
		} @clients;
	}
	is("@wrong", '', 'many at once');
}

sub check_change {
	my ($server, %off) = @_;

	write_file("$root/new.txt", 'first');
	is($server->get('/new.txt')->{body}, 'first', 'a new file');
	rename("$root/new.txt", "$root/was.txt");
	write_file("$root/new.txt", 'second one');
	my $second = sub { $server->get('/new.txt')->{body} eq 'second one' };
	if ($off{pathname}) {
		ok($second->(), 'what has changed is seen at once');
		unlink("$root/new.txt");
		is($server->get('/new.txt')->{status}, 404, 'and that it goes');
	} else {
		ok(await('the second', $second), 'what has changed is seen');
	}
}

# That there is a difference at all, by what a server tells when it ends.
sub check_counts {
	my (%off) = @_;
	my $server = started('1m', %off);
	my (@lengths, @blanks);

	# On one connection: another thread may still have what was sent.
	my $client = $server->connect;
	for (1 .. 5) {
		$client->send("GET /small HTTP/1.1\r\nHost: x\r\n\r\n");
		$client->fill while $client->{in} !~ /\r\n\r\n/;
		push(@lengths, index($client->{in}, "\r\n\r\n") + 4);
		push(@blanks, $client->{in} =~ /^Server: amped( *)\r$/m);
		$client->response('GET');
	}
	$server->stop;
	my $said = $server->errors;
	my ($looks) = $said =~ /\blookups: (\d+)/;
	my ($hits) = $said =~ /header cache: .*, (\d+) hits/;
	my ($kept, $made) = $said =~
	    /chunk cache: (\d+) entries, .*, (\d+) misses/;
	is($looks, $off{pathname} ? 5 : 1, 'looks');
	is($hits, $off{header} ? 0 : 4, 'heads that were ready');
	is($made, $off{chunk} ? 5 : 1, 'contents that were not there');
	is($kept, $off{chunk} ? 0 : 1, 'contents that stay');
	is(scalar(grep { $_ % 32 } @lengths), $off{alignment} ? 5 : 0,
	    'heads without padding');
	is(scalar(@blanks), 5, 'which stands behind a value');
	is(scalar(grep { length } @blanks), $off{alignment} ? 0 : 5,
	    'where it is not seen');
}

for my $mask (0 .. 15) {
	my %off = map { $savings[$_] => 1 } grep { $mask & 1 << $_ } 0 .. 3;

	subtest('without ' . (join(' ', sort keys %off) || 'nothing'), sub {
		my $server = started('100ms', %off);

		check_files($server);
		check_conditions($server);
		check_names($server);
		check_variants($server);
		check_pipeline($server);
		check_crowd($server) if Amped::many_clients();
		check_change($server, %off);
		$server->stop;
		check_counts(%off);
	});
}
done_testing();
