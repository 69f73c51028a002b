#!/usr/bin/perl
# System calls of a request for a program, counted: none of main's tells the
# system again what it knows, and a start has none for each signal.
# arch: one: main makes the same calls in each
# plain: a sanitizer makes calls of its own
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use Amped qw(await slurp write_file);
use Amped::Applications;
use Amped::Foreign qw(needs_program);
use Amped::Process;
use Amped::Programs;
use POSIX qw(:sys_wait_h);
use Test::More;

needs_program('strace');
Amped::looks_into_processes();

use constant REQUESTS => 100;

my $programs = Amped::Programs->new('bin/' => '');
my $dir = $programs->dir;
my $file = Amped::Applications::make($programs, 'own', 'fastcgi',
    'put("Content-Type: text/plain\nContent-Length: 3\n\nyes");');
my $server = $programs->start(site => "\tpath /own { run own }\n",
    others => "program own {\n\tfastcgi $file\n\tnice 0\n}\n");
my $cgi = $programs->cat("Content-Type: text/plain\n\nyes");
my $client = $programs->client;

# Whether so many requests are answered, one behind the other.
sub ask {
	my ($path, $n) = @_;
	my $good = 0;

	for (1 .. $n) {
		$client->send(Amped::Programs::request($path));
		my $answer = $client->response // last;
		$good += $answer->{status} == 200 && $answer->{body} eq 'yes';
	}
	return $good == $n;
}

# The calls of processes, and of those that they start, while something is done:
# a line for each; nothing if strace may not look.
sub trace {
	my ($do, @pids) = @_;
	my ($out, $said) = ("$dir/calls", "$dir/said");

	write_file($said, '');
	my $strace = Amped::spawn(['strace', '-f', '-o', $out,
	    map { ('-p', $_) } @pids], $said, $said);
	my $end = sub { waitpid($strace, WNOHANG) == $strace };
	my $attached = 0;

	await('strace', sub {
		$attached = () = slurp($said) =~ /attached/g;
		$attached >= @pids || $end->() });
	return if $attached < @pids;
	$do->();
	kill('INT', $strace);
	await('strace to end', $end);
	return grep { !/<\.\.\. .* resumed>/ } split(/\n/, slurp($out));
}

sub count {
	my ($pattern, @calls) = @_;

	return scalar(grep { /^\d+\s+$pattern\(/ } @calls);
}

# What other programs change in watched directories is none of it.
my ($main) = $server->role('main');
my ($watches) = map { m{(\d+)\z} } grep { (readlink($_) // '') =~ /inotify/ }
    glob("/proc/$main/fd/*");
my $noise = defined($watches) ?
    qr/\b(?:read\(|epoll_ctl\(\d+, \w+, )$watches,/ : qr/(?!)/;
ok(ask('/own', 3), 'a program answers');
my $good;
my @calls = trace(sub { $good = ask('/own', REQUESTS) }, $main)
    or plan(skip_all => 'strace may not look at main');
ok($good, '... under strace');
@calls = grep { !/$noise/ } @calls;
# A pause may have ended what is kept, and an answer may come in parts.
for my $call (qw(getsockname getpeername getpid epoll_ctl)) {
	cmp_ok(count($call, @calls), '<', REQUESTS / 4,
	    "no $call for each request");
}
my $all = count('(?:recvfrom|poll|write|read|sendto|sendmsg|recvmsg|fcntl|' .
    'getsockname|getpeername|getpid|epoll_ctl)', @calls);
cmp_ok($all, '<=', 7 * REQUESTS, "$all calls for @{[REQUESTS]} requests");

# A reaper of one of the last CGI programs starts the next one, and is back at
# its wait when that has ended.
ok(ask($cgi, 3), 'CGI programs answer');
@calls = trace(sub {
	$good = ask($cgi, 1);
	await('the program to end', sub {
		slurp("$dir/calls") =~ /exited with.*^\d+ +ppoll\(/ms });
}, map { $_->{pid} } grep { $_->{title} eq 'amped: reaper' }
    map { Amped::Process::of_session($_) } $server->role('programs'));
ok($good, '... under strace');
my ($reaper) = map { /^(\d+)\s+(?:vfork|clone3?)\(/ ? $1 : () } @calls;
my ($started) = map { /^(\d+)\s+execve\(/ ? $1 : () } @calls;
ok($reaper && $started, 'a program is started')
    or diag(join("\n", @calls));
my @own = grep { /^$started\s/ } @calls;
my ($exec) = grep { $own[$_] =~ /\bexecve\(/ } 0 .. $#own;
cmp_ok($exec // 999, '<=', 40, "... by @{[$exec // 'no']} calls of its own");
is(count('sendmsg', grep { /^$reaper\s/ } @calls), 2,
    '... of which two messages tell: of start and end')
    or diag(join("\n", grep { /^$reaper\s/ } @calls));

$server->stop;
done_testing();
