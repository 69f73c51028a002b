#!/usr/bin/perl
# A main that is at its end, with lines that the access logger has not written,
# is not killed by a signal to end.
# arch: all
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use Amped qw(await docroot slurp);
use Test::More;
use Time::HiRes qw(time);

plan(skip_all => 'there is no /proc') unless -r '/proc/self/status';

# Whether a process would be ended by SIGTERM, or has put it off.
sub takes_no_signals {
	my ($pid) = @_;
	my $status = eval { slurp("/proc/$pid/status") } // '';
	my ($caught) = $status =~ /^SigCgt:\s*([0-9a-f]+)/m or return 1;

	return !(hex(substr($caught, -8)) & 1 << 14);
}

my $server = Amped->start(files => { page => "page\n" });
my ($main) = $server->role('main');

await('the access logger', sub { $server->role('access log') });
my @logger = $server->kill_role('STOP', 'access log');
is($server->get('/page?last')->{body}, "page\n", 'a line to be written');
my $begun = time;
kill('HUP', $server->{pid});
$server->wait_line(qr/has been read again/);
await('the main before to be at its end', sub { takes_no_signals($main) });
kill('TERM', $server->{pid});
kill('CONT', @logger);
is(eval { $server->reap }, 0, 'all end');
my $took = time - $begun;
unlike($server->errors, qr/killed by signal 15/, 'by themselves');
# Main waits for two seconds; only where all this took longer may it have given
# up, and then it says so.
like(slurp($server->{access}) . ($took < 2 ? '' : $server->errors),
    qr/\?last |1 line of the access log was lost/, 'and the line is there')
    or diag("$took s\n" . $server->errors);
$server->stop;

done_testing();
