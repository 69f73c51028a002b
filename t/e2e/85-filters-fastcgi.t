#!/usr/bin/perl
# Filters that are programs of FastCGI in the role of a filter: what these get,
# what becomes of their answers, failures, places, numbers, and their restart.
# arch: pair
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use Amped qw(await content slurp write_file);
use Amped::Applications;
use Amped::Programs;
use Test::More;

my $programs = Amped::Programs->new('run/' => '', 'bin/' => '');
my $dir = $programs->dir;
my $www = $programs->www;
my $control = "$dir/run/control";

# What the application does with a file, by the environment DO of the filter.
my %do = (
	upper => 'head(); put(uc(take_data()))',
	empty => 'take_data(); head()',
	echo => 'my $data = take_data(); head(); put($data)',
	# As it comes, in small records that are cut anywhere.
	pieces => 'head(); my $data = take_data();
	    record(OUTPUT, $_, pieces => 3) for $data =~ /(.{1,5})/gs',
	early => 'head(); put("early"); finish(); hang_up()',
	vars => 'my $data = take_data(); head();
	    put(join("\n", map { "$_=$request{params}{$_}" }
	    sort keys %{$request{params}}) . "\nrole=$request{role}\n" .
	    "flags=$request{flags}\ndata=" . length($data) . "\n")',
	pid => 'take_data(); head(); put("$$ VERSION")',
	lines => 'complain("first li"); complain("ne\nsecond line\n");
	    head(); put(take_data())',
	status => 'head(); put(take_data()); finish(3)',
	overloaded => 'finish(0, 2)',
	role => 'finish(0, 3)',
	none => 'take_data()',
	headless => 'take_data(); put("no head at all\n\n")',
	missing => 'put("Status: 404 No\nContent-Type: text/plain\n\nno")',
	moved => 'put("Location: /x\n\n")',
	short => 'put("Content-Type: text/plain\nContent-Length: 9\n\nshort")',
	bytes => 'send_raw("no records at all")',
	closes => 'head(); put("a part"); hang_up()',
	large => 'head(); put("x" x 1500) for 1 .. 10',
	endless => 'head(); my $r = pack("CCnnCC", 1, OUTPUT, $request{id},
	    65528, 0, 0) . "x" x 65528;
	    1 while defined(syswrite($connection, $r)); hang_up()',
	dies => 'take_data(); exit(7)',
);

sub code {
	my ($version) = @_;

	return "my %do = (" . join(', ', map { "$_ => sub { $do{$_} }" =~
	    s/VERSION/$version/r } sort keys %do) . ");\n" .
	    '	$do{$request{params}{DO}}->(); take_data();';
}

my $file = Amped::Applications::make($programs, 'app', 'fastcgi', code('one'));

# Puts another file in the place of the application.
sub replace {
	my ($version) = @_;
	my $made = Amped::Applications::make($programs, 'app.new', 'fastcgi',
	    code($version));

	rename($made, $file) or die "rename: $!\n";
}

my $where = Amped::Applications::place('unix', "$dir/run", 's');
my $served = Amped::Applications->serve(Amped::Applications::make($programs,
    'served', 'fastcgi', code('served')), $where, 2);
my $text = content('text', 200_000);

write_file("$www/a.txt", "a text\n");
write_file("$www/large.txt", $text);
write_file("$www/none.txt", '');
write_file("$www/$_.txt", "$_\n") for qw(b c d e f);
utime(800_000_000, 800_000_000, "$www/a.txt");
mkdir("$dir/results") or die "$dir/results: $!\n";
chown($> == 0 ? scalar(getpwnam(Amped::ordinary_user())) : $>, -1,
    "$dir/results");
my $server = $programs->start(program => "\tmost 8\n", others => <<"END" .
control $control
cache { results $dir/results max 100M }
program app { fastcgi $file; most 2; nice 0 }
program served { fastcgi $where; most 2 }
program of-served { filter fastcgi served; environment DO upper }
chain of-served { filters of-served }
program reverse { filter /usr/bin/rev; nice 0 }
chain both { filters reverse upper }
chain twice { filters upper reverse echo }
chain passes { filters status; onfail pass }
END
    join('', map { "program $_ { filter fastcgi app; environment DO $_; " .
    ($_ eq 'large' || $_ eq 'endless' ? 'result 10K; ' : '') .
    "}\nchain $_ { filters $_ }\n" } sort keys %do), site => join('',
    map { "\tpath /$_ { chain $_; alias $www }\n" } (sort keys %do),
    qw(of-served both twice passes)) . <<"END");
	path /answers { run all; chain upper }
	path /both-answers { run all; chain both }
	path /of-answers { run all; chain of-served }
END

sub get { return $programs->server->get(@_) }

sub ctl {
	return Amped::run_command(undef, Amped::program() =~
	    s/amped\z/ampedctl/r, '-s', $control, @_);
}

# Results.
is(get('/upper/a.txt')->{body}, "A TEXT\n", 'a result');
ok(get('/upper/large.txt')->{body} eq uc($text), 'a large one');
is(get('/upper/none.txt')->{body}, '', 'of an empty file');
is(get('/empty/a.txt')->{body}, '', 'an empty one');
is(get('/pieces/a.txt')->{body}, "a text\n", 'in small records');
is(get('/early/large.txt')->{body}, 'early', 'before all was read');
is(get("/$_/a.txt")->{body}, "TXET A\n", "with other filters: $_")
    for qw(both twice);
is(get('/of-served/a.txt')->{body}, "A TEXT\n", 'of a server');
my $answer = get('/upper/a.txt');
my $part = get('/upper/a.txt', fields => ['Range: bytes=2-5']);
is("$part->{status} $part->{body}", '206 TEXT', 'a range of a result');
is(get('/upper/a.txt', fields => ["If-None-Match: $answer->{field}{etag}"])
    ->{status}, 304, 'it has a tag');

# What the application gets.
my %var = map { /^([^=]+)=(.*)/ ? ($1 => $2) : () }
    split(/\n/, get('/vars/a.txt')->{body});
my %want = (FCGI_DATA_LENGTH => 7, FCGI_DATA_LAST_MOD => 800_000_000,
    DOCUMENT_URI => '/vars/a.txt', CONTENT_TYPE => 'text/plain', DO => 'vars',
    PATH_TRANSLATED => "$www/a.txt", QUERY_STRING => '', role => 3,
    REQUEST_METHOD => 'GET', data => 7, flags => 0);
is($var{$_}, $want{$_}, "it gets $_") for sort keys %want;
is($var{$_}, undef, "it gets no $_") for qw(CONTENT_LENGTH PATH);

# Failures: each is one line that says why, and costs one answer.
my %why = (
	status => 'says that it has failed \(status 3\)',
	overloaded => 'says that it has too much to do',
	role => 'does not have the role of a filter',
	none => 'has ended without an answer',
	headless => 'gives no valid head, .*: ',
	missing => 'answers with status 404, not 200',
	moved => 'answers with the name of something else',
	short => 'gives another number of bytes than its Content-Length says',
	bytes => 'does not answer in FastCGI',
	closes => 'has closed the connection before the end of its answer',
	dies => 'has closed the connection before the end of its answer',
);

for my $name (sort keys %why) {
	is(get("/$name/a.txt")->{status}, 500, "$name: status 500");
	$programs->server->wait_line(
	    qr/$name\[\d+\]: its application $why{$name}/);
}
is(get('/passes/a.txt')->{body}, "a text\n", 'onfail pass');
is(get('/lines/a.txt')->{body}, "a text\n", 'lines of standard error');
$programs->server->wait_line(qr/lines\[\d+\]: $_$/)
    for 'first line', 'second line';

# A result that is too large leaves its process alone.
sub number { return get("/pid/$_[0].txt")->{body} =~ s/ .*//r }

my $ended = () = slurp($programs->server->{err}) =~ /app\[\d+\]: (?:ended|was)/g;
is(get('/large/a.txt')->{status}, 500, 'a result that is too large');
$programs->server->wait_line(
    qr/filter large: .*: its result is larger than 10240 bytes/);
is(get('/endless/a.txt')->{status}, 500, 'a result without end');
is(scalar(() = slurp($programs->server->{err}) =~
    /app\[\d+\]: (?:ended|was)/g), $ended, '... ends no process');
is(get('/upper/b.txt')->{body}, "B\n", '... and the next one is made');

# Answers of programs.
for my $path (qw(answers of-answers both-answers)) {
	my $of = $programs->cat("Content-Type: text/plain\n\nan answer\n");

	is($programs->get($of =~ s{^/cgi}{/$path}r)->{body},
	    $path eq 'both-answers' ? "REWSNA NA\n" : "AN ANSWER\n",
	    "an answer passes: $path");
}

# Another file in the place of the application, and a restart of it.
sub shows {
	my ($name, $version) = @_;
	my $shown;

	await("$name to show $version", sub {
		$shown = get("/pid/$name.txt")->{body};
		return $shown =~ / $version\z/;
	});
	return $shown =~ s/ .*//r;
}

my $first = shows('c', 'one');
is(shows('c', 'one'), $first, 'a result is kept') if
    Amped::architecture() ne 'mp';
replace('two');
my $second = shows('c', 'two');
isnt($second, $first, 'a file that is replaced: another process');
is(shows($_, 'two') && 1, 1, "... which has the next runs: $_") for qw(d e);
my @said = ctl('program', 'app', 'restart');
is($said[0], 0, 'ampedctl program app restart') or diag("@said");
my $third = get('/pid/c.txt')->{body};
isnt($third, "$second two", '... makes the next request run anew');
is(scalar(() = glob("$dir/results/.renewed-*")), keys(%do) + 3,
    '... also after a restart of amped: those on disk of each chain');
@said = ctl('program', 'pid', 'restart');
like("@said", qr/is a filter of program app: restart that one/,
    'a filter has no processes of its own');

# The numbers of the application count the runs of its filters.
my %number = map { /^requests +(\d+): (.*)/ ? (requests => $1,
    map { split(/ /) } split(/, /, $2)) : () }
    split(/\n/, (ctl('program', 'app'))[1]);
cmp_ok($number{requests}, '>', 30, 'runs are counted as its requests');
cmp_ok($number{failed}, '>=', scalar(keys %why), '... also those that fail');
is($number{answered} + $number{failed} + $number{refused} + $number{left},
    $number{requests}, '... each has one end');
$programs->server->finish;
done_testing();
