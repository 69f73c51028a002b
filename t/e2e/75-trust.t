#!/usr/bin/perl
# What main and helpers can still do when somebody else has them do it: by
# programs that are taken over on purpose (t/faults.c).  Each thing is done with
# the sandbox off first, to see that it would be done.
# arch: all
# plain: with a sanitizer there is no filter of system calls
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use Amped qw(await docroot slurp write_file);
use IO::Socket::INET;
use Test::More;

my $build = $ENV{AMPED_BUILD} // Amped::source_dir();
my $faults = "$build/t/faults";
my $amped = Amped::architecture() eq 'amped';
my $sanitized = slurp(Amped::program()) =~ /__[at]san_init/;
my $filter = slurp("$build/config.h") =~ /^#define HAVE_SECCOMP 1/m &&
    !$sanitized;

plan(skip_all => 'no linker that can do that')
    unless -x "$faults/amped" && -x "$faults/amped-helper";
for my $program (qw(amped amped-helper)) {
	unlike(slurp("$build/$program"), qr/fault begins/,
	    "there is no such door in $program");
}
$ENV{AMPED_BUILD} = $faults;

my $outside = docroot(secret => "the secret\n", 'deep/x' => "x\n");
my $listener = IO::Socket::INET->new(LocalAddr => '127.0.0.1', Listen => 1)
    or die "listen: $@\n";
my $port = $listener->sockport;

chmod(0777, $outside);

# Main's system, or a helper's, has it to do without.
sub lacks {
	my ($server, $what) = @_;

	return $server->errors =~ /there is (?:neither|no) [^\n]*$what/;
}

# A server, its log with what has come of faults.
sub start {
	my ($sandbox, $site) = @_;

	return Amped->start(files => { page => "page\n" }, errors => 1,
	    # A job that kills its helpers is tried for so long.
	    global => "sandbox $sandbox\nlimits {\n\tdisk 1s\n}\n",
	    site => $site);
}

# Until there is another main; helpers come by themselves.  The monitor would wait
# longer each time before it starts one: a reload does so at once.
sub serve_again {
	my ($server) = @_;

	kill('HUP', $server->{pid});
	await('it to serve again', sub {
		($server->get('/page', fields => [])->{body} // '') eq "page\n"
	});
}

# Has a process do it; what came of it: a word, and the rest.
sub result {
	my ($server, $who, $what) = @_;
	my $before = length(slurp($server->{err}));
	my ($word, $rest);

	eval { $server->get("/$who/$what") };
	await("an end of $who/$what", sub {
		my $said = substr(slurp($server->{err}), $before);

		# What comes before that is of another fault.
		return 0 unless $said =~ s/.*?fault begins: \Q$what\E\n//s;
		($word, $rest) = $said =~ /fault (done|failed): \Q$what\E: (.*)/;
		($word, $rest) = ('died', $1)
		    if $said =~ /system call number (\d+) is forbidden/;
		# glibc's fork() blocks all signals, so there is no such line.
		($word, $rest) = ('died', '') if !defined($word) &&
		    $said =~ /(?:main|helper \d+) was killed by signal 31\b/;
		($word, $rest) = ('left', '') if !defined($word) &&
		    $said =~ /main ended|a helper died during a job/;
		return defined($word);
	});
	serve_again($server) if $word =~ /died|left/;
	return ($word, $rest);
}

sub works {
	my ($server, $who, $what, $found) = @_;
	my ($word, $rest) = result($server, $who, $what);

	ok($word eq 'done' && $rest =~ $found, "off: $who does $what") or
	    diag("$word: $rest");
}

sub fails {
	my ($server, $who, $what) = @_;
	my ($word, $rest) = result($server, $who, $what);

	ok($word eq 'failed' || $word eq 'died', "$who cannot $what") or
	    diag("$word: $rest");
}

# A process of the same user.
sub another {
	my ($server) = @_;

	return await('an access logger', sub { ($server->role('access log'))[0] });
}

# Each with the process that it is meant for now.
sub towards {
	my ($server, @acts) = @_;
	my $pid = another($server);

	return map { [$_->[0] =~ s/%d/$pid/r, $_->[1]] } @acts;
}

# What each can do, and what is found.
my @things = (
	["read$outside/secret", qr/the secret/],
	['read/etc/passwd', qr/root/],
	["list$outside", qr/\A\z/],
	["write$outside/new", qr/\A\z/],
);
# What a filter only keeps from.
my @calls = (
	["chmod$outside/new", qr/\A\z/],
	["unlink$outside/new", qr/\A\z/],
	['fork/', qr/\A\z/],
	["connect/$port", qr/\A\z/],
	['execute/', qr/\A\z/],
);
# The same; %d is another process of the same user.  The last three together are
# a signal to that, as soon as something is written to the error log.
my @others = map { [$_, qr/\A\z/] } ('limit/%d', 'protocol/', 'filter/',
    'own-by-ioctl/%d', 'own/%d', 'signal/18', 'async/');
# A process that has the descriptor for watches, but not both rights.
my %watching = (main => [["watch$outside", qr/\A\z/]],
    helper => $amped ? [['unwatch/', qr/\A\z/]] : []);
my @who = $amped ? qw(main helper) : qw(helper);

for my $who (@who) {
	my $server = start('off');

	works($server, $who, @$_) for @things, @calls, @{$watching{$who}};
	works($server, $who, "look$outside/secret", qr/11 bytes/);
	works($server, $who, 'kill/' . another($server), qr/\A\z/);
	works($server, $who, @$_) for towards($server, @others);
	result($server, $who, "run$outside/ran");
	ok(eval { await('the shell', sub { -s "$outside/ran" }) },
	    "off: $who runs a shell");
	# The job is tried again, and so may another shell be under way.
	$server->stop;
	unlink("$outside/ran");

	$server = start('auto');
	SKIP: {
		skip('the system has no Landlock', 1)
		    if lacks($server, 'Landlock');
		fails($server, $who, $_->[0]) for @things;
		fails($server, $who, "connect/$port");
	}
	SKIP: {
		skip('no filter of system calls here', 1)
		    if !$filter || lacks($server, 'filter');
		fails($server, $who, $_->[0]) for @calls, @{$watching{$who}};
		fails($server, $who, "look$outside/secret") if $who eq 'main';
		fails($server, $who, 'kill/' . another($server));
		fails($server, $who, (towards($server, $_))[0][0]) for @others;
	}
	SKIP: {
		skip('nothing keeps it from that here', 1)
		    if lacks($server, 'Landlock') && lacks($server, 'filter');
		result($server, $who, "run$outside/ran");
		ok(!-e "$outside/ran", "$who runs nothing");
	}
	ok(!-e "$outside/new", 'nothing has been written');
	SKIP: {
		skip('main of sped reads its root', 1) unless $who eq 'main';
		skip('the system has no Landlock', 1)
		    if lacks($server, 'Landlock');
		fails($server, 'main', "read$server->{root}/page");
	}
	works($server, 'helper', "read$server->{root}/page", qr/page/)
	    if $who eq 'helper';
	$server->stop;
}

# Who asks the system for users is told EPERM, and lives: it still serves.
SKIP: {
	my $server = start('auto', "\tusers public_html\n");

	if (!$filter || lacks($server, 'filter')) {
		$server->stop;
		skip('no filter of system calls here', 1);
	}
	for my $act (towards($server, @others)) {
		my ($word) = result($server, 'helper', $act->[0]);
		is($word, 'failed', "who asks for users cannot $act->[0]");
	}
	is($server->get('/page')->{body}, "page\n", 'and serves');
	$server->stop;
}

done_testing();
