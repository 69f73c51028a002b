# Bench::Visits: what browsers ask for by a trace: visits of pages, with the
# pictures of each page.
#
# A trace says nothing of pages.  Here a name with .html at its end is a page,
# and a picture that the same client asks for within 10 seconds behind it, and
# before another page, belongs to that page.  A player asks for a page, then
# for its pictures over four connections, with the page in Referer, as a browser
# does; all else a player asks for alone.  Players do not wait for the times in
# the trace.
package Bench::Visits;

use strict;
use warnings;

use Amped qw(docroot write_file);
use Amped::Client;
use Amped::Replay;
use Bench::Children;
use IO::Select;
use List::Util qw(sum);
use POSIX ();
use Time::HiRes qw(sleep time);

use constant { BEHIND => 10, AT_ONCE => 4, NAMED_MAX => 16 };

sub is_page { return $_[0] =~ /\.html?\z/i }
sub is_picture { return $_[0] =~ /\.(?:gif|jpe?g|xbm|png|css|js)\z/i }

# Reads a list and a trace, as Amped::Replay does.
#	requests	the first so many of the trace only
#	again	both halves are all of the trace
# halves: two lists of visits, each with client, page (or what was asked for
# alone) and names of pictures; size: of each file.
sub new {
	my ($class, $list, $trace, %opt) = @_;
	my $self = bless({ size => {}, halves => [[], []], viewed => {},
	    behind => {} }, $class);
	my @requests;

	Amped::Replay::each_row($list, sub {
		$self->{size}{$_[0]} = $_[1];
		return 1;
	});
	Amped::Replay::each_row($trace, sub {
		push(@requests, [@_[0, 1, 4]])
		    unless Amped::Replay::strange($_[1]);
		return !defined($opt{requests}) || @requests < $opt{requests};
	});
	if ($opt{again}) {
		$self->{halves}[0] = visits_of(@requests);
		$self->{halves}[1] = $self->{halves}[0];
	} else {
		my @first = splice(@requests, 0, int(@requests / 2));
		$self->{halves} = [visits_of(@first), visits_of(@requests)];
	}
	for my $visit (grep { is_page($_->{page}) } $self->visits) {
		$self->{viewed}{$visit->{page}}++;
		$self->{behind}{$visit->{page}}{$_}++ for @{$visit->{names}};
	}
	return $self;
}

sub visits_of {
	my (%last, @visits);

	for my $request (@_) {
		my ($at, $name, $client) = @$request;
		my $visit = $last{$client};

		if (is_picture($name) && $visit &&
		    $at - $visit->{at} <= BEHIND) {
			push(@{$visit->{names}}, $name)
			    unless $visit->{has}{$name}++;
			next;
		}
		$visit = { at => $at, client => $client, page => $name,
		    names => [] };
		push(@visits, $visit);
		$last{$client} = is_page($name) ? $visit : undef;
	}
	return \@visits;
}

sub visits { return map { @$_ } @{$_[0]{halves}} }

# All that is asked for.
sub names {
	my %asked = map { ($_ => 1) } map { ($_->{page}, @{$_->{names}}) }
	    $_[0]->visits;

	return sort keys %asked;
}

# Bytes of all files that are asked for.
sub bytes { return sum(@{$_[0]{size}}{$_[0]->names}) }

# A page with the pictures that belonged to it in a quarter of its requests, 16
# at most.
sub page_of {
	my ($self, $page) = @_;
	my $of = $self->{behind}{$page} // {};
	my @names = grep { 4 * $of->{$_} >= $self->{viewed}{$page} }
	    sort { $of->{$b} <=> $of->{$a} || $a cmp $b } keys(%$of);
	my $text = join('', "<title>$page</title>\n", map {
	    '<img src="' . Amped::Replay::encode($_) . "\">\n" }
	    grep { defined } @names[0 .. NAMED_MAX - 1]);
	my $size = $self->{size}{$page};

	return $text . ' ' x ($size > length($text) ? $size - length($text) :
	    0);
}

# Writes all that is asked for into a directory of its own; returns that.
sub build {
	my ($self) = @_;
	my $files = docroot();

	for my $name ($self->names) {
		my $text = is_page($name) ? $self->page_of($name) :
		    Amped::content($name, $self->{size}{$name});
		write_file("$files$name", $text);
		$self->{size}{$name} = length($text);
	}
	chmod(0755, $files);
	return $files;
}

# Sends a request on one of a player's connections.
sub ask {
	my ($client, $name, $page) = @_;

	$client->{name} = $name;
	$client->{sent_at} = time;
	delete($client->{first_at});
	$client->send('GET ' . Amped::Replay::encode($name) .
	    " HTTP/1.1\r\nHost: localhost\r\n" . (defined($page) ?
	    'Referer: http://localhost' . Amped::Replay::encode($page) .
	    "\r\n" : '') . "\r\n");
}

# Reads what has come; true when the answer is complete.
sub hear {
	my ($self, $client) = @_;
	my $n = sysread($client->socket, my $bytes, 262_144);

	die "$client->{name}: the connection has ended\n" unless $n;
	$client->{first_at} //= time;
	$client->{got} .= $bytes;
	my $end = index($client->{got}, "\r\n\r\n");
	return 0 if $end == -1;
	my ($length) = substr($client->{got}, 0, $end) =~
	    /^content-length: (\d+)/im;
	return 0 if length($client->{got}) < $end + 4 + ($length // 0);
	die "$client->{name}: a wrong answer\n"
	    unless $client->{got} =~ m{\AHTTP/1\.1 200 } &&
	    ($length // -1) == $self->{size}{$client->{name}};
	$client->{got} = '';
	return 1;
}

# Asks for names, with the page in Referer if there is one; writes a line for
# each: when it was asked for, whether behind a page, the seconds until the
# first byte and until the last, the name.
sub get {
	my ($self, $clients, $out, $page, @names) = @_;
	my $select = IO::Select->new;
	my %of;

	for my $client (@$clients) {
		my $name = shift(@names) // last;
		ask($client, $name, $page);
		$of{fileno($client->socket)} = $client;
		$select->add($client->socket);
	}
	while ($select->count > 0) {
		for my $socket ($select->can_read) {
			my $client = $of{fileno($socket)};
			next unless $self->hear($client);
			my $sent = $client->{sent_at};
			printf($out "%.6f %d %.6f %.6f %s\n", $sent,
			    defined($page) ? 1 : 0, $client->{first_at} - $sent,
			    time - $sent, $client->{name});
			my $next = shift(@names);
			defined($next) ? ask($client, $next, $page) :
			    $select->remove($socket);
		}
	}
}

# One player, in a process of its own.
sub play_some {
	my ($self, $port, $file, $trip, @visits) = @_;
	my @clients = map { Amped::Client->new(port => $port) } 1 .. AT_ONCE;
	my %asked;

	open(my $out, '>', $file) or die "$file: $!\n";
	$_->{got} = '' for @clients;
	for my $visit (@visits) {
		$self->get(\@clients, $out, undef, $visit->{page});
		my @names = @{$visit->{names}} or next;
		sleep($trip / 1000) if grep { !$asked{$_}++ } @names;
		$self->get(\@clients, $out, $visit->{page}, @names);
	}
	close($out) or die "$file: $!\n";
}

# Has players make visits; returns all requests, in their order: at, behind,
# first, whole, name.
#	port	of the server
#	players	at a time, which have the clients between them
#	trip	ms of a round trip, which a player waits for behind a page
#		unless it has asked for each of the pictures before
#	visits	of a half
sub play {
	my ($self, %opt) = @_;
	my $dir = docroot();
	my (@players, @asked);

	for my $i (0 .. $opt{players} - 1) {
		my $pid = fork() // die "fork: $!\n";
		if ($pid == 0) {
			eval { $self->play_some($opt{port}, "$dir/$i",
			    $opt{trip}, grep { $_->{client} % $opt{players} ==
			    $i } @{$opt{visits}}) };
			warn $@ if $@;
			POSIX::_exit($@ ? 1 : 0);
		}
		Bench::Children::add($pid);
		push(@players, $pid);
	}
	for my $pid (@players) {
		waitpid($pid, 0);
		Bench::Children::gone($pid);
		die "a player has failed\n" if $?;
	}
	for my $i (0 .. $opt{players} - 1) {
		open(my $in, '<', "$dir/$i") or die "$dir/$i: $!\n";
		while (my $line = readline($in)) {
			chomp($line);
			my %one;
			@one{qw(at behind first whole name)} =
			    split(/ /, $line, 5);
			push(@asked, \%one);
		}
	}
	return sort { $a->{at} <=> $b->{at} } @asked;
}

1;
