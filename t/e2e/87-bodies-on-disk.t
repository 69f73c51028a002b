#!/usr/bin/perl
# Bodies of requests for programs that are on a disk (limits { spool }): which
# ones are, that programs of each protocol get all of them, that nothing is left
# there, and what a client gets when the disk cannot have them.
# arch: pair
use strict;
use warnings;

use Digest::SHA qw(sha256_hex);
use FindBin;
use lib "$FindBin::Bin/../lib";
use Amped qw(await content run_amped slurp write_file);
use Amped::Applications;
use Amped::Programs;
use Test::More;

Amped::needs_many_clients(8);

my $programs = Amped::Programs->new('bin/' => '', 'run/' => '',
    'spool/' => '', 'small/' => '');
my $dir = $programs->dir;
my $spool = "$dir/spool";
chmod(0777, $spool, "$dir/small");

my %file = map { $_ => Amped::Applications::make($programs, $_, $_) }
    qw(fastcgi scgi);
my %where = map { $_ => Amped::Applications::place('unix', "$dir/run", $_) }
    qw(fastcgi scgi);
my @servers = map { Amped::Applications->serve($file{$_}, $where{$_}, 2) }
    sort keys %where;
my $blocks = join('', map { "program $_ {\n\t$_ $where{$_}\n" .
    "\twithin 60s\n}\n" } sort keys %where) .
    "program own {\n\tfastcgi $file{fastcgi}\n\twithin 60s\n\tnice 0\n}\n";
my $paths = join('', map { "\tpath /$_ { run $_; body 16M }\n" }
    qw(fastcgi own scgi)) . "\tpath /late { run all; body 16M within 1s }\n";
my $limits = "limits {\n\tbodies 4M\n\tspool $spool from 200K max 40M\n" .
    "\tlinger 1s\n}\n";
my $server = $programs->start(program => '', others => $blocks,
    global => $limits, site => $paths);

# Lines of Perl for the program of a path.
sub play_as {
	my ($path, $code) = @_;
	my $target = $programs->play($code);

	return $path eq 'cgi' ? $target : $target =~ s{^/cgi/play}{/$path}r;
}

my $sum = 'require Digest::SHA; my $b = take_body(); head(); ' .
    'put(length($b) . " " . Digest::SHA::sha256_hex($b));';
my $place = 'head(); put(readlink("/proc/self/fd/0") . " " . take_body());';

sub sum { return length($_[0]) . ' ' . sha256_hex($_[0]) }

sub pieces { return [unpack("(a$_[1])*", $_[0])] }

# The names in a directory; what has none is not among them.
sub names {
	opendir(my $fh, $_[0] // $spool) or die "$spool: $!\n";
	return grep { !/^\.\.?\z/ } readdir($fh);
}

# The descriptors of the server's processes that are files there.
sub held {
	my @held;

	for my $pid ($server->processes) {
		push(@held, grep { (readlink($_) // '') =~ m{^\Q$spool\E/} }
		    glob("/proc/$pid/fd/*"));
	}
	return @held;
}

# Each length, around where it is kept, in both framings, by each protocol.
for my $path (qw(cgi own fastcgi scgi)) {
	my $target = play_as($path, $sum);

	for my $n (1, 65_536, 200 << 10, (200 << 10) + 1, 3 << 20) {
		my $body = content("body$n", $n);
		my $answer = $programs->get($target, method => 'POST',
		    body => $body);

		is("$answer->{body} $answer->{then}", sum($body) . ' open',
		    "$path: a body of $n bytes");
		$answer = $programs->get($target, method => 'POST', chunks =>
		    pieces($body, 50_000));
		is("$answer->{body} $answer->{then}", sum($body) . ' open',
		    '... in chunks');
	}
}

# Where it is, as a program sees that.
my $there = $programs->play($place);
for my $case ([200 << 10, 'memfd'], [(200 << 10) + 1, $spool],
    [1 << 20, $spool]) {
	my ($n, $in) = @$case;
	my $body = content('place', $n);

	for my $framing ([body => $body], [chunks => pieces($body, 70_000)]) {
		my $answer = $programs->get($there, method => 'POST',
		    @$framing);
		like($answer->{body}, qr{\A/?\Q$in\E.* \(deleted\) },
		    "$n bytes, by $framing->[0]: in $in");
		ok($answer->{body} =~ /\Q$body\E\z/, '... all of them');
	}
}

# A body that waits has a file without a name there; then nobody has it.
my $client = $programs->ask('/late/play?0', method => 'POST',
    fields => ['Content-Length: 3000000'], body => 'x' x 2_000_000);
SKIP: {
	skip('the processes cannot be looked into', 1)
	    unless Amped::looks_into_processes();
	ok(eval { await('the file', sub { held() }) }, 'a body that waits');
}
is(join(' ', names()), '', '... has no name in the directory');
is($client->response->{status}, 408, '... and is late');
my $gone = $programs->ask($there, method => 'POST',
    fields => ['Content-Length: 3000000'], body => 'x' x 2_000_000);
$gone->abort;
SKIP: {
	skip('the processes cannot be looked into', 1)
	    unless Amped::looks_into_processes();
	ok(eval { await('no file', sub { !held() }) },
	    'without its client, nobody has it');
}

# All bodies together, which takes a main with more than one client.
sub check_together {
	# No room in memory: then a small one goes there, too.
	# They have it when they have 100, so the small one cannot be first.
	my @waiting = map { $programs->ask($there, method => 'POST', fields =>
	    ['Expect: 100-continue', 'Content-Length: 190000']) } 1 .. 22;
	is(scalar(grep { $_->response('POST')->{status} == 100 } @waiting), 22,
	    'bodies that may come');
	$_->send('x' x 189_999) for @waiting;
	my $small = eval { await('a small body on the disk', sub {
		my $answer = $programs->get($there, method => 'POST',
		    body => 'small' x 5000);
		return $answer if $answer->{body} =~ m{^\Q$spool\E/};
	}) };
	like($small && $small->{body}, qr/ (?:small)+\z/,
	    'bodies is reached: a small body is on the disk');
	$_->send('x') for @waiting;
	is(scalar(grep { substr($_->response->{body}, -190_000) eq
	    'x' x 190_000 } @waiting), 22, '... and all others come in');

	# Both are full.
	my @large = map { $programs->ask($there, method => 'POST', body => 'x' x
	    (1 << 20), fields => ['Content-Length: ' . (15 << 20)]) } 1 .. 2;
	my $refused = eval { await('a body to be refused', sub {
		my $answer = $programs->get($there, method => 'POST', body =>
		    'x' x (11 << 20));
		return $answer if $answer->{status} != 200;
	}) };
	is($refused && $refused->{status}, 503, 'max is reached: 503');
	is($programs->get($there, method => 'POST', body => 'small')->{status},
	    200, '... but a small one is in memory');
	$_->abort for @large;
	ok(eval { await('room', sub {
		$programs->get($there, method => 'POST',
		    body => 'x' x (11 << 20))->{status} == 200;
	}) }, '... then there is room');
}

SKIP: {
	skip('a main of mp has one client, and may keep its body', 6)
	    if Amped::architecture() eq 'mp';
	check_together();
}

# The directory is away: 503 for those that need it, with a line.
rmdir($spool) or die "$spool: $!\n";
for my $framing ([body => 'x' x 300_000], [chunks => pieces('x' x 300_000,
    70_000)]) {
	my $answer = $programs->get($there, method => 'POST', @$framing);

	is("$answer->{status} $answer->{then}", '503 closed',
	    "no directory: a body by $framing->[0]");
}
is($programs->get($there, method => 'POST', body => 'x' x 100_000)->{status},
    200, '... others are served');
my $line = "the body of its request cannot be kept in $spool: No such file";
ok(eval { $server->wait_line(qr{ warn: 503 for \S+ .*: program \S+: \Q$line\E})
    }, '... with a line in the error log');
my %said;
$said{$_}++ for slurp($server->{err}) =~
    /main\[(\d+)\] warn: .*cannot be kept/g;
is_deeply([grep { $_ > 1 } values(%said)], [], '... once by each main');
mkdir($spool) && chmod(0777, $spool);
kill('HUP', $server->{pid});
ok(eval { await('the new mains', sub { $programs->get($there, method => 'POST',
    body => 'x' x 300_000)->{status} == 200 }) },
    'the directory is back, and the conf read again');

is(join(' ', names()), '', 'nothing is left in the directory');
$server->stop;
is(join(' ', names()), '', '... nor at the end');
$_->stop for @servers;

# A disk that is full.
my $mounted;
END {
	local $?;
	system("umount $mounted") if defined($mounted);
}
SKIP: {
	my $small = "$dir/small";
	skip('no file system can be mounted', 3) if $> != 0 ||
	    system("mount -t tmpfs -o size=1m,mode=777 none $small " .
	    '2>/dev/null') != 0;
	$mounted = $small;
	$server = $programs->start(program => '', global =>
	    "limits {\n\tspool $small from 200K\n\tlinger 1s\n}\n");
	my $answer = $programs->get($there, method => 'POST',
	    body => 'x' x (2 << 20));
	is("$answer->{status} $answer->{then}", '503 closed',
	    'the disk is full');
	ok(eval { $server->wait_line(
	    qr/cannot be kept in \Q$small\E: No space left on device/) },
	    '... as the error log says');
	$answer = $programs->get($there, method => 'POST',
	    body => 'x' x 500_000);
	is($answer->{status}, 200, '... and has room for another one');
	$server->stop;
}

# What amped -t says.
my $conf = "$dir/t.conf";
sub check {
	write_file($conf, "limits { spool $_[0] }\nsite x {\n" .
	    "\tlisten 127.0.0.1:0\n\troot $dir/www\n}\n");
	return run_amped('-t', '-f', $conf);
}

my ($status, $out, $err) = check("$dir/nowhere");
isnt($status, 0, '-t: the directory is not there');
like($err, qr{t\.conf:1:16: .*\Q$dir\E/nowhere}, '... where');
SKIP: {
	skip('root may write anywhere', 1) if $> == 0;
	chmod(0555, $spool);
	(undef, undef, $err) = check($spool);
	like($err, qr/spool \Q$spool\E.*cannot be written to/,
	    '-t: the directory cannot be written to');
}

done_testing();
