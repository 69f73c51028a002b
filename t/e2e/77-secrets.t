#!/usr/bin/perl
# Passwords and their hashes: that nothing of them is left in anybody's memory
# when the request is over.
# arch: pair
# plain: a sanitizer keeps what has been freed
use strict;
use warnings;
no warnings 'portable';		# addresses

use FindBin;
use lib "$FindBin::Bin/../lib";
use Amped qw(await docroot slurp);
use MIME::Base64 qw(encode_base64);
use Test::More;

Amped::one_main();

plan(skip_all => 'only root may look into processes') if $> != 0;
plan(skip_all => 'there is no /proc/PID/mem') unless -e "/proc/$$/mem";
plan(skip_all => 'a sanitizer keeps what has been freed')
    if slurp(Amped::program()) =~ /__[at]san_init/;

my $password = 'The quick brown password 4711';
my $hash = crypt($password, '$6$ampedsalt$');
my $coded = encode_base64("user:$password", '');
my $wrong = encode_base64("user:another $password", '');
my $third = encode_base64("user:a third $password", '');
my $marker = 'something that may stay there';
my %secrets = ('the password' => $password, 'its code' => $coded,
    'its code, in part' => substr($coded, 12), 'its hash' => $hash,
    'a wrong one' => substr($wrong, 12), 'a third one' => substr($third, 12));
my $root = docroot('open' => "open\n", 'inner/page' => "inner\n",
    'passwords' => "user:$hash\n");
my $server = Amped->start(root => $root, site => "\tpath /inner {\n" .
    "\t\tauth realm $root/passwords\n\t}\n");
my $login = "Host: x\r\nAuthorization: Basic $coded\r\n";

# Whether a process has it in memory that can be written to.
sub remembers {
	my ($pid, $text) = @_;
	my $found = 0;

	open(my $mem, '<:raw', "/proc/$pid/mem") or die "mem of $pid: $!\n";
	for my $line (split(/\n/, slurp("/proc/$pid/maps"))) {
		my ($from, $to, $shared) =
		    $line =~ /^([0-9a-f]+)-([0-9a-f]+) rw.(.)/ or next;
		my $size = hex($to) - hex($from);

		sysseek($mem, hex($from), 0) or next;
		my $n = sysread($mem, my $bytes, $size) // 0;
		$found++ if $n > 0 && index($bytes, $text) >= 0;
	}
	return $found;
}

sub check {
	my ($after) = @_;
	my @left;

	# The response may be here before main is done with the request.
	eval { await('nothing to be left', sub { !(@left = leftovers()) }) };
	is(join(', ', @left), '', "$after: nothing is left");
}

sub leftovers {
	my @left;

	for my $process (grep { $_->{title} =~ /main|\bhelper/ }
	    $server->processes) {
		push(@left, map { "$process->{title}: $_" }
		    grep { remembers($process->{pid}, $secrets{$_}) }
		    sort keys %secrets);
	}
	return @left;
}

my $client = $server->connect;
my ($main) = $server->role('main');

# That it would be found: of a request that has not come to its end.
$client->send("GET /open HTTP/1.1\r\nHost: x\r\n\r\n");
is($client->response->{status}, 200, 'an open page');
$client->send("GET /open HTTP/1.1\r\nHost: x\r\nX-Marker: $marker\r\n");
await('what was sent to be there', sub { remembers($main, $marker) });
pass('what was sent is found as long as it is needed');
$client->send("\r\n");
is($client->response->{status}, 200, 'then it is answered');

$client->send("GET /inner/page HTTP/1.1\r\n$login\r\n");
is($client->response->{body}, "inner\n", 'let in, after a look');
check('verified');
$client->send("GET /inner/page HTTP/1.1\r\n$login\r\n");
is($client->response->{body}, "inner\n", 'let in, since it is known');
check('remembered');
$client->send("GET /open HTTP/1.1\r\n$login\r\n");
is($client->response->{status}, 200, 'where none is asked for');
check('not asked for');
$client->send("GET /inner/page HTTP/1.1\r\nHost: x\r\n" .
    "Authorization: Basic $wrong\r\n\r\n");
is($client->response->{status}, 401, 'a wrong one');
check('wrong');
$client->send("GET /inner/page HTTP/1.1\r\n$login" .
    "Content-Length: 3000\r\n\r\n" . ('b' x 3000));
is($client->response->{status}, 200, 'with a body');
check('with a body');
$client->send("GET /inner/page HTTP/1.1\r\nHost: x\r\n" .
    "Authorization: Basic $third\r\n" .
    "Content-Length: 3000\r\n\r\n" . ('b' x 3000));
is($client->response->{status}, 401, 'with a body, after a look');
check('with a body, after a look');
$client->send("GET /inner/page HTTP/1.1\r\n$login\r\n" x 5 .
    "GET /open HTTP/1.1\r\nHost: x\r\n\r\n");
is($client->response->{status}, 200, 'a pipeline') for 1 .. 6;
check('a pipeline');

# In parts that grow beyond what is kept at first, then the end of it.
for my $whole (1, 0) {
	my $head = "GET /inner/page HTTP/1.1\r\n$login" .
	    join('', map { "X-$_: " . ('x' x 500) . "\r\n" } 1 .. 20);
	my $other = $server->connect;
	my $first = index($head, $coded) + 20;

	for my $part (substr($head, 0, $first), substr($head, $first)) {
		$other->send($part);
		# Until it has been taken in.
		await('its input', sub { remembers($main,
		    substr($part, -18, 16)) });
	}
	if ($whole) {
		$other->send("\r\n");
		is($other->response->{status}, 200, 'in parts');
	} else {
		$other->close;
		await('its end', sub { !remembers($main, $coded) });
	}
	check($whole ? 'in parts' : 'cut off');
}
$server->stop;

done_testing();
