# Amped::Programs: a server with CGI programs, which do what a test says.
#
# "cat" writes a file of bytes as they are, "play" runs some lines of Perl, "env"
# tells what it was started with.  A program that waits for a test does so at a
# gate, a file that the test makes; it ends by itself in any case.
package Amped::Programs;

use strict;
use warnings;

use Test::More ();

use Amped;

# The seconds after which each program ends, also one that no server ends.
use constant LIFE => 120;

my $begin = <<'END';
use strict;
use warnings;
my $gate = '%GATE';
alarm(%LIFE);
binmode(STDIN);

sub put {
	my ($bytes) = @_;
	while ($bytes ne '') {
		my $n = syswrite(STDOUT, $bytes, 65536) // exit(9);
		substr($bytes, 0, $n, '');
	}
}

sub head { put("Content-Type: text/plain\n\n") }

sub take_body {
	my $all = '';
	1 while sysread(STDIN, $all, 262144, length($all));
	return $all;
}

# Tells the test a word, by default the process id.
sub tell_test {
	my ($name, $word) = @_;
	open(my $fh, '>', "$gate/$name.$$.new") or die "$gate/$name: $!\n";
	print $fh $word // $$;
	close($fh);
	rename("$gate/$name.$$.new", "$gate/$name") or die "$gate: $!\n";
}

sub wait_test {
	my ($name) = @_;
	select(undef, undef, undef, 0.01) until -e "$gate/$name";
}

# A child that ends when the test says so, or never.
sub begin_child {
	my ($code) = @_;
	my $pid = fork() // die "fork: $!\n";
	return $pid if $pid;
	alarm(%LIFE);
	$code->();
	exit(0);
}
END

my %scripts = (
	cat => "#!/bin/sh\nexec cat '%CASES'/\"\$QUERY_STRING\"\n",
	play => "#!$^X\n$begin" . <<'END',
my $done = do("%CASES/$ENV{QUERY_STRING}");
die $@ if $@;
END
	env => "#!$^X\n$begin" . <<'END',
open(my $ran, '>>', "$gate/ran");
print $ran ($ENV{REQUEST_URI} // '') . "\n";
close($ran);
sub slurp {
	open(my $fh, '<', $_[0]) or return '';
	local $/;
	return scalar(<$fh>) // '';
}
require Cwd;
my ($status, $limits) = map { slurp("/proc/self/$_") } qw(status limits);
my (undef, undef, $group, $sid, $terminal, @stat) =
    split(' ', slurp('/proc/self/stat') =~ s/.*\)//sr);
my ($session) = slurp('/proc/self/autogroup') =~ /nice (\d+)/;
$session = 'none' if slurp('/proc/sys/kernel/sched_autogroup_enabled') != 1;
my @fds = grep { (readlink("/proc/self/fd/$_") // '/env') !~ m{^/proc|/env$} }
    map { m{(\d+)$} } glob('/proc/self/fd/*');
my %about = (args => join('|', @ARGV), cwd => Cwd::getcwd(), uid => $>,
    umask => sprintf('%03o', umask), nice => getpriority(0, 0),
    policy => $stat[33], leads => $group == $$ && $sid != $$ && $terminal == 0 ? 1 : 0,
    session => $session // 'none', fds => "@{[grep { $_ > 2 } @fds]}",
    privs => $status =~ /NoNewPrivs:\s+(\d)/, caught => $status =~
    /SigIgn:\s+0*(\w*)\n/, blocked => $status =~ /SigBlk:\s+0*(\w*)\n/,
    files => $limits =~ /Max open files\s+(\d+)/, memory => $limits =~
    /Max address space\s+(\w+)/);
put("Content-Type: application/octet-stream\n\n" . join("\0",
    (map { "$_=$ENV{$_}" } sort keys %ENV),
    (map { "-$_=$about{$_}" } sort keys %about), '-body=' . take_body()));
END
);

# Makes the programs, and a document root.  Each new() is a world of its own.
sub new {
	my ($class, %files) = @_;
	my $dir = Amped::docroot('www/z' => "z\n", 'cgi/' => '',
	    'cases/' => '', 'gate/ran' => '', %files);
	my $self = bless({ dir => $dir, cases => 0 }, $class);

	chmod(0777, "$dir/gate");
	chmod(0666, "$dir/gate/ran");
	$self->script("cgi/$_", $scripts{$_}) for keys %scripts;
	return $self;
}

sub dir { return $_[0]{dir} }
sub server { return $_[0]{server} }
sub www { return "$_[0]{dir}/www" }

# Writes an executable file.
sub script {
	my ($self, $name, $text) = @_;
	my %value = (GATE => "$self->{dir}/gate", LIFE => LIFE,
	    CASES => "$self->{dir}/cases");

	$text =~ s/%(GATE|LIFE|CASES)/$value{$1}/g;
	Amped::write_file("$self->{dir}/$name", $text);
	chmod(0755, "$self->{dir}/$name");
	return "$self->{dir}/$name";
}

# A script of these lines of Perl.
sub perl {
	my ($self, $name, $lines) = @_;

	return $self->script($name, "#!$^X\n$begin$lines");
}

# Starts a server whose /cgi are these programs.  Errors are expected: most
# tests are about programs that fail.  On a machine that is busy, a test would
# wait for programs that give way to others.
#	program		lines of a block program, whose directory they are; none:
#			directive cgi
#	others		more of the conf
sub start {
	my ($self, %opt) = @_;
	my $dir = "$self->{dir}/cgi";
	my $global = ($opt{others} // '') . (defined($opt{program}) ?
	    "\nprogram all {\n\tdirectory $dir\n\tnice 0\n$opt{program}\n}\n" :
	    '');
	my $rule = defined($opt{program}) ? 'run all' : "cgi $dir";

	$self->{server} = Amped->start(root => $self->www, errors => 1,
	    global => $global . ($opt{global} // ''), site =>
	    "\tpath /cgi { $rule; body 16M }\n" . ($opt{site} // ''));
	return $self->{server};
}

# Bytes that "cat" shall write; the target.
sub cat {
	my ($self, $bytes) = @_;
	my $n = $self->{cases}++;

	Amped::write_file("$self->{dir}/cases/$n", $bytes);
	return "/cgi/cat?$n";
}

# Lines of Perl for "play"; the target.
sub play {
	my ($self, $code) = @_;
	my $n = $self->{cases}++;

	Amped::write_file("$self->{dir}/cases/$n", "$code\n;1;\n");
	return "/cgi/play?$n";
}

sub client {
	my ($self, %opt) = @_;

	return $self->{server}->connect(relayed => 1, %opt);
}

# The bytes of a request.
#	method, version, host	GET, 1.1, localhost
#	fields			more of them
#	body			with its length, unless there is
#	chunks			its pieces
sub request {
	my ($target, %opt) = @_;
	my $body = $opt{body} // '';
	my @fields = @{$opt{fields} // []};

	if ($opt{chunks}) {
		push(@fields, 'Transfer-Encoding: chunked');
		$body = join('', (map { sprintf("%x\r\n%s\r\n", length($_),
		    $_) } @{$opt{chunks}}), "0\r\n\r\n");
	} elsif (defined($opt{body}) &&
	    !grep { /^(?:content-length|transfer-encoding):/i } @fields) {
		push(@fields, 'Content-Length: ' . length($body));
	}
	return join("\r\n", ($opt{method} // 'GET') . " $target HTTP/" .
	    ($opt{version} // '1.1'), (exists($opt{host}) &&
	    !defined($opt{host})) ? () : 'Host: ' .
	    ($opt{host} // 'localhost'), @fields, '', $body);
}

# Sends a request on a connection of its own; the client.
sub ask {
	my ($self, $target, %opt) = @_;
	my $client = $self->client($opt{from} ? (from => $opt{from}) : (),
	    $opt{window} ? (window => $opt{window}) : ());

	$client->send(request($target, %opt));
	return $client;
}

# The answer to a request on a connection of its own, and whether that goes on
# in step.
sub get {
	my ($self, $target, %opt) = @_;
	my $client = $self->ask($target, %opt);
	my $answer = $client->response($opt{method} // 'GET')
	    // return { status => 'none', body => '', field => {} };

	$answer->{then} = state_of($client);
	return $answer;
}

# Whether a connection is open, by one more request.
sub state_of {
	my ($client) = @_;

	return $client->{in} eq '' ? 'closed' : 'more bytes' if $client->{end};
	$client->send(request('/z'));
	my $answer = $client->response // return 'closed';
	return $answer->{status} == 200 && $answer->{body} eq "z\n" ?
	    'open' : 'out of step';
}

# What "env" was started with.  The body is the last, and may have any bytes.
sub variables {
	my ($answer) = @_;
	my ($texts, $body) = split(/\0-body=/, $answer->{body}, 2);

	return { '-body' => $body, map { /\A([^=]+)=(.*)\z/s ? ($1 => $2) :
	    () } split(/\0/, $texts // '') };
}

# The requests for which "env" ran.
sub ran {
	my ($self) = @_;

	return split(/\n/, Amped::slurp("$self->{dir}/gate/ran"));
}

# Waits for a word of a program.
sub told {
	my ($self, $name) = @_;
	my $file = "$self->{dir}/gate/$name";

	Amped::await("the program to tell $name", sub { -e $file });
	return Amped::slurp($file);
}

sub has_told { return -e "$_[0]{dir}/gate/$_[1]" }

# Opens gates that programs wait at.
sub let {
	my ($self, @names) = @_;

	Amped::write_file("$self->{dir}/gate/$_", '') for @names;
}

# Waits until processes have gone, not even as zombies there; as a test.
sub gone {
	my ($self, $what, @pids) = @_;
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	my $gone = eval { Amped::await($what,
	    sub { !grep { -e "/proc/$_" } @pids }) };

	Test::More::ok($gone, $what);
}

1;
