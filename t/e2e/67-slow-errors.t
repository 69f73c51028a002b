#!/usr/bin/perl
# An error log that is not read, or on a file system that does not answer, holds
# up nobody, and least the monitor; lines are lost whole, counted and told.
# arch: one: the error logger writes the error log
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use Amped qw(await docroot free_port said slurp write_file);
use Amped::Slowfs;
use Fcntl qw(O_NONBLOCK O_RDONLY);
use POSIX qw(mkfifo);
use Test::More;

Amped::one_main();

my $root = docroot('page' => "page\n", 'cold' => "cold\n");
my $form = qr{\A\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[+-]\d{4}
    \ \w[\w ]*\[\d+\]\ (error|warn|notice|info|debug):\ .+\z}x;

# Lines of about 1 KiB: more than all pipes and buffers on the way take.
my $many = 3000;
my $long = 'x' x 1400;

my ($fifo, $reader, $text);

# A server whose standard error is a pipe that nobody reads yet.
sub start {
	my (%opt) = @_;
	my $port = free_port();

	$fifo = docroot() . '/fifo';
	mkfifo($fifo, 0666) or die "mkfifo: $!\n";
	sysopen($reader, $fifo, O_RDONLY | O_NONBLOCK) or die "fifo: $!\n";
	$text = '';
	my $server = Amped->start(root => $root, err => $fifo, unready => 1,
	    errors => 1, log => "\taccess off\n\terror stderr debug\n",
	    sites => "site default {\n\tlisten 127.0.0.1:$port\n\t" .
	    "root $root\n" . ($opt{site} // '') . "}\n");
	$server->{ports} = [$port];
	await('it to serve', sub { eval { $server->connect } });
	forget_conf($server);
	return $server;
}

# At HUP the monitor has something to say then.
sub forget_conf {
	my ($server) = @_;

	unlink("$server->{dir}/amped.conf") or die "no conf: $!\n";
}

# What has been said meanwhile.
sub drain {
	while (sysread($reader, $text, 65536, length($text))) { }
	return $text;
}

# Main has so many refusals to tell, by number.
sub refuse {
	my ($server, $n) = @_;
	my $client = $server->connect;
	my $good = 0;

	for my $i (1 .. $n) {
		$client->send("GET /no-$i-$long HTTP/1.1\r\nHost: x\r\n\r\n");
		my $answer = $client->response // last;
		$good += $answer->{status} == 404;
	}
	return $good;
}

sub another_main {
	my ($server) = @_;
	my ($old) = $server->kill_role('KILL', 'main');

	await('another main', sub {
		my @main = $server->role('main');
		return @main == 1 && $main[0] != $old;
	});
	return $server->get('/page')->{body};
}

# The rest of it as a file, as the server's keeper wants it.
sub stop {
	my ($server, $n) = @_;

	is(eval { $server->reap }, 0, 'the monitor ends, and well');
	drain();
	$server->{err} = "$server->{dir}/err";
	write_file($server->{err}, $text);
	$server->stop;
}

# A pipe that is not read, and then is.
my $server = start();
is(refuse($server, $many), $many, 'a pipe that nobody reads: served');
kill('HUP', $server->{pid});
is(another_main($server), "page\n", 'HUP, main killed: the next one serves');
$server->kill_role('STOP', 'main');	# says nothing meanwhile
await('the count', sub {
	drain() =~ /(\d+) lines? of the error log (?:was|were) lost/ });
my ($lost) = $text =~ /(\d+) lines? of the error log (?:was|were) lost/;
my @lines = split(/\n/, said($text), -1);
is(pop(@lines), '', 'ends with a line');
is_deeply([grep { $_ !~ $form } @lines], [], 'no line is torn');
my @told = map { m{/no-(\d+)-} } @lines;
is_deeply(\@told, [sort { $a <=> $b } @told], 'they are in order');
cmp_ok($lost, '>', 0, "$lost were lost, " . @told . ' were not');
my $sum = $lost + @told;
# Theirs, and what else was said.
cmp_ok($sum, '>=', $many, 'each is there or counted');
cmp_ok($sum, '<=', $many + 20, 'none is counted twice');
$server->kill_role('CONT', 'main');
is(another_main($server), "page\n", 'main killed again');
await('a word of it', sub { drain() =~ /lost.*main was killed by signal 9/s });
pass('what the monitor says about it is in the log');

# The error logger killed: what has been said is for the next one.
$server->kill_role('KILL', 'error log');
kill('HUP', $server->{pid});
await('the next one', sub {
	drain() =~ /error logger \d+ was killed by signal 9/ && 
	    $text =~ /the conf in force stays/;
});
pass('another error logger takes over');
kill('TERM', $server->{pid});
stop($server);
like($text, qr/notice: stopping/, 'the last words are there');

# Not read at the end either.
for my $signal ('TERM', 'QUIT') {
	$server = start();
	is(refuse($server, $many), $many, 'a pipe that nobody reads: served');
	kill($signal, $server->{pid});
	is(eval { $server->reap }, 0, "$signal: the monitor ends");
	ok($server->wait_nothing_left, 'and all others');
	stop($server);
}

# The monitor killed, with an error logger that waits.
$server = start();
is(refuse($server, $many), $many, 'a pipe that nobody reads: served');
kill('KILL', $server->{pid});
is($server->reap & 127, 9, 'the monitor is killed');
SKIP: {
	skip('TSan keeps signals back from who waits', 1)
	    if slurp(Amped::program()) =~ /__tsan_init/;
	ok($server->wait_nothing_left, 'nobody stays behind');
}
$server->discard;

# Whoever looks for users complains of each.
SKIP: {
	my $library = Amped::copy_for_all('t/lib/passwd.so');
	my $uid = $> == 0 ? 20001 : $>;
	my $home = docroot('passwd' => '', 'joe/www/page' => "joe's\n");

	skip('there is no passwd.so: make tests', 5) unless $library;
	chown($uid, -1, "$home/joe", "$home/joe/www", "$home/joe/www/page")
	    if $> == 0;
	write_file("$home/passwd", "joe $uid $home/joe\n");
	local $ENV{AMPED_TEST_PASSWD} = "$home/passwd";
	local $ENV{AMPED_TEST_COMPLAINTS} = $many;
	local $ENV{LD_PRELOAD} = $library;
	local $ENV{ASAN_OPTIONS} = join(':', $ENV{ASAN_OPTIONS} // (),
	    'verify_asan_link_order=0');
	$server = start(site => "\tusers www from $uid\n");
	is($server->get('/~joe/page')->{body}, "joe's\n",
	    'who has to complain goes on');
	is($server->get('/cold')->{body}, "cold\n", 'for all');
	kill('TERM', $server->{pid});
	stop($server);
}

# A file system that does not answer, with both logs.
SKIP: {
	my $missing = Amped::Slowfs::missing();
	my ($from, $at) = (docroot('access.log' => '', 'error.log' => ''),
	    docroot());

	skip($missing, 11) if $missing;
	my $fs = Amped::Slowfs->new($from, $at);
	$server = Amped->start(root => $root, errors => 1, unready => 1,
	    log => "\taccess $at/access.log common\n\terror $at/error.log info",
	    sites => "site default {\n\tlisten 127.0.0.1:" .
	    (my $port = free_port()) . "\n\troot $root\n}\n");
	$server->{ports} = [$port];
	$server->wait_line(qr/ready/, "$from/error.log");
	forget_conf($server);
	is($server->get('/page?before')->{body}, "page\n", 'it answers');
	$server->wait_line(qr/\?before /, "$from/access.log");
	$fs->hold('all');
	kill('HUP', $server->{pid});
	$fs->wait_held;
	is(refuse($server, $many), $many, 'dead: served');
	is(another_main($server), "page\n", 'main killed: the next one serves');
	kill('KILL', $server->role('helper'));
	is($server->get('/cold')->{body}, "cold\n", 'helpers killed: cold files');
	$fs->release;
	$server->wait_line(qr/the conf in force stays/,
	    "$from/error.log");
	pass('back: what there was room for is written');
	$server->wait_line(qr/lines? of the error log (?:was|were) lost/,
	    "$from/error.log");
	is_deeply([grep { $_ !~ $form } split(/\n/,
	    said(slurp("$from/error.log")))], [], 'and what was lost is told');

	$fs->hold('all');
	kill('HUP', $server->{pid});
	$fs->wait_held;
	kill('KILL', $server->role('main'));
	await('nothing to come of it', sub { $server->role('main') });
	is($server->get('/page?dead')->{body}, "page\n", 'dead again: served');
	kill('TERM', $server->{pid});
	is(eval { $server->reap }, 0, 'dead: the monitor ends');
	ok(!IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => $port),
	    'and nobody has its port');
	$fs->release;
	ok($server->wait_nothing_left, 'back: nobody is left');
	$server->stop;
}

done_testing();
