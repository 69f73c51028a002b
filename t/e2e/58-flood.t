#!/usr/bin/perl
# A flood of wrong passwords, each of some ten milliseconds, locks out nobody
# whose password is right: neither from elsewhere nor from the address that it
# comes from; and who has been let in stays in.
# arch: all
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use Amped qw(await docroot write_file);
use IO::Select;
use MIME::Base64 qw(encode_base64);
use POSIX ();
use Test::More;
use Time::HiRes qw(time);

my $FLOOD = 14;			# connections, more than verify has slots
my $DISK = 20;			# seconds that a request may wait
my $KEEP = 0.4;
Amped::needs_many_clients(2 * $FLOOD);

my $passwords = docroot() . '/passwords';

sub entry {
	my ($user, $password) = @_;

	return "$user:" . crypt($password, '$2y$08$' . 'saltsaltsaltsaltsaltsa') .
	    "\n";
}

sub field {
	return 'Authorization: Basic ' . encode_base64(join(':', @_), '');
}

my @users = map { "user$_" } 1 .. 4;
my $entries = join('', map { entry($_, "of $_") } @users);
write_file($passwords, $entries . entry('anna', 'old'));
my $server = Amped->start(files => { 'a.txt' => "a\n" }, errors => 1,
    site => "auth Members $passwords", global => "limits {\n\tdisk ${DISK}s\n" .
    "}\ncache {\n\tlogins keep " . 1000 * $KEEP . "ms\n}");

# In a process of its own, until its standard input ends; then it says which
# statuses it has got.
sub flood {
	my %of = map { $_->socket => $_ } map { $server->connect } 1 .. $FLOOD;
	my $sockets = IO::Select->new(\*STDIN, map { $_->socket } values %of);
	my (%statuses, $n);
	my $ask = sub {
		$_[0]->send("GET /a.txt HTTP/1.1\r\nHost: x\r\n" .
		    field('anna', 'wrong ' . ++$n) . "\r\n\r\n");
	};

	$ask->($_) for values %of;
	while (1) {
		for my $socket ($sockets->can_read) {
			my $client = $of{$socket};
			return \%statuses unless defined($client);
			$statuses{$client->response->{status}}++;
			$ask->($client);
		}
	}
}

sub status {
	my ($client, @who) = @_;

	$client->send("GET /a.txt HTTP/1.1\r\nHost: x\r\n" . field(@who) .
	    "\r\n\r\n");
	return $client->response->{status};
}

my $member = $server->connect;
is(status($member, 'anna', 'old'), 200, 'one comes before the flood');

pipe(my $until, my $end) or die "pipe: $!\n";
my $flood = open(my $said, '-|') // die "fork: $!\n";
if ($flood == 0) {
	close($end);
	open(STDIN, '<&', $until) or die "dup: $!\n";
	my $statuses = flood();
	print join(' ', map { "$_:$statuses->{$_}" } sort keys %$statuses);
	close(STDOUT);
	POSIX::_exit(0);
}
close($until);
await('the flood', sub {
	my @wrong = $server->errors =~ /authentication failed/g;
	return @wrong > $FLOOD;
});

# One after the other, each for the first time.
my %slowest;
for my $user (@users) {
	my $from = $user =~ /[13]$/ ? '127.0.0.2' : '127.0.0.1';
	my $begun = time;
	my $client = $server->connect(from => $from);

	is(status($client, $user, "of $user"), 200,
	    "$user is let in from $from");
	my $took = time - $begun;
	$slowest{$from} = $took if $took > ($slowest{$from} // 0);
}
cmp_ok($slowest{$_}, '<', $DISK, "in time from $_") for sort keys %slowest;

# All the time, and over its end several times.
my %seen;
my $begun = time;
while (time < $begun + 4 * $KEEP) {
	$seen{status($member, 'anna', 'old')}++;
	select(undef, undef, undef, 0.02);
}
is(join(' ', keys %seen), 200, 'who was let in stays in');

# But not with a password that has been changed.
write_file("$passwords.new", $entries . entry('anna', 'new'));
rename("$passwords.new", $passwords) or die "rename: $!\n";
await('the old password to be refused',
    sub { return status($member, 'anna', 'old') == 401 });
pass('a password that was changed is refused');
is(status($member, 'anna', 'new'), 200, 'the new one is not');

close($end);
like(scalar(<$said>), qr/^401:\d+$/, 'the flood was told that it is wrong');
waitpid($flood, 0);

# What crypt(3) cannot take is wrong, and no fault of the file.
for my $length (511, 512, 513, 760) {
	is(status($member, 'anna', 'x' x $length), 401,
	    "a password of $length bytes");
}
$server->stop;
unlike($server->errors, qr/crypt\(3\)/, 'nothing is blamed on the file');

done_testing();
