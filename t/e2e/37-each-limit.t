#!/usr/bin/perl
# Each directive of the blocks limits and cache, alone and as small as may be,
# under every command of ampedctl and requests of every kind: main lives, each
# command has its answer, and so has each request, or the refusal of that limit.
#
# The directives are those that amped -L lists, the commands those of
# src/shared/commands.tbl: a new one is tried like the others, and must behave
# as if it were not there, unless a row here says what it does.
# arch: all
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use Amped qw(await content docroot slurp write_file);
use IO::Select;
use IO::Socket::UNIX;
use IO::Uncompress::Gunzip qw(gunzip);
use MIME::Base64 qw(encode_base64);
use Socket qw(SOCK_STREAM);
use Test::More;

# Where a worker has one client, more than there are at a time.
Amped::one_main();
my $workers = Amped::architecture() =~ /^m[pt]\z/ ? 4 : 1;
my $mains = Amped::architecture() eq 'mp' ? $workers : 1;
$ENV{AMPED_WORKERS} = $workers if $workers > 1;

my $place = docroot();
my $control = "$place/control";
my %files = ('small' => content('small', 500),
    'middle.txt' => content('middle', 40_000),
    'large' => content('large', 300_000), 'guarded/page' => "guarded\n",
    'guarded/passwords' => 'anna:' . crypt('word', '$6$rounds=1000$salt') .
    "\n", map { ("dir/$_" => "$_\n") } 1 .. 5);
my $root = docroot(%files);
my $site = "\tcompress on\n\tpath /dir { listing html }\n" .
    "\tpath /guarded { auth Guarded $root/guarded/passwords }\n";

# What a directive does, by block, word and part: what else a request may be
# answered with, and some are if it has its least value; that a connection may
# end in place of an answer, after so many; that a body may take longer than
# anybody waits; what else the conf needs; values in place of those that follow
# from its bounds; that a preload has other words; how it is written.
my %does = (
	'cache paths stale' => { with => 'paths revalidate 0s' },
	'cache chunks size' => { with => 'chunks small 4K',
	    values => ['4K', '8K', '16M'] },
	'cache admit' => { with => 'chunks small 4K',
	    values => ['4K', '100K', 'all'] },
	'cache keep' => { values => ['/small', '"*"'] },
	'cache variants' => { values => ["$place/variants"] },
	'cache hotlist' => { values => ["$place/hot"] },
	'cache hotlist every' => { as => "hotlist $place/hot every" },
	'cache results' => { values => ["$place/variants"] },
	'cache results max' => { as => "results $place/variants max" },
	'limits connections' => { ends => 1,
	    values => [$workers, $workers + 1, 20] },
	'limits connections address' => { also => [429], some => 1, values => [1, 2] },
	'limits rate' => { also => [429], some => 1, with => 'rate burst 1',
	    values => [1, 100] },
	'limits rate burst' => { also => [429], some => 1,
	    with => 'rate 1' },
	'limits requests' => { ends => 1, answers => 1,
	    values => [1, 2, 3] },
	'limits line' => { also => [414], some => 1 },
	'limits header' => { also => [431], some => 1 },
	'limits fields' => { also => [431], some => 1 },
	'limits body' => { also => [413], some => 1, values => [0, 1] },
	'limits body within' => { also => [408] },
	'limits spool' => { values => [docroot()] },
	'limits spool from' => { as => 'spool /tmp from' },
	'limits spool max' => { as => 'spool /tmp max' },
	'limits idle' => { ends => 1 },
	'limits head' => { also => [408] },
	'limits gap' => { also => [408] },
	'limits pace' => { slow => 1, values => [1, 1000, '1M'] },
	'limits pace after' => { with => 'pace 1M' },
	'limits disk' => { also => [503], words => 1 },
	'limits verify' => { also => [503] },
	'limits listing' => { words => 1 },
	'limits listing bytes' => { words => 1 },
	'limits compress' => { words => 1 },
	'limits compress from' => { words => 1 },
);

# What commands that want words are given.
my $all = '/small /middle.txt /large /guarded/page /dir/ /small';
my %words = (status => ['', ' json'], explain => [' /large',
    "\tAccept-Encoding: gzip\t/middle.txt"],
    preload => [" $all", " $all"], policy => [' gdsf', ' lru'],
    find => [' /*', ' /dir/*'],
    purge => [' /middle.txt /dir/*', ' *']);

#
# The control socket
#

sub commands {
	my $table = slurp(Amped::source_dir() . '/src/shared/commands.tbl');
	my @found;

	while ($table =~ /^COMMAND\(\w+, "(\w+)", (\w+), "[^"]*", (\d+),/mg) {
		my ($name, $by, $least) = ($1, $2, $3);
		next if $by eq 'AMPEDCTL' || $name =~ /^(?:stop|drain)\z/;
		BAIL_OUT("which words does $name want?")
		    if $least > 0 && !$words{$name};
		push(@found, map { "$name$_" } @{$words{$name} // ['']});
	}
	return @found;
}

sub asked {
	my ($line) = @_;
	my $socket = IO::Socket::UNIX->new(Type => SOCK_STREAM,
	    Peer => $control) or return "no socket: $!";
	my $select = IO::Select->new($socket);
	my $answer = '';

	local $SIG{PIPE} = 'IGNORE';
	syswrite($socket, "$line\n");
	while ($select->can_read(Amped::timeout())) {
		return $answer
		    unless sysread($socket, $answer, 65536, length($answer));
	}
	return "$answer: and no end";
}

#
# Requests: what is asked for, with which fields, and what comes without limits.
#

sub request {
	my ($target, @fields) = @_;

	return join("\r\n", "GET $target HTTP/1.1", 'Host: x', @fields, '', '');
}

my $password = 'Authorization: Basic ' . encode_base64('anna:word', '');
my @plain = map { [request("/$_"), 200, $files{$_}] }
    qw(small middle.txt large);
my @kinds = (@plain,
	[request('/middle.txt', 'Accept-Encoding: gzip'), 200,
	    $files{'middle.txt'}],
	[request('/large', 'Range: bytes=70000-210000'), 206,
	    substr($files{large}, 70_000, 140_001)],
	[request('/large', 'Range: bytes=1-5,90000-99999,-7'), 206, undef],
	[request('/guarded/page', $password), 200, "guarded\n"],
	[request('/guarded/page'), 401, undef],
	[request('/dir/'), 200, undef], [request('/none'), 404, undef],
	[request('/small?' . 'x' x 300), 200, $files{small}],
	[request('/small', 'X: ' . 'x' x 1100), 200, $files{small}],
	[request('/small', map { "X$_: x" } 1 .. 12), 200, $files{small}],
	[request('/none', 'Content-Length: 5') . 'a' x 5, 404, undef]);

# Why an answer is not one that this request may have.
sub wrong {
	my ($kind, $answer, $does) = @_;
	my ($request, $status, $body) = @$kind;
	my ($line) = $request =~ /^(.{1,60})/;
	my $is = $answer->{status};

	if (grep { $is == $_ } @{$does->{also} // []}) {
		$does->{refused}++;
		return ();
	}
	return "$line: $is" if $is != $status;
	return "$line: short" if $answer->{short};
	return () unless defined($body);
	my $bytes = $answer->{body};
	gunzip(\$answer->{body} => \$bytes)
	    if ($answer->{field}{'content-encoding'} // '') eq 'gzip';
	return $bytes eq $body ? () : "$line: another body";
}

# A connection with these requests on it, all at once.
sub begin {
	my ($server, @those) = @_;
	my $client = $server->connect;

	$client->send(join('', map { $_->[0] } @those));
	return [$client, @those];
}

# Takes its answers; what was wrong, and in $$left those that had none.
sub take {
	my ($begun, $does, $left) = @_;
	my ($client, @those) = @$begun;
	my $most = @those - ($does->{answers} // @those);
	my @wrong;

	while (@those) {
		my $answer = $client->response // last;
		push(@wrong, 'more answers than there may be')
		    if $most > 0 && @those <= $most;
		push(@wrong, wrong(shift(@those), $answer, $does));
		last if ($answer->{field}{connection} // '') eq 'close';
	}
	$client->close;
	@$left = @those;
	return @wrong;
}

# Until all are answered.  Where nothing ends before its time, one connection is
# enough, unless a refusal ends it, which is right behind one.
sub finish {
	my ($server, $begun, $does) = @_;
	my ($client, @left) = @$begun;
	my @wrong = take($begun, $does, \@left);
	my $before = @$begun;

	while (@left) {
		return (@wrong, scalar(@left) . ' requests without an answer')
		    unless $does->{ends} || $does->{also} || $before > @left;
		$before = @left;
		push(@wrong, take(begin($server, @left), $does, \@left));
	}
	return @wrong;
}

# One that comes slowly: its beginning is all that is waited for.
sub taste {
	my ($begun) = @_;
	my ($client) = @$begun;

	$client->want(1);
	my $right = $client->{in} =~ m{\AH(?:TTP/1\.1 200|\z)};
	$client->abort;
	return $right ? () : "it begins with $client->{in}";
}

#
# A directive at a time
#

# The words of a directive, and its values: its least, and a little more.
sub directives {
	my ($status, $list) = Amped::run_amped('-L');
	my @found;

	for my $line (split(/\n/, $list)) {
		my ($block, $word, $part, $type, undef, $least) =
		    split(/\t/, $line, -1);
		next unless $block =~ /^(?:limits|cache)\z/;
		my $name = join(' ', $block, $word, $part || ());
		my $does = $does{$name} // {};
		push(@found, { does => $does, name => $name, block => $block,
		    words => $does->{as} // join(' ', $word, $part || ()),
		    values =>
		    $does->{values} // [values_of($name, $type, $least)] });
	}
	return @found;
}

sub values_of {
	my ($name, $type, $least) = @_;
	my ($n, $unit) = $least =~ /^(\d+)(\w*)\z/;

	return split(/\|/, $type) if $type =~ /\|/;
	BAIL_OUT("$name: which values of $type are to be tried?")
	    unless $type =~ /^(?:number|size|time)\z/;
	return ($least, $type eq 'time' ? '1ms' : 1) if $n == 0;
	return ($least, $type eq 'time' ? '1500ms' : $n + 1 . $unit);
}

sub conf_with {
	my ($d, $value) = @_;
	my $lines = $d ? "$d->{block} {\n\t" . join("\n\t",
	    $d->{does}{with} // (), "$d->{words} $value") . "\n}\n" : '';

	return "control $control\nhelpers 2 max 4 share 4\n$lines";
}

my %mains;

# Has the server read that conf; why it has not.
sub set {
	my ($server, $global) = @_;
	my %before = %mains;

	$server->{global} = $global;
	write_file("$server->{dir}/amped.conf", $server->conf_text);
	my $answer = asked('reload');
	return $answer unless $answer =~ /\Aok\b/;
	await('the mains before to go', sub {
		%mains = map { $_ => 1 } $server->role('main');
		return keys(%mains) == $mains &&
		    !grep { $before{$_} } keys(%mains);
	});
	return ();
}

my %preloaded;		# what the commands say without a limit

sub command {
	my ($line, $does) = @_;
	my $answer = asked($line);

	return "$line: " . substr($answer, 0, 500)
	    unless $answer =~ /^\.\n\z/m &&
	    ($answer =~ /\Aok\b/ || $does->{words});
	return () if $line !~ /^preload/ || $does->{words};
	$preloaded{$line} //= $answer;
	return $answer eq $preloaded{$line} ? () : "$line: $answer";
}

# All commands, with connections open meanwhile; then, of each kind of request,
# one, and some together.
sub try_all {
	my ($server, $does, @commands) = @_;
	my @begun = map { begin($server, @plain, @plain) } 1 .. 3;
	my @wrong = map { command($_, $does) } @commands;

	if ($does->{slow}) {
		push(@wrong, map { taste($_) } @begun);
		return @wrong;
	}
	push(@wrong, map { finish($server, $_, $does) } @begun);
	push(@wrong, finish($server, begin($server, $_), $does)) for @kinds;
	push(@wrong, finish($server, begin($server, @kinds[0 .. 9]), $does));
	return @wrong;
}

mkdir("$place/variants") or die "variants: $!\n";
chmod(0777, "$place/variants");
my $server = Amped->start(root => $root, site => $site,
    global => conf_with());
await('the socket', sub { -S $control });
my @commands = commands();
my ($reload) = grep { $commands[$_] eq 'reload' } 0 .. $#commands;
splice(@commands, $reload, 1);		# each directive has its own
set($server, conf_with());
my @wrong = try_all($server, {}, @commands);
is(join("\n", @wrong), '', 'without a limit');

for my $d (directives()) {
	my @values = @{$d->{values}};

	splice(@values, 1) if $ENV{AMPED_TEST_SHORT};
	for my $value (@values) {
		my $does = { %{$d->{does}} };
		my $least = $value eq $values[0];
		delete($does->{slow}) if $value eq '1M';
		$does->{answers} = $value if $does->{answers};
		@wrong = set($server, conf_with($d, $value));
		push(@wrong, eval { try_all($server, $does, @commands) })
		    unless @wrong;
		push(@wrong, $@ || ());
		push(@wrong, 'no request is refused')
		    if $least && $does->{some} && !$does->{refused};
		my @now = $server->role('main');
		push(@wrong, 'main has died')
		    if grep { !$mains{$_} } @now or @now != $mains;
		is(join("\n", @wrong), '', "$d->{name} $value");
	}
}
is(join("\n", $server->errors =~ / bug: .*/g), '', 'no bug is told of');
$server->stop;
done_testing();
