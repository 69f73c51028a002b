#!/usr/bin/perl
# Runs of a filter for one file, in several threads: when one of them has made
# the result, those that still wait for a place do not run.
# arch: all
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use Amped qw(await docroot write_file);
use IO::Select;
use Test::More;
use Time::HiRes qw(time utime);

Amped::one_main_for_all() or
    plan(skip_all => 'there each client has caches of its own');

my $clients = 6;
my $dir = docroot('tools/' => '', 'runs/' => '', 'root/a.txt' => 'text');
my $control = docroot() . '/control';
my $as_user = $> == 0 ? scalar(getpwnam(Amped::ordinary_user())) : $>;
chown($as_user, -1, "$dir/runs");
utime(time() - 100, time() - 100, "$dir/root/a.txt");

# Each run waits until the test lets it on, by its number.
write_file("$dir/tools/waits", <<"END");
#!/bin/sh
echo x >> $dir/runs/all
n=\$(wc -l < $dir/runs/all)
until [ -e $dir/tools/open-\$n ]; do sleep 0.05; done
cat
END
chmod(0755, "$dir/tools/waits");
my $server = Amped->start(root => "$dir/root", global => <<"END",
control $control
limits { disk 10m }
cache { paths 1000 revalidate 1h stale 1h negative 1h }
program waits {
	filter $dir/tools/waits
	confine basic
	most 1
	queue 100
	within 10m
	answer 10m
}
chain waits { filters waits }
END
    site => "\tchain waits\n");

sub runs { return (-s "$dir/runs/all" // 0) / 2 }

sub let { write_file("$dir/tools/open-$_[0]", '') }

sub queued {
	my @answer = Amped::run_command(undef, Amped::program() =~
	    s/amped\z/ampedctl/r, '-s', $control, 'metrics');

	return $answer[1] =~
	    /^amped_program_queued\{program="waits"\} (\d+)$/m ? $1 : -1;
}

my $waiting = IO::Select->new;
for my $n (1 .. $clients) {
	my $client = $server->connect;

	$client->send("GET /a.txt HTTP/1.1\r\nHost: x\r\n\r\n");
	$waiting->add([$client->socket, $client]);
	await('a run', sub { runs() == 1 });
}
await('the other runs to wait', sub { queued() == $clients - 1 })
    if Amped::architecture() eq 'mt';
let(1);

# The second run, which got the place of the first one, has not ended.
my @got;
await('all but one client to be answered', sub {
	for my $ready ($waiting->can_read(0)) {
		push(@got, $ready->[1]->response('GET'));
		$waiting->remove($ready);
	}
	return $waiting->count <= 1;
});
cmp_ok(runs(), '<=', 2, 'two runs at most');
let(2);
push(@got, $_->[1]->response('GET')) for $waiting->handles;
is_deeply([map { "$_->{status} $_->{body}" } @got], [('200 text') x $clients],
    'each client has the result');
cmp_ok(runs(), '<=', 2, 'no run came later');
$server->finish;
done_testing();
