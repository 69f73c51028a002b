# Bench::Attack::Client: a client that asks for anything in any way, and looks
# at each response for what must not be.
#
# A client waits for as long as the server has work to do: only if all its
# processes sleep for a while, and no byte comes, a response is missing.  So
# a server that gets no processor time is late, and not hanging.
package Bench::Attack::Client;

use strict;
use warnings;

use Compress::Zlib qw(memGunzip);
use IO::Select;
use MIME::Base64 qw(encode_base64);
use POSIX qw(strftime);
use Time::HiRes qw(time usleep);

use Amped::Client;
use Bench::Attack::Conf;
use Bench::Attack::Ground;

our @ISA = ('Amped::Client');

my $PATIENCE = 40;		# s that the server sleeps meanwhile
my $LOOKS = 4;			# a second
my $MOST = 15_000;		# bytes of requests before a response is read

sub pick { return $_[rand(@_)] }

# Nanoseconds that the tasks of the server have run; undef if one runs or waits
# for the processor or a disk.
sub worked {
	my ($monitor) = @_;
	my $children = eval {
	    Amped::slurp("/proc/$monitor/task/$monitor/children") } // '';
	my $sum = 0;

	for my $task (map { glob("/proc/$_/task/*") } $monitor,
	    split(' ', $children)) {
		my @stat = eval { split(' ',
		    Amped::slurp("$task/stat") =~ s/.*\) //sr) } or next;
		return undef if $stat[0] =~ /[RD]/;
		$sum += (eval { split(' ', Amped::slurp("$task/schedstat")) })
		    [0] // 0;
	}
	return $sum;
}

# Waits for a socket; false when the server has slept for too long.
sub wait_busy {
	my ($socket, $how, $monitor, $patience) = @_;
	my $select = IO::Select->new($socket);
	my $method = "can_$how";
	my ($idle, $before) = (0, undef);

	until ($select->$method(1 / $LOOKS)) {
		my $now = worked($monitor);
		$idle = defined($now) && defined($before) &&
		    $now - $before < 5e6 ? $idle + 1 : 0;
		$before = $now;
		return 0 if $idle > ($patience // $PATIENCE) * $LOOKS;
	}
	return 1;
}

sub wait_for {
	my ($self, $how, $what) = @_;

	wait_busy($self->{socket}, $how, $self->{monitor}) or
	    die "hang: the server sleeps, and the client waits for $what\n";
}

# conf, ground, monitor; tags and seen are kept by the caller.
sub new {
	my ($class, %opt) = @_;
	my $from = '127.0.' . int(rand(3)) . '.' . (1 + int(rand(9)));
	my $self = Amped::Client::new($class, port => $opt{conf}{port},
	    from => $from, (rand() < .1 ? (window => 4096) : ()));

	@$self{keys(%opt), 'from'} = (values(%opt), $from);
	return $self;
}

#
# Requests
#

sub range {
	my $n = int(rand(70_000));

	return 'bytes=' . join(pick(',', ', '), map { pick("$n-" .
	    ($n + int(rand(70_000))), "$n-", "-$n", '0-0', '0-299') }
	    1 .. pick(1, 1, 1, 2, 5));
}

sub authorization {
	my ($right) = @_;
	my $user = pick('anna', 'bert');

	return 'Authorization: Basic ' . encode_base64($right ?
	    "$user:$Bench::Attack::Conf::users{$user}" :
	    pick("$user:wrong" . int(rand(1e6)), ':', "$user:" . 'x' x 600,
	    "none:right", $user), '');
}

# Bytes of a body, with its framing.
sub body {
	my $bytes = 'b' x pick(0, 1, 90, 3000);

	return ('Content-Length: ' . length($bytes), $bytes) if rand() < .5;
	my @parts = $bytes =~ /(.{1,700})/g;
	return ('Transfer-Encoding: chunked', join('', map { sprintf("%x%s\r\n",
	    length($_), pick('', '', ';a=b', ';q="x y"')) . "$_\r\n" } @parts) .
	    "0\r\n" . pick('', "Trailer: x\r\n") . "\r\n");
}

# A target that leads where the other does, or not at all, or nowhere.
sub respell {
	my ($target) = @_;

	for (1 .. pick(1, 1, 2, 4)) {
		my $at = int(rand(length($target)));
		substr($target, $at, 1) = pick(
		    sprintf('%%%02x', ord(substr($target, $at, 1))),
		    sprintf('%%25%02x', ord(substr($target, $at, 1))),
		    substr($target, $at, 1) . pick(qw(/ /./ /../ // %00 %2f
		    %2e%2e/ ; \\ ? %c0%af %5c .. /x/../ %0d%0a), "\xff",
		    '/..' x 9));
	}
	return $target;
}

my @others = (qw(/ /dir/ /dir /old/x /gone /app/x /status /members/free/page
    /dir/?sort=size&order=desc /alias/p101 /alias/ /nothing * /p1/),
    'http://x/p1', '/%70%31');
my @closed = qw(/denied/page /x.bak /dir/y.bak /.hidden /dir/.hidden/page
    /members/page /alias/y.bak /d1/page /d2/secret /l1 /l2/secret
    /members/../denied/page /dir/../x.bak /p1/../.hidden);

sub target {
	my ($self) = @_;
	my $files = $self->{files};
	my $way = rand();

	return pick(@$files) if $way < .75;
	return pick(@others) if $way < .82;
	return pick(@closed) if $way < .9;
	return respell(pick(@$files, @closed));
}

sub request {
	my ($self) = @_;
	my $target = $self->target;
	my $seen = $self->{seen}{$target};
	my %r = (target => $target, method => rand() < .85 ? 'GET' :
	    pick(qw(HEAD HEAD HEAD OPTIONS POST PUT TRACE brew)));
	my @fields = ('Host: ' . pick('x', 'x', 'x:80', 'Y.example'));
	my $body = '';

	push(@fields, 'Accept-Encoding: ' . pick('gzip', 'gzip;q=0.5',
	    'br, gzip', 'identity', '*', 'gzip, identity;q=0')) if rand() < .3;
	push(@fields, 'Range: ' . range()), $r{loose} = 1 if rand() < .15;
	push(@fields, 'If-Range: ' . pick($seen->{etag}, $seen->{date})),
	    $r{loose} = 1 if $seen && rand() < .15;
	push(@fields, pick("If-None-Match: $seen->{etag}",
	    "If-Modified-Since: $seen->{date}", "If-Match: $seen->{etag}",
	    "If-Unmodified-Since: $seen->{date}")), $r{loose} = 1
	    if $seen && rand() < .1;
	if (rand() < .15) {
		$r{right} = rand() < .6;
		push(@fields, authorization($r{right}));
	}
	if ($r{method} eq 'POST' || rand() < .05) {
		(my $how, $body) = body();
		push(@fields, $how);
	}
	push(@fields, 'Accept: ' . pick('application/json', 'text/html'))
	    if rand() < .05;
	push(@fields, map { "X-$_: " . 'y' x rand(200) } 1 .. rand(20))
	    if rand() < .03;
	$r{bytes} = join("\r\n", "$r{method} $target HTTP/1.1", @fields, '',
	    $body);
	return \%r;
}

# Any bytes changed, left out, or repeated.
sub mutate {
	my ($bytes) = @_;

	for (1 .. pick(1, 1, 2, 5, 20)) {
		my $at = int(rand(length($bytes) || 1));
		my $n = pick(0, 1, 1, 3, 20);
		my $part = substr($bytes, $at, $n);
		substr($bytes, $at, $n) = pick('', $part x 2, $part x 30,
		    chr(rand(256)), "\r\n", "\n", "\0", ' ', ':', '%',
		    "Content-Length: 5\r\n", "\r\n\r\n", '9' x 20, 'HTTP/1.0',
		    "Transfer-Encoding: chunked\r\n", "Connection: close\r\n",
		    'x' x 300, "Expect: 100-continue\r\n");
	}
	return $bytes;
}

#
# Responses
#

sub found {
	my ($self, $what, $r) = @_;

	$what =~ s/\n+/ /g;
	push(@{$self->{findings}}, strftime('%T', gmtime) . " $self->{from}:" .
	    ($self->{socket}->sockport // 'closed') . " $what <- " .
	    Bench::Attack::Ground::quote(substr($r->{bytes} // '', 0, 400)));
	return 0;
}

# What no client may see, and what only members may.
sub look_for_secrets {
	my ($self, $bytes, $r) = @_;

	$self->found('a secret is sent', $r)
	    if index($bytes, $Bench::Attack::Ground::SECRET) >= 0;
	$self->found('what only members may see is sent', $r)
	    if !$r->{right} && index($bytes, $Bench::Attack::Ground::MEMBER) >= 0;
}

# The parts of a response's body with the offset of each in the file, and the
# file's length.
sub parts {
	my ($answer) = @_;
	my $type = $answer->{field}{'content-type'} // '';
	my $one = qr{bytes (\d+)-(\d+)/(\d+)}i;
	my @parts;

	return ([$answer->{body}, 0, length($answer->{body})])
	    if $answer->{status} == 200;
	return ([$answer->{body}, $1, $3])
	    if ($answer->{field}{'content-range'} // '') =~ /\A$one\z/;
	return () unless $type =~ m{\Amultipart/byteranges; boundary=(\S+)};
	for my $part (split(/\r\n--\Q$1\E(?:\r\n|--\r\n)/, "\r\n" .
	    $answer->{body})) {
		next unless $part =~ /\A.*?Content-Range: $one\r\n.*?\r\n\r\n/si;
		push(@parts, [substr($part, $+[0]), $1, $3]);
	}
	return @parts;
}

sub check_file {
	my ($self, $answer, $r) = @_;
	my ($name) = $r->{target} =~ m{([^/?]*)\z};
	my $class = Bench::Attack::Ground::class_of($name);
	my $field = $answer->{field};
	my $coding = $field->{'content-encoding'} // '';
	my $excused = $class =~ /[wt]/ &&
	    !$self->{ground}->was_quiet($name, $r->{begun});

	return if $coding && $answer->{status} != 200;
	$answer->{body} = memGunzip($answer->{body}) // return $excused ||
	    $self->found('not gzip', $r) if $coding eq 'gzip';
	$self->look_for_secrets($answer->{body}, $r);
	for my $part (parts($answer)) {
		my ($bytes, $offset, $total) = @$part;
		my ($wrong, $is) = Bench::Attack::Ground::look_at($bytes,
		    $offset);
		$wrong //= 'a length that no version has: ' .
		    "$total, $is" if $is && $is !~ / $total\z/;
		$wrong //= "another file's bytes: $is" if $is &&
		    $class =~ /[prwtud]/ && $is !~ /\A\Q$name\E /;
		return $self->found("$answer->{status} $wrong", $r)
		    if $wrong && !$excused;
		$self->check_tag("$r->{target} $coding $field->{etag}", $is, $r)
		    if $is && !$excused;
	}
}

# One strong tag stands for one version.
sub check_tag {
	my ($self, $key, $is, $r) = @_;
	my $was = $self->{tags}{$key} //= $is;

	$self->found("one tag, two versions: $key: $was, and $is", $r)
	    if $was ne $is && $key !~ /l\d+ /;
}

my %usual = (p => qr/200/, r => qr/200/, w => qr/200/, t => qr/200/,
    u => qr/200|404/, d => qr/200|403|404/, l => qr/200|301|403|404/);

sub check_status {
	my ($self, $answer, $r) = @_;
	my $status = $answer->{status};
	my ($name) = $r->{target} =~ m{([^/]*)\z};
	my $usual = $usual{Bench::Attack::Ground::class_of($name)};
	my $asks = $r->{method} =~ /^(?:GET|HEAD)\z/;

	return if $self->{conf}->explains($status);
	return $self->found("status $status", $r) if $status == 500 ||
	    $status == 503 && $name !~ /^[wtlud]\d/;
	$self->found("status $status", $r) if $asks && !$r->{loose} && $usual &&
	    $status !~ $usual && $status != 503 &&
	    $r->{target} =~ m{\A/(?:(?:dir|d\d)/)?[a-z]\d+(?:\.txt)?\z} &&
	    !($status == 406 && $r->{bytes} =~ /identity;q=0/);
}

# A response of whatever request.
sub check {
	my ($self, $answer, $r) = @_;

	$self->look_for_secrets("$answer->{head}$answer->{body}", $r);
	$self->check_status($answer, $r);
	return if $r->{method} eq 'HEAD' || $answer->{status} !~ /^20[06]\z/ ||
	    $answer->{short};
	my $etag = $answer->{field}{etag};
	return unless $etag && $r->{target} =~ m{[prwtuld]\d+(?:\.txt)?\z} &&
	    $answer->{field}{'content-type'} !~ /json|html/;
	$self->check_file($answer, $r);
	$self->{seen}{$r->{target}} = { etag => $etag,
	    date => $answer->{field}{'last-modified'} // '' }
	    if !$answer->{field}{'content-encoding'};
}

#
# Ways to talk
#

# Sent at once, or in pieces, some of them late.
sub send_somehow {
	my ($self, $bytes) = @_;
	my $way = rand();

	return $self->send($bytes) if $way < .7;
	my $longest = $way < .75 ? 3 : $way < .85 ? 40 : 2000;
	$longest = 40 if length($bytes) > 2000 && $longest < 40;
	while (length($bytes)) {
		$self->send(substr($bytes, 0, 1 + int(rand($longest)), ''));
		usleep(rand(2000)) if rand() < .2;
	}
}

# Requests in a row, whose responses are read afterwards.  False when the
# connection is no more.
sub talk {
	my ($self) = @_;
	my @requests = map { $self->request } 1 .. pick(1, 1, 1, 2, 5, 20, 100);
	my $begun = time;
	my $size = 0;

	@requests = grep { ($size += length($_->{bytes})) < $MOST } @requests;
	return 0 unless @requests;
	$_->{begun} = $begun for @requests;
	$self->send_somehow(join('', map { $_->{bytes} } @requests));
	my $ends = rand();
	$self->half_close if $ends < .05;
	return $self->abort && 0 if $ends > .97;
	for my $r (@requests) {
		return $self->abort && 0 if $ends > .95 && rand() < .2;
		usleep(rand(20_000)) if $ends > .9 && $ends < .92;
		$self->hear($r) or return 0;
	}
	return $ends >= .05;
}

# The response to a request; false if there is no further one.
sub hear {
	my ($self, $r) = @_;
	my $answer = eval { $self->response($r->{method}) };

	if ($@) {
		return 0 if $@ =~ /ends within its head/ && $self->may_end($r);
		return $self->found($@, $r);
	}
	${$self->{count}}++;
	return $self->hear($r) if $answer && $answer->{status} == 100;
	if (!$answer || $answer->{short}) {
		return $self->may_end($r) ? 0 : $self->found(($answer ?
		    "cut short after " . length($answer->{body}) .
		    " bytes: $answer->{head}" : 'no answer') . ($self->{reset} ? ', reset' : ''), $r);
	}
	$self->check($answer, $r);
	return ($answer->{field}{connection} // '') !~ /close/i;
}

# Files that are written in place end short.
sub may_end {
	my ($self, $r) = @_;

	return $self->{conf}->explains_end || $r->{target} =~ m{/[wtl]\d};
}

# Bytes that may be no request, to the end of the connection.
sub babble {
	my ($self) = @_;
	my @r = map { $self->request } 1 .. pick(1, 1, 3);
	my %r = (bytes => mutate(join('', map { $_->{bytes} } @r)),
	    right => scalar(grep { $_->{right} } @r));

	$self->send_somehow($r{bytes});
	$self->half_close;
	eval { $self->fill until $self->{end} || length($self->{in}) > 5e6 };
	return $self->found($@, \%r) if $@;
	${$self->{count}}++;
	my ($status) = $self->{in} =~ m{\AHTTP/1\.1 (\d+) };
	$self->found('no response', \%r)
	    unless defined($status) || $self->{in} eq '';
	$self->found("status $status", \%r) if ($status // 0) == 500;
	$self->look_for_secrets($self->{in}, \%r);
	return 0;
}

1;
