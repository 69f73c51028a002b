#!/usr/bin/perl
# The script for /etc/init.d: each action, and what it says when the server does
# not run, will not, or is another process.
# arch: one: the script has to do with the monitor
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use Amped qw(await docroot free_port slurp write_file);
use IO::Socket::INET;
use Test::More;

plan(skip_all => 'there are no functions for init scripts')
    unless -e '/lib/lsb/init-functions';
plan(skip_all => 'there is no /proc') unless -e "/proc/$$/exe";

my $place = docroot('www/index.html' => "page\n");
my $pidfile = "$place/pid";
my $port = free_port();
my $script = slurp(Amped::source_dir() . '/contrib/debian/amped.init');
my %value = (daemon => Amped::program(), conf => "$place/amped.conf",
    pidfile => $pidfile, options => Amped::architecture() eq 'amped' ? '' :
    "'-A " . Amped::architecture() . "'");

chmod(0777, $place);
for my $name (sort(keys(%value))) {
	$script =~ s/^$name=\K.*/$value{$name}/m or die "no $name=\n";
}
$script =~ s{/etc/default/amped}{$place/default}g;
write_file("$place/script", $script);

# Writes the conf with other lines in its site.
sub conf {
	my ($site) = @_;

	write_file("$place/amped.conf", ($> == 0 ? 'user ' .
	    Amped::ordinary_user() . "\n" : '') . "pid $pidfile\n" .
	    "helpers 1 max 2 share 2\n" .
	    "log {\n\taccess off\n\terror $place/error.log\n}\n" .
	    "site default {\n\tlisten 127.0.0.1:$port\n\troot $place/www\n" .
	    "\t$site\n}\n");
}

# Runs an action; its status, and all that it says.
sub action {
	my ($action) = @_;
	my ($status, $out, $err) = Amped::run_command(undef, '/bin/sh',
	    "$place/script", $action);

	note($out, $err);
	return ($status >> 8, "$out$err");
}

sub status_of { return (action(@_))[0] }

sub pid { return -s $pidfile ? slurp($pidfile) + 0 : 0 }

# The head of the response to a request for /.
sub ask {
	my $socket = IO::Socket::INET->new(PeerAddr => '127.0.0.1',
	    PeerPort => $port) or return '';

	print($socket "GET / HTTP/1.0\r\nHost: x\r\n\r\n");
	return join('', <$socket>);
}

END { kill('TERM', pid()) if $pidfile && pid() > 0 }

is(status_of('nonsense'), 2, 'an unknown action');
conf('');
is(status_of('status'), 3, 'status: it does not run');
is(status_of('stop'), 0, 'stop: nothing to be done');
is(status_of('try-restart'), 0, 'try-restart: likewise');
isnt(status_of('reload'), 0, 'reload: nothing to be reloaded');

is(status_of('start'), 0, 'start');
my $first = pid();
like(ask(), qr/^page$/m, '... it serves');
my ($status, $said) = action('status');
is($status, 0, 'status: it runs');
like($said, qr/process $first\b/, '... as which process');
is(status_of('start'), 0, 'start: nothing to be done');
is(pid(), $first, '... it is the same');

conf('header X-Conf second');
is(status_of('reload'), 0, 'reload');
await('the conf', sub { ask() =~ /^X-Conf: second\r$/m });
conf('header X-Conf third');
is(status_of('force-reload'), 0, 'force-reload');
await('the next conf', sub { ask() =~ /^X-Conf: third\r$/m });
is(pid(), $first, 'still the same process');
conf('heeder X-Conf fourth');
for my $action (qw(reload restart try-restart)) {
	($status, $said) = action($action);
	isnt($status, 0, "$action: a wrong conf");
	like($said, qr/amped\.conf:\d+:\d+: .*heeder/, '... is told');
}
is(pid(), $first, '... and changes nothing');
like(ask(), qr/^X-Conf: third\r$/m, '... it serves');

conf('header X-Conf fifth');
is(status_of('upgrade'), 0, 'upgrade');
my $second = pid();
isnt($second, $first, '... another process');
like(ask(), qr/^X-Conf: fifth\r$/m, '... serves');
is(status_of('restart'), 0, 'restart');
isnt(pid(), $second, '... another process');
like(ask(), qr/^page$/m, '... serves');

my $last = pid();
is(status_of('stop'), 0, 'stop');
ok(!-e "/proc/$last/exe" || !readlink("/proc/$last/exe"), '... it has ended');
is(ask(), '', '... and serves no more');
is(status_of('status'), 3, 'status: it does not run');

# A pid file of the last boot names any process.
write_file($pidfile, "$$\n");
is(status_of('status'), 1, 'status: a pid file that is left');
is(status_of('stop'), 0, 'stop: leaves the process alone');
unlink($pidfile);

my $other = IO::Socket::INET->new(Listen => 1, LocalAddr => "127.0.0.1:$port",
    ReuseAddr => 1) or die "listen: $!\n";
($status, $said) = action('start');
isnt($status, 0, 'start: the port is taken');
like($said, qr/cannot listen on 127\.0\.0\.1:$port/, '... is told');

done_testing();
