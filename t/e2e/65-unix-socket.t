#!/usr/bin/perl
# Sockets in the file system: proxies of other projects connect there; the file
# has its mode and owner, stays over a reload and another binary, and goes with
# the server; a stale one is replaced, and nothing else is.
# arch: all
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use Amped qw(await docroot run_amped slurp write_file);
use Amped::Foreign qw(which_program);
use Amped::Proxy;
use IO::Socket::UNIX;
use Test::More;

my $dir = docroot();
my $root = docroot(page => 'page', 'sub/index.html' => 'sub');
my ($first, $second) = ("$dir/first", "$dir/second");
my $n = 0;

# A worker that has one client must have another one for the next.
my $global = (Amped::architecture() =~ /\Am[pt]\z/ ? "workers 8\n" : '') .
    "trust unix:\n";

sub site {
	return "site default {\n\tlisten @_\n\troot $root\n" .
	    "\tpath /sub { deny 127.0.0.66 }\n}\n";
}

sub mode_of { return sprintf('%04o', (stat($_[0]))[2] & 07777) }

# The head of the answer to a request without a proxy; undef: nobody listens.
sub ask {
	my ($file, @fields) = @_;
	my $client = IO::Socket::UNIX->new(Peer => $file) // return;

	print $client join("\r\n", 'GET /page?' . ++$n . ' HTTP/1.1',
	    'Host: x', @fields, 'Connection: close', '', '');
	local $/;
	return <$client> =~ s/\r\n\r\n.*//sr;
}

sub client_of {
	my ($server, $target) = @_;
	my ($client) = $server->wait_line(qr/"GET \Q$target\E /,
	    $server->{access}) =~ /^(\S+)/;

	return $client;
}

sub serve { return Amped->start(global => $global, unready => 1, @_) }

sub ready {
	my ($server, $file) = @_;

	$server->wait_line(qr/ready: .* on unix:\Q$file\E$/);
	return $server;
}

my $server = ready(serve(sites => site("unix:$first mode 0666")), $first);
ok(-S $first, 'there is a socket');
is(mode_of($first), '0666', '... of the mode that the conf says');
like(ask($first), qr/\A\S+ 200 /, '... that answers');
is(client_of($server, "/page?$n"), 'unix:', '... a client without address');
ask($first, 'X-Forwarded-For: 127.0.0.5');
is(client_of($server, "/page?$n"), '127.0.0.5', '... or one that it names');

for my $program (qw(haproxy nginx caddy)) {
	SKIP: {
		skip("there is no $program", 1) unless which_program($program);
		my $proxy = Amped::Proxy->start($program, to => "unix:$first");
		my $target = '/page?' . ++$n;
		is($proxy->get($target, from => '127.0.0.5', fields =>
		    ['X-Forwarded-For: 127.0.0.9'])->{body}, 'page',
		    "$program: a page");
		is(client_of($server, $target), '127.0.0.5',
		    '... for its client');
		is($proxy->get('/sub/', from => '127.0.0.66')->{status}, 403,
		    '... not for another one');
		$proxy->stop;
	}
}

# Another server must not take it; nor does one replace what is no socket.
write_file("$dir/file", 'kept');
for my $case ([$first, qr/cannot listen on unix:\Q$first\E: another program/],
    ["$dir/file", qr/cannot listen on unix:\S+: the file is no socket/]) {
	my ($file, $line) = @$case;
	write_file("$dir/conf", "log { access off; error stderr }\n" .
	    site("unix:$file"));
	my ($status, undef, $err) = run_amped('-D', '-f', "$dir/conf");
	is($status >> 8, 69, "$file: another server does not start");
	like($err, $line, '... and says why');
}
is(slurp("$dir/file"), 'kept', 'a file stays');
like(ask($first), qr/\A\S+ 200 /, 'the socket is as before');

# A reload: another mode, one more socket; then one less.
sub reload {
	my ($listen) = @_;
	my $before = () = $server->errors =~ /is in force$/mg;

	$server->{sites} = site($listen);
	write_file("$server->{dir}/amped.conf", $server->conf_text);
	kill('HUP', $server->{pid});
	await('a reload', sub {
		(() = $server->errors =~ /is in force$/mg) > $before });
}

my $inode = (stat($first))[1];
reload("unix:$first mode 0600 unix:$second");
is(mode_of($first), '0600', 'a reload sets another mode');
is((stat($first))[1], $inode, '... of the same socket');
is(mode_of($second), '0660', '... and makes another one, of the default mode');
like(ask($_), qr/\A\S+ 200 /, '... which answers') for $first, $second;
reload("unix:$second");
ok(!-e $first, 'a reload removes a socket that the conf has no more');
like(ask($second), qr/\A\S+ 200 /, '... and only that');

# A reload that fails leaves nothing.
$server->{sites} = site("unix:$second unix:$first unix:$dir/no/such");
write_file("$server->{dir}/amped.conf", $server->conf_text);
kill('HUP', $server->{pid});
$server->wait_line(qr/error: the conf in force stays/);
ok(!-e $first, 'a reload that fails leaves no socket');
like(ask($second), qr/\A\S+ 200 /, '... and the other one serves');

# Another binary.
$server->{sites} = site("unix:$second");
write_file("$server->{dir}/amped.conf", $server->conf_text);
$inode = (stat($second))[1];
my $old = $server->{pid};
kill('USR2', $old);
my ($new) = $server->wait_line(qr/process \d+ takes over/) =~
    /process (\d+) takes/;
await('the one before to go', sub { !grep { $_->{pid} == $old }
    $server->processes });
$server->reap;
is((stat($second))[1], $inode, 'another binary keeps the socket');
like(ask($second), qr/\A\S+ 200 /, '... and answers there');
kill('QUIT', $new);
ok($server->wait_nothing_left, '... and ends');
ok(!-e $second, '... without its socket');
$server->discard;

# A server that was killed leaves its file, which the next one replaces.
IO::Socket::UNIX->new(Local => $first, Listen => 1)->close;
ok(-S $first, 'a stale socket');
$server = ready(serve(sites => site("unix:$first")), $first);
like(ask($first), qr/\A\S+ 200 /, '... is replaced');

# What has taken its place is not removed.
rename($first, "$dir/moved") or die "$first: $!\n";
my $other = IO::Socket::UNIX->new(Local => $first, Listen => 1);
$server->stop;
ok(-S $first, 'the socket of another program stays');

# Root follows no link of another user.
SKIP: {
	skip('needs root', 2) if $> != 0;
	my $theirs = docroot('target/' => '');
	my ($uid, $gid) = (getpwnam('nobody'))[2, 3];
	chown($uid, $gid, $theirs);
	symlink("$theirs/target", "$theirs/link");
	system('chown', '-h', "$uid:$gid", "$theirs/link");
	write_file("$dir/conf", "log { access off; error stderr }\n" .
	    site("unix:$theirs/link/s"));
	my ($status, undef, $err) = run_amped('-D', '-f', "$dir/conf");
	is($status >> 8, 69, 'a link of another user is not followed');
	ok(!-e "$theirs/target/s", '... so there is no socket');
}

done_testing();
