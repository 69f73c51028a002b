# Bench::Wrk: wrk, the load where a disk is waited for, and what it says.
package Bench::Wrk;

use strict;
use warnings;

use Amped qw(docroot);
use Bench::Children;
use Bench::Server;

my $done = <<'END';
done = function(all, latency)
	local e = all.errors
	io.write(string.format('said %f %f %f %f %f %d\n',
	    all.requests * 1e6 / all.duration, all.bytes / all.duration,
	    latency:percentile(50) / 1e3, latency:percentile(99) / 1e3,
	    latency.max / 1e3,
	    e.connect + e.read + e.write + e.status + e.timeout))
end
END

# Asks from now on.
#	server, clients, seconds
#	target	one file ...
#	script	... or what makes the requests, in Lua
#	prefix	a command's beginning
sub new {
	my ($class, %opt) = @_;
	my $dir = docroot('load.lua' => ($opt{script} // '') . $done);
	my $self = bless({ server => $opt{server} }, $class);

	$self->{pid} = open($self->{from}, '-|', @{$opt{prefix} // []}, 'wrk',
	    '-t1', "-c$opt{clients}", "-d$opt{seconds}s", '-s',
	    "$dir/load.lua", '--timeout', '60s', "http://" .
	    "$opt{server}{address}:$opt{server}{port}" .
	    ($opt{target} // '')) or die "wrk: $!\n";
	Bench::Children::add($self->{pid});
	return $self;
}

# When it is done: requests and MB a second, ms, and how many went wrong.
sub said {
	my ($self) = @_;
	my $text = do { local $/; readline($self->{from}) } // '';
	my %result;

	close($self->{from});
	Bench::Children::gone($self->{pid});
	my ($said) = $text =~ /^said (.*)$/m or die "no load for " .
	    "$self->{server}{name}: $text\nIt says:\n" .
	    $self->{server}->said;
	@result{qw(rate mb p50 p99 max errors)} = split(' ', $said);
	return \%result;
}

1;
