#!/usr/bin/env perl
#
# Tests of workers with one client at a time: so many clients at once, turns
# where there are more, and nobody who loses anything by that.
# arch: all
#
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use Amped qw(await content docroot run_amped slurp write_file);
use Amped::Client;
use Amped::Load;
use Amped::Slowfs;
use Test::More;

$SIG{PIPE} = 'IGNORE';

my $large = content('large', 12_000_000);
my %files = (a => "content of a\n", large => $large,
    map { ("f$_" => content("f$_", 100 * $_)) } 1 .. 9);
my $get = "GET /a HTTP/1.1\r\nHost: x\r\n\r\n";

plan(skip_all => 'there a worker has many clients')
    unless Amped::architecture() =~ /^m[pt]\z/;
my $arch = Amped::architecture();

sub start {
	my ($workers, %opt) = @_;

	return Amped->start(files => \%files, global => "workers $workers\n" .
	    ($opt{global} // ''), site => $opt{site});
}

# Clients that take their time for a large file.
sub slow {
	my ($server, $n) = @_;
	my @slow = map { $server->connect(window => 4096) } 1 .. $n;

	$_->send("GET /large HTTP/1.1\r\nHost: x\r\n\r\n") for @slow;
	$_->want(1000) for @slow;
	return @slow;
}

# Clients that have been answered, and stay.
sub idle {
	my ($server, $n) = @_;

	return map {
		my $client = $server->connect;
		$client->send($get);
		is($client->response->{body}, $files{a}, 'one that stays');
		$client;
	} 1 .. $n;
}

subtest 'how many there are' => sub {
	my $dir = docroot(%files);
	my $site = "site default {\n\tlisten 127.0.0.1:0\n\troot $dir\n}\n";
	my %said = ('' => 32, "workers 5\n" => 5,
	    "limits { connections 7 }\n" => 7);

	for my $says (sort keys %said) {
		write_file("$dir/conf", "$says$site");
		my ($status, $out) = run_amped('-T', '-A', $arch, '-f',
		    "$dir/conf");
		is($status, 0, 'it is a conf');
		like($out, qr/^workers +$said{$says} /m, 'so many');
	}
	my ($status, undef, $err) = run_amped('-t', '-A', $arch, '-f',
	    "$dir/conf");
	is($status, 0, 'a warning is no mistake');
	like($err, qr/warn: architecture $arch, workers 5: no more clients/,
	    'that there cannot be more clients is worth a warning');
	unlike($err, qr/connections/, 'as many connections as workers are not');
	write_file("$dir/conf", "workers 2\nlimits { connections 3 }\n$site");
	(undef, undef, $err) = run_amped('-t', '-A', $arch, '-f', "$dir/conf");
	like($err, qr/connections 3 \} cannot be reached: workers is 2/,
	    'more of them are');
	(undef, undef, $err) = run_amped('-t', '-A', 'sped', '-f',
	    "$dir/conf");
	like($err, qr/warn: architecture sped, workers 2: a disk/,
	    'that of another architecture');
	(undef, undef, $err) = run_amped('-t', '-A', 'amped', '-f',
	    "$dir/conf");
	unlike($err, qr/warn/, 'and none of the first');
};

subtest 'slow clients' => sub {
	my $server = start(3);
	my @slow = slow($server, 2);

	is(scalar($server->role('main')), $arch eq 'mp' ? 3 : 1,
	    'a process for each, or one for all');
	is($server->get('/a')->{body}, $files{a}, 'beside them one is free');
	push(@slow, slow($server, 1));
	my ($fourth) = $server->ask('/a');
	ok($fourth->quiet, 'when none is, the next one waits');
	ok($slow[0]->response->{body} eq $large, 'until one has all');
	is($fourth->response->{body}, $files{a}, 'and is served');
	ok($_->response->{body} eq $large, 'as are the others')
	    for @slow[1, 2];
	$server->stop;
};

subtest 'idle clients' => sub {
	my $server = start(3);
	my @idle = idle($server, 2);

	is(scalar(grep { $server->get('/a')->{body} eq $files{a} } 1 .. 50),
	    50, 'who comes is served by who is free');
	$_->send($get) for @idle;
	is(scalar(grep { ($_->response // {})->{body} eq $files{a} } @idle),
	    2, 'and nobody made room');
	push(@idle, idle($server, 1));
	my $next = $server->get('/a');
	is($next->{body}, $files{a}, 'when none is, one makes room');
	$_->send($get) for @idle;
	is(scalar(grep { defined(eval { $_->response }) } @idle), 2,
	    'one, and no more');
	$server->stop;
};

# Each asks without pause, and keeps its connection as long as it may.
subtest 'turns' => sub {
	my $server = start(3);
	my $load = Amped::Load->new(port => $server->port, clients => 12,
	    stay => 1_000_000,
	    targets => { map { ("/$_" => $files{$_}) } grep { /f/ }
	    keys %files });
	my %from;

	await('each to have had a turn', sub {
		%from = map { /"GET \S+\?(\d+)\./ ? ($1 => 1) : () }
		    split(/\n/, slurp($server->{access}));
		return keys(%from) == 12;
	});
	my ($right, @wrong) = $load->stop;
	is_deeply(\@wrong, [], 'nobody loses anything');
	cmp_ok($right, '>=', 12, 'all are served');
	$server->stop;
};

subtest 'an end' => sub {
	my $server = start(2);
	my @slow = slow($server, 2);
	my @outside = $server->ask(('/a') x 20);

	ok($outside[$_]->quiet, 'who is outside waits') for 0, 19;
	kill('QUIT', $server->{pid});
	is(scalar(grep { ($_->response // {})->{body} eq $files{a} } @outside),
	    20, 'QUIT: whoever has come is answered');
	ok($_->response->{body} eq $large, 'as is what was under way')
	    for @slow;
	is($server->reap, 0, 'then it ends');
	$server->stop;
};

# More clients than processes, before and after.
subtest 'another conf' => sub {
	my $server = start(3);
	my $conf = "$server->{dir}/amped.conf";
	my @load = map { Amped::Load->new(port => $server->port, clients => 4,
	    stay => $_, targets => { '/a' => $files{a} }) } 1, 1_000_000;

	for my $n (5, 2) {
		my ($before) = $server->role('main');
		write_file($conf, slurp($conf) =~ s/^workers \d+/workers $n/mr);
		kill('HUP', $server->{pid});
		await('so many processes, or another one', sub {
			my @now = $server->role('main');
			return $arch eq 'mp' ? @now == $n :
			    @now == 1 && $now[0] != $before;
		});
	}
	my @wrong = map { my ($right, @bad) = $_->stop;
	    cmp_ok($right, '>', 0, 'clients are served'); @bad } @load;
	is_deeply(\@wrong, [], 'nobody notices');
	$server->stop;
};

subtest 'one that dies' => sub {
	plan(skip_all => 'a thread does not die alone') if $arch ne 'mp';
	my $server = Amped->start(files => \%files, global => 'workers 3',
	    errors => 1);
	my @slow = slow($server, 2);
	my @before = $server->role('main');

	kill('KILL', $before[0]);
	await('another one', sub {
		my %now = map { $_ => 1 } $server->role('main');
		return keys(%now) == 3 && !$now{$before[0]};
	});
	is(scalar(grep { $server->get('/a')->{body} eq $files{a} } 1 .. 10),
	    10, 'they serve');
	my $lost = grep { my $answer = eval { $_->response };
	    !defined($answer) || $answer->{short} } @slow;
	cmp_ok($lost, '<=', 1, 'its client is lost, and no other');
	$server->stop;
};

SKIP: {
	my $missing = Amped::Slowfs::missing();
	skip($missing, 1) if $missing;
	subtest 'a disk that does not answer' => \&held;
}

sub held {
	my $slow = docroot(one => "one\n", two => "two\n");
	my $at = docroot();
	my $fs = Amped::Slowfs->new($slow, $at);
	# Each comes with its request.
	my $server = start(4, global => 'transport { defer 5s }',
	    site => "\tpath /slow {\n\t\talias $at\n\t}\n");

	$fs->hold('lookup');
	my @waits = $server->ask(('/slow/one') x 3);
	$fs->wait_held('lookup');
	is(scalar(grep { $server->get('/a')->{body} eq $files{a} } 1 .. 20),
	    20, 'the others go on');
	ok($_->quiet, 'who asked for it waits') for @waits;
	$fs->release;
	is($_->response->{body}, "one\n", 'and is answered') for @waits;

	$fs->hold('lookup');
	my ($last) = $server->ask('/slow/two');
	$fs->wait_held('lookup');
	kill('TERM', $server->{pid});
	is($server->reap, 0, 'TERM: nobody waits for it in the end');
	$fs->release;
	$server->stop;
	undef($fs);
}

done_testing();
