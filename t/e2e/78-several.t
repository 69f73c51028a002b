#!/usr/bin/perl
# Three machines with copies of the same files behind HAProxy: conditional
# requests and downloads go on at another machine, and all three are replaced
# under load, one after the other, without losing a request.
# arch: pair
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use Amped qw(await content docroot free_port);
use Amped::Client;
use Amped::Foreign qw(needs_program);
use Amped::Haproxy;
use Amped::Load;
use Test::More;

needs_program('haproxy');
Amped::needs_many_clients(16);

my $size = 1_000_000;
my %files = ('page' => "page\n", 'large' => content('large', $size),
    'm/large' => content('by time', $size),
    'other' => content('other', 5000));
my @names = qw(one two three);
my %port = map { $_ => free_port() } @names;
my $then = 1_000_000_000;
my (%server, %root);

for my $name (@names) {
	$root{$name} = docroot(%files);
	# Of these copies only the bytes agree.
	utime($then + $port{$name}, $then + $port{$name}, "$root{$name}/$_")
	    for qw(page large other);
	utime($then, $then, "$root{$name}/m/large");
}

sub start {
	my ($name) = @_;

	$server{$name} = Amped->start(root => $root{$name},
	    global => 'limits { drain notice 1m }', sites => <<"EOT");
site default {
	listen 127.0.0.1:$port{$name}
	root $root{$name}
	etag content
	header X-Machine $name
	path /m { etag modified }
	path /ready { ready on }
}
EOT
}

start($_) for @names;
my $front = Amped::Haproxy->new(servers => \%port, check => '/ready',
    inter => 100, fall => 2);
$front->await_status($_, 'UP') for @names;

# Asks HAProxy, on a new connection each time.
sub ask {
	my ($target, @fields) = @_;

	return $server{one}->get($target, port => $front->port,
	    fields => \@fields);
}

# The answers of all machines.  Their files are new, so tags may be weak for a
# moment.
sub ask_all {
	my ($target, @fields) = @_;

	return await("all for $target", sub {
		my %by = map { ($_->{field}{'x-machine'} // '' => $_) }
		    map { ask($target, @fields) } 1 .. 6;
		return undef if grep { !$by{$_} || ($by{$_}{field}{etag} //
		    '"') !~ /^"/ } @names;
		return [@by{@names}];
	});
}

for my $target ('/large', '/m/large') {
	my $file = $files{substr($target, 1)};
	my @tags = map { $_->{field}{etag} } @{ask_all($target)};

	is_deeply(\@tags, [($tags[0]) x 3], "$target: all have one tag");
	is_deeply([map { $_->{status} } @{ask_all($target,
	    "If-None-Match: $tags[0]")}], [(304) x 3], 'and know it');
	my ($all, %machines, @wrong) = ('');
	while (length($all) < $size) {
		my $part = ask($target, "If-Range: $tags[0]", 'Range: bytes=' .
		    length($all) . '-' . (length($all) + 49_999));

		push(@wrong, $part->{status}) if $part->{status} != 206;
		$machines{$part->{field}{'x-machine'} // ''}++;
		$all .= $part->{body};
		last if @wrong;
	}
	is("@wrong", '', 'each part comes');
	ok($all eq $file, 'they are the file');
	is(scalar(keys %machines), 3, 'each machine has sent some');
}

# A rolling upgrade under load.
my $load = Amped::Load->new(port => $front->port, clients => 6, pause => 1,
    stay => 50, targets => { map { ("/$_" => $files{$_}) }
    qw(page other large) });
for my $name (@names) {
	my $old = $server{$name};

	kill('QUIT', $old->{pid});
	$front->await_status($name, 'DOWN');
	# The second signal ends the notice, which a clock would end else.
	is($old->get('/page')->{status}, 200, "$name has been left, not closed");
	ok($old->stop('QUIT'), "$name has ended");
	start($name);
	$front->await_status($name, 'UP');
}
# And where it stands: a new binary takes over the sockets.
for my $name (@names) {
	my $server = $server{$name};
	my ($monitor) = $server->role('monitor');

	kill('USR2', $monitor);
	$server->wait_line(qr/takes over/);
	await('the new monitor alone', sub {
		my @now = $server->role('monitor');
		return @now == 1 && $now[0] != $monitor;
	});
	like($front->status($name), qr{^UP\b}, "$name stays up");
}
my ($right, @wrong) = $load->stop;
is(join("\n", @wrong), '', 'no request is lost');
cmp_ok($right, '>', 100, 'of many');
note("$right requests");
for my $name (@names) {
	$front->await_status($name, 'UP');
	my ($monitor) = $server{$name}->role('monitor');

	kill('TERM', $monitor);
	ok($server{$name}->wait_nothing_left, "$name ends");
	is(join("\n", $server{$name}->complaints), '', 'without complaints');
	$server{$name}->discard;
}
done_testing();
