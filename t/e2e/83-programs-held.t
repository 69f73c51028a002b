#!/usr/bin/perl
# Output of programs that many slow clients do not take: main holds no more of
# all together than limits held says; then the programs wait, and go on when
# their clients read.
# arch: pair
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use Amped qw(await content slurp write_file);
use Amped::Programs;
use JSON::PP;
use Test::More;

use constant CLIENTS => 24;
use constant HELD => 2 << 20;		# bytes of limits held
use constant OUTPUT => 4 << 20;		# bytes that a program writes

Amped::needs_many_clients(CLIENTS);

my $programs = Amped::Programs->new;
my $dir = $programs->dir;
my $large = content('large', OUTPUT);
write_file("$dir/large", $large);
$programs->start(program => 'most ' . 2 * CLIENTS,
    global => 'limits { held ' . HELD . " }\ntransport { buffer 32K }\n",
    site => "\tpath /status { status on }\n");
my ($main) = $programs->server->role('main');

# The highest memory of main so far, in bytes.
sub peak {
	return slurp("/proc/$main/status") =~ /^VmHWM:\s*(\d+) kB/m ?
	    $1 << 10 : die "no VmHWM\n";
}

sub held {
	return decode_json($programs->get('/status?json')->{body})->{gauges}{held};
}

# Whether all programs sleep, which they do in a write only.
sub all_sleep {
	return !grep { (slurp("/proc/$_/stat") =~ /\) (\S)/)[0] ne 'S' } @_;
}

is(held(), 0, 'nothing is held');
my $before = peak();
my @clients = map { $programs->ask($programs->play("open(my \$f, '<:raw', " .
    "'$dir/large') or die; my \$all = do { local \$/; <\$f> }; head(); " .
    "tell_test('w$_'); put(\$all); tell_test('e$_');"), window => 16384) }
    1 .. CLIENTS;
my @pids = map { $programs->told("w$_") } 1 .. CLIENTS;
await('all programs to wait', sub { all_sleep(@pids) });
ok(!(grep { $programs->has_told("e$_") } 1 .. CLIENTS),
    'no program has written all: each waits');
my $held = held();
ok($held > HELD / 2 && $held <= HELD, 'held: ' . HELD .
    " bytes at most in all ($held)");
is($programs->get('/z')->{status}, 200, 'others are served');
is($programs->get($programs->cat("Content-Type: text/plain\n\nfine"))->{body},
    'fine', '... by programs, too');
is(scalar(grep { $_->response->{body} eq $large } @clients), CLIENTS,
    'each answer is whole when its client reads');
await('nothing to be held', sub { held() == 0 });
pass('nothing is held any more');
# Of each: 32K held, 64K on their way out, the connection; the hold of all
# would be 1M of each.
my $more = peak() - $before;
SKIP: {
	skip('a sanitizer keeps what has been freed', 1)
	    if slurp(Amped::program()) =~ /__[at]san_init/;
	cmp_ok($more, '<', HELD + CLIENTS * (256 << 10),
	    "main has grown by $more");
}
$programs->server->stop;
done_testing();
