#!/usr/bin/perl
# Servers that go before they have read a request: a GET or HEAD without a body
# is sent again, up to twice, and nothing else is.  What a server has read, or
# has begun to answer, is not sent again.
# A case names its rule: a section of RFC 9110, or a directive (conf).  Cases
# that begin with ... go on with that rule.
# arch: pair
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use Amped qw(await slurp);
use Amped::Applications;
use Amped::Programs;
use IO::Handle;
use IO::Socket::INET;
use IO::Socket::UNIX;
use POSIX ();
use Test::More;

Amped::needs_many_clients(8);

my $programs = Amped::Programs->new('run/' => '');
my $dir = $programs->dir;

# Whether all of a request of FastCGI is there: the end of its body is.
sub is_whole {
	my ($all) = @_;
	my $at = 0;

	while (length($all) >= $at + 8) {
		my ($type, $len, $pad) = unpack('xCx2nC', substr($all, $at));

		$at += 8 + $len + $pad;
		return 1 if $type == 5 && $len == 0;
	}
	return 0;
}

# Reads a whole request; the id that answers have, 0 of SCGI.
sub read_request {
	my ($client, $is_scgi) = @_;
	my $all = '';

	until ($is_scgi ? $all =~ /\A(\d+):/ && length($all) >=
	    length($1) + $1 + 2 : is_whole($all)) {
		sysread($client, $all, 65536, length($all)) or return 0;
	}
	return $is_scgi ? 0 : unpack('x2n', $all);
}

sub record {
	my ($id, $type, $content) = @_;

	return pack('CCnnCC', 1, $type, $id, length($content), 0, 0) . $content;
}

# What a server does with a connection, by a letter:
#	c	closes at once
#	p	closes when it has read eight bytes
#	r	closes when it has read all
#	h	the same, behind a part of the head of an answer
#	s	the same, behind a line of standard error
#	.	answers
sub serve_one {
	my ($client, $name, $letter) = @_;
	my $is_scgi = $name =~ /scgi/;
	my $answer = "Content-Type: text/plain\n\n" .
	    ($letter eq '.' ? "yes\n" : '');

	sysread($client, my $part, 8) if $letter eq 'p';
	return if $letter =~ /[cp]/;
	my $id = read_request($client, $is_scgi);
	$answer = substr($answer, 0, 9) if $letter eq 'h';
	$answer = $letter eq 's' ? record($id, 7, "oh\n") :
	    record($id, 6, $answer) . ($letter eq '.' ? record($id, 6, '') .
	    record($id, 3, pack('NCx3', 0, 0)) : '') unless $is_scgi;
	syswrite($client, $answer) unless $letter eq 'r';
}

my (%where, %pid, %orders, %news);

# Serves until it is killed: with each connection does what it was told, and
# tells that.
sub serve {
	my ($name, $socket, $order, $tell) = @_;

	$SIG{PIPE} = 'IGNORE';
	alarm(Amped::Programs::LIFE);
	$order->blocking(0);
	while (my $client = $socket->accept) {
		my $letter = '.';

		sysread($order, $letter, 1) or $letter = '.';
		syswrite($tell, $letter);
		serve_one($client, $name, $letter);
		close($client);
	}
}

sub start_server {
	my ($name) = @_;
	my ($file) = $where{$name} =~ /^unix:(.*)/;

	unlink($file) if defined($file);
	my $socket = (defined($file) ?
	    IO::Socket::UNIX->new(Local => $file, Listen => 64) :
	    IO::Socket::INET->new(LocalAddr => $where{$name}, Listen => 64,
	    ReuseAddr => 1)) // die "$where{$name}: $!\n";
	chmod(0666, $file) if defined($file);
	pipe(my $order, $orders{$name}) or die "pipe: $!\n";
	pipe($news{$name}, my $tell) or die "pipe: $!\n";
	$orders{$name}->autoflush;
	$news{$name}->blocking(0);
	$pid{$name} = fork() // die "fork: $!\n";
	return if $pid{$name};
	serve($name, $socket, $order, $tell);
	POSIX::_exit(0);
}

sub stop_server {
	my ($name) = @_;

	kill('KILL', $pid{$name});
	waitpid(delete($pid{$name}), 0);
}

my %servers = (unix => ['unix'], tcp => ['tcp'], scgi => ['scgi'],
    two => ['first', 'second']);
for my $name (map { @$_ } values(%servers)) {
	$where{$name} = Amped::Applications::place($name eq 'tcp' ? 'tcp' :
	    'unix', "$dir/run", $name);
	start_server($name);
}
my $own = $$;
END {
	local $?;
	stop_server($_) for $$ == $own ? keys(%pid) : ();
}
my $server = $programs->start(others => join('', map { my $name = $_;
    "program $name {\n" . join('', map { "\t" . ($name eq 'scgi' ? 'scgi' :
    'fastcgi') . " $where{$_}\n" } @{$servers{$name}}) .
    "\twithin 60s\n}\n" } sort keys %servers), site => join('', map {
    "\tpath /$_ { run $_; body 1M }\n" } sort keys %servers));

# What a server has been asked since.
sub news {
	my ($name) = @_;

	sysread($news{$name}, my $letters, 4096);
	return $letters // '';
}

# Asks once, when a server has been told what to do: the status, and what it has
# done.
sub try {
	my ($name, $letters, %opt) = @_;

	print { $orders{$name} } $letters;
	my $answer = $programs->get("/$name", %opt);
	return "$answer->{status} " . news($name) . " $answer->{then}";
}

for my $name (qw(unix tcp scgi)) {
	is(try($name, ''), '200 . open', "9110 9.2.2: $name: a server answers");
	is(try($name, 'c'), '200 c. open', '... and where it closes at once, '
	    . 'when it is asked again');
	is(try($name, 'p'), '200 p. open', '... as where it has read a part');
	is(try($name, 'cp'), '200 cp. open', '... or goes twice');
	is(try($name, 'c', method => 'HEAD'), '200 c. open', '... HEAD, too');
	is(try($name, 'cpc'), '502 cpc open', '... but not a third time');
	is(try($name, 'r'), '502 r open', '9110 9.2.2: what it has read is not sent again');
	is(try($name, 'h'), '502 h open', '... nor what it has begun to answer')
	    unless $name eq 'scgi';
	is(try($name, 's'), '502 s open', '... or has complained of')
	    unless $name eq 'scgi';
	my $good = grep { try($name, 'c') eq '200 c. open' } 1 .. 20;
	is($good, 20, '9110 9.2.2: each of many is sent again');
}
for my $case (['a POST', method => 'POST', body => 'abc'], ['an empty POST',
    method => 'POST', body => ''], ['a DELETE', method => 'DELETE'],
    ['a GET with a body', body => 'abc']) {
	my ($what, %opt) = @$case;

	is(try('unix', 'c', %opt), '502 c open', "9110 9.2.2: $what is not sent again");
}

# Where there are several servers, another one gets it.
print { $orders{first} } 'c';
my $answer = $programs->get('/two');
is("$answer->{status} " . news('first') . ' ' . news('second'), '200 c .',
    'conf fastcgi: another server gets what is sent again');

# One that is restarted resets what it has not accepted.
for my $round (1 .. 3) {
	kill('STOP', $pid{unix});
	my $client = $programs->ask('/unix');

	await('a connection', sub { 2 <= grep { m{ \Q$dir\E/run/unix$} }
	    split(/\n/, slurp('/proc/net/unix')) });
	stop_server('unix');
	start_server('unix');
	is($client->response->{body}, "yes\n",
	    "9110 9.2.2: a restart loses no request ($round)");
}

$server->stop;
done_testing();
