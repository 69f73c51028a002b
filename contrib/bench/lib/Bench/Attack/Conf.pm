# Bench::Attack::Conf: what a round does by chance, the confs of its server, and
# which refusals these explain.
package Bench::Attack::Conf;

use strict;
use warnings;

use lib "$FindBin::Bin/../../t/lib";
use Amped qw(docroot free_port write_file);

our %users = (anna => 'right', bert => 'good');

# How likely each part of a round is: files change; the conf is read again;
# helpers are killed, mains are killed, any process is stopped for a while;
# ampedctl's commands; wrong passwords; slow clients; and confs with small
# limits, short times, and a rate.
my %parts = (change => .8, reload => .35, helpers => .35, mains => .15,
    freeze => .3, control => .6, flood => .4, crowd => .4, small => .35,
    hasty => .15, rate => .15);

sub pick { return $_[rand(@_)] }

sub new {
	my ($class, $ground, $arch, $seed) = @_;
	my $self = bless({ ground => $ground, arch => $arch, socket =>
	    docroot() . '/control', passwords => docroot() . '/passwords',
	    port => free_port() }, $class);

	srand($seed);		# after names of directories by chance
	$self->{$_} = rand() < $parts{$_} ? 1 : 0 for sort keys(%parts);
	write_file($self->{passwords}, join('', map { "$_:" .
	    crypt($users{$_}, '$2y$05$saltsaltsaltsaltsaltsa') . "\n" }
	    sort keys(%users)));
	$self->{workers} = $arch =~ /^m[pt]\z/ ? 12 : pick(1, 1, 2);
	return $self;
}

sub says {
	my ($self) = @_;

	return join(' ', grep { $self->{$_} } sort keys(%parts));
}

# A client may be refused so, whatever it asks for.
sub explains {
	my ($self, $status) = @_;

	return 1 if $status == 408;
	return $self->{rate} if $status == 429;
	return $self->{small} || $self->{hasty} || $self->{helpers} ||
	    $self->{mains} || $self->{flood} if $status == 503;
	return $self->{small} if $status =~ /\A4(?:00|13|14|31)\z/;
	return 0;
}

# A connection may end without an answer.
sub explains_end {
	my ($self) = @_;

	return $self->{mains} || $self->{small} || $self->{hasty};
}

sub global {
	my ($self) = @_;
	my $max = pick(2, 4, 16);
	my $reserve = pick(0, 1, 2);
	my $queue = $self->{small} ? pick(1, 3, 1000) : 1000;

	return "workers $self->{workers}\ncontrol $self->{socket}\n" .
	    "helpers $reserve max $max share " . pick(0, $max) .
	    " queue $queue within 1h\n" . $self->cache . $self->limits .
	    "transport {\n\tbuffer " . pick(0, 0, '16K') . "\n\tdefer " .
	    pick('0s', '1s') . "\n\tnodelay " . pick('on', 'off') . "\n}\n";
}

sub cache {
	my ($self) = @_;
	my $small = $self->{small};
	my $size = pick(qw(4K 16K 64K 64K 1M));
	my @most = $size eq '1M' ? qw(4M 64M) : $small ? qw(64K 256K 1M) :
	    qw(1M 16M 512M);
	my @off = grep { rand() < .1 } qw(pathname header chunk alignment);

	$self->{off} ||= @off;
	return "cache {\n\tpaths " . pick($small ? (1, 3, 20) : (100, 50000)) .
	    ' revalidate ' . pick(qw(0s 50ms 1s)) . ' wait 10s stale 2s ' .
	    'negative ' . pick(qw(0s 1s)) . "\n\theads " .
	    pick(qw(64K 32M)) . "\n\twatches " . pick(0, 16384, 16384, 8) .
	    "\n\tlogins " . pick(1, 10, 10000) . ' keep ' .
	    pick(qw(0s 200ms 1m)) . "\n\tchunks " . pick(@most) .
	    " size $size small " . ($size eq '4K' ? pick(0, '4K') :
	    pick(0, '4K', '16K')) . "\n\tresidency " .
	    pick(qw(auto auto mincore predict never)) . "\n" .
	    (rand() < .5 ? "\tvariants $self->{ground}{variants}\n" : '') .
	    (@off ? "\toff @off\n" : '') . "}\n";
}

sub limits {
	my ($self) = @_;
	my $time = $self->{hasty} ? '1s' : '1h';
	my @lines = map { "$_ $time" } qw(idle head gap send disk),
	    'body within';

	push(@lines, $self->{hasty} ? ('linger 0s', 'drain ' . pick(qw(0s 1s)))
	    : ('linger 1m', 'drain 1h'));
	push(@lines, 'rate 3000 burst 100', 'connections address 60',
	    'addresses ' . pick(1, 50000)) if $self->{rate};
	push(@lines, 'requests ' . pick(0, 1, 5, 100), 'line ' .
	    pick('256', '8K'), 'header ' . pick('1K', '16K'), 'fields ' .
	    pick(8, 100), 'body ' . pick(0, 100, '10K'), 'listing ' .
	    pick(1, 10, 100000) . ' bytes ' . pick('4K', '64M'), 'verify ' .
	    pick(1, 2, 16) . ' queue ' . pick(1, 256), 'compress ' .
	    pick('20K', '16M') . ' from ' . pick(1, 1000), 'pace ' .
	    pick(0, '1M', '10M') . ' after ' . pick(0, '64K'),
	    $self->{crowd} ? () : 'connections ' . pick(0, 24)) if
	    $self->{small};
	return join("\n\t", 'limits {', @lines) . "\n}\n";
}

# Links of all owners would lead outside, as would an owner's who has both.
sub sites {
	my ($self) = @_;
	my $links = pick('beneath', 'beneath', 'none', $> == 0 ? 'owner' : ());
	my $tail = rand() < .5 ? 'header X-Frame-Options deny' :
	    'expires text/* 1m';

	return <<"END";
site default {
	listen 127.0.0.1:$self->{port}
	root $self->{ground}{root}
	compress on
	precompressed gzip
	listing html json
	hide *.none
	links $links
	error 410 /p3.txt
	$tail
	files *.bak { deny all }
	path /denied { deny all }
	path /members { auth Members $self->{passwords} }
	path /members/free { auth off }
	path /old { redirect 301 /dir/ }
	path /gone { return 410 }
	path /app { fallback /p3.txt }
	path /status { status on }
	path /alias { alias $self->{ground}{root}/dir }
}
END
}

1;
