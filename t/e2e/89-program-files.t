#!/usr/bin/perl
# Programs that are confined: what "confine" denies them, what "writes" gives
# back, and what a kernel without Landlock has to say.  Filters are confined
# without a word in the conf.
# arch: one: main has no part in it
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use Amped qw(await slurp write_file);
use Amped::Applications;
use Amped::Programs;
use Test::More;

Amped::needs_many_clients(4);

my $programs = Amped::Programs->new('www/page' => "page\n", 'bin/' => '',
    'writes/old' => "old\n", 'elsewhere/secret' => "secret\n",
    'beside/page' => "beside\n", 'app/parts/a' => "a\n",
    'app/secret' => "secret\n");
my $dir = $programs->dir;

# Does what a query says to a path of the test, or of the system; says how that
# went.
my $lines = <<'END';
my ($what, $path) = ($ENV{QUERY_STRING} // $request{params}{QUERY_STRING}) =~
    m{^(\w+)=(.*)$};
my ($fh, $dh);
my %do = (
	read => sub { open($fh, '<', $_[0]) && defined(readline($fh)) },
	list => sub { opendir($dh, $_[0]) && defined(readdir($dh)) },
	write => sub { open($fh, '>', $_[0]) && syswrite($fh, 'x') },
	append => sub { open($fh, '>>', $_[0]) && syswrite($fh, 'x') },
	make => sub { mkdir("$_[0].d") && rename("$_[0].d", "$_[0].e") &&
	    rmdir("$_[0].e") },
	link => sub { symlink('a', $_[0]) && unlink($_[0]) },
	run => sub { open($fh, '-|', $_[0], '-c', 'echo yes') &&
	    (readline($fh) // '') eq "yes\n" },
	signal => sub { kill(0, $_[0]) },
);
$path =~ s{^~}{%DIR};
my $done = $do{$what}->($path) ? 'yes' : 'no: ' . ($!{EACCES} ? 'denied' :
    $!{EPERM} ? 'not permitted' : $!);
END
$lines = "our \%request;\nuse Errno;\n" . ($lines =~ s/%DIR/$dir/r);
my $probe = $programs->perl('bin/probe', $lines . 'head(); put($done);');
my $pool = Amped::Applications::make($programs, 'pool', 'fastcgi', $lines .
    'put("Content-Type: text/plain\n\n$done");');

# A filter's file has the words.
my $asks = $programs->perl('bin/asks', $lines =~
    s/\(\$ENV.*?\) =~/readline(STDIN) =~/sr . 'print($done);');
chmod(0777, "$dir/writes", "$dir/elsewhere");
chmod(0666, "$dir/writes/old", "$dir/elsewhere/secret", "$dir/www/page");

my $files = "confine files\n\twrites $dir/writes";
my %blocks = (
	basic => "command $probe",
	files => "command $probe\n\t$files",
	nothing => "command $probe\n\tconfine files",
	pool => "fastcgi $pool\n\t$files", dir => "directory $dir/cgi\n" .
	"\tconfine files",
	anything => "directory $dir/cgi\n\tconfine off",
);
my $blocks = join('', map { "program $_ {\n\t$blocks{$_}\n\tmost 2\n" .
    "\tnice 0\n}\n" } sort keys %blocks);
my $site = join('', map { "\tpath /$_ { run $_ }\n" } sort keys %blocks);

# Filters: two that ask, two that take too much, and those of amped.
my $takes = $programs->perl('bin/takes', 'my $x = "x" x (200 << 20); print 1;');
my $burns = $programs->perl('bin/burns', 'while (1) { }');
my %filters = (asks => "filter $asks", changes => "filter $asks\n" .
    "\twrites $dir/writes", names => "filter $asks $dir/app/parts", takes => "filter $takes\n\tmemory 64M",
    burns => "filter $burns\n\tcpu 1s", replaces => 'filter replace a b',
    converts => 'filter charset latin1 utf-8', free => "filter replace a b\n" .
    "\tconfine off");
$blocks .= join('', map { "program $_ {\n\t$filters{$_}\n\tnice 0\n}\n" .
    "chain $_ { filters $_ }\n" } sort keys %filters);
$site .= join('', map { "\tpath /f/$_ { alias $dir/www; chain $_ }\n" .
    "\tpath /p/$_ { run anything; chain $_ }\n" } sort keys %filters);

# On a system without Landlock nobody is promised what nobody keeps.
my $landlock = syscall(444, 0, 0, 1);
if ($landlock <= 0) {
	my $conf = Amped::docroot('amped.conf' => "site x {\n\tlisten " .
	    "127.0.0.1:0\n\troot /\n" . "\t" . "run one for *.a\n}\nprogram one {\n" .
	    "\tcommand /bin/sh\n\tconfine files\n}\nlog { error stderr; " .
	    "access off }\n");
	for my $args (['-t'], ['-D']) {
		my ($status, $out, $err) = Amped::run_amped(@$args, '-f',
		    "$conf/amped.conf");
		isnt($status, 0, "@$args: no Landlock, no start");
		like($out . $err, qr/there is no Landlock here/, '... says so');
	}
	done_testing();
	exit(0);
}

my $server = $programs->start(others => $blocks, site => $site);

sub tries {
	my ($name, $what, $path) = @_;
	my $answer = $programs->get("/$name?$what=$path");

	return $answer->{status} == 200 ? $answer->{body} : $answer->{status};
}

# A command that an attacker would have to bring along.
write_file("$dir/writes/sh", slurp('/bin/sh'));
chmod(0755, "$dir/writes/sh");
my ($manager) = $server->role('programs');

# What, to which path, and whether with these confinements: basic; files;
# files without "writes".
my @cases = (
	[read => '~/www/page', 1, 1, 1],
	[list => '~/www', 1, 1, 1],
	[read => '~/beside/page', 1, 0, 0],
	[read => '~/elsewhere/secret', 1, 0, 0],
	[list => '~/elsewhere', 1, 0, 0],
	[append => '~/elsewhere/secret', 1, 0, 0],
	[append => '~/www/page', 1, 0, 0],
	[write => '~/elsewhere/new', 1, 0, 0],
	[make => '~/elsewhere/new', 1, 0, 0],
	[read => '~/writes/old', 1, 1, 0],
	[append => '~/writes/old', 1, 1, 0],
	[write => '~/writes/new', 1, 1, 0],
	[make => '~/writes/new', 1, 1, 0],
	[link => '~/writes/link', 1, 1, 0],
	[read => '~/writes/../elsewhere/secret', 1, 0, 0],
	[run => '~/writes/sh', 1, 0, 0],
	[run => '/bin/sh', 1, 1, 1],
	[read => '/etc/passwd', 1, 1, 1],
	[read => '/proc/self/status', 1, 1, 1],
	[write => '/dev/null', 1, 1, 1],
	[read => '~/bin/probe', 1, 1, 1],
	[write => '/tmp/amped-test-' . $$, 1, 0, 0],
	$landlock < 6 ? () : [signal => $manager, 1, 0, 0],
);
for my $case (@cases) {
	my ($what, $path, $basic, $files, $nothing) = @$case;
	my %want = (basic => $basic, files => $files, pool => $files,
	    nothing => $nothing);

	for my $name (sort keys %want) {
		unlink(map { glob("$dir/$_/new*") } qw(elsewhere writes));
		is(tries($name, $what, $path), $want{$name} ? 'yes' :
		    $what eq 'signal' ? 'no: not permitted' : 'no: denied',
		    "$name: $what $path");
		unlink("/tmp/amped-test-$$");
	}
}
is(slurp("$dir/elsewhere/secret"), "secret\nx", 'what was denied was not done');

# A filter may do what "files" allows, without a word.
while (my ($n, $case) = each(@cases)) {
	my ($what, $path, undef, $changes, $asks_only) = @$case;
	my %want = (changes => $changes, asks => $asks_only);

	write_file("$dir/www/case$n", "$what=$path");
	for my $name (sort keys %want) {
		unlink(map { glob("$dir/$_/new*") } qw(elsewhere writes));
		is($programs->get("/f/$name/case$n")->{body},
		    $want{$name} ? 'yes' : $what eq 'signal' ?
		    'no: not permitted' : 'no: denied',
		    "filter $name: $what $path");
	}
}

# A directory that an argument names, and not what stands beside it.
for my $case (['app/parts/a' => 'yes'], ['app/secret' => 'no: denied']) {
	write_file("$dir/www/named", "read=~/$case->[0]");
	is($programs->get('/f/names/named')->{body}, $case->[1],
	    "manual confine: a filter names app/parts: $case->[0]");
}
for my $name (qw(takes burns)) {
	is($programs->get("/f/$name/page")->{status}, 500,
	    "a filter that $name too much");
}
$server->wait_line(qr/warn: burns\[\d+\]: was killed by signal/);

# What amped's own filters can do while they have an untrusted text.
sub status_of { return eval { slurp("/proc/$_[0]/status") } // '' }

sub parent_of { return status_of($_[0]) =~ /^PPid:\s+(\d+)/m ? $1 : 0 }

sub filter_status {
	my ($name) = @_;
	my $client = $programs->ask($programs->play("head(); put('text'); " .
	    "wait_test('$name');") =~ s{^/cgi}{/p/$name}r);

	$client->fill until $client->{in} =~ /text/ || $client->{end};
	my %is_manager = map { $_ => 1 } $server->role('programs');
	my ($pid) = grep { (eval { slurp("/proc/$_/cmdline") } // '') =~
	    /\0filter\0/ && $is_manager{parent_of(parent_of($_))} }
	    map { m{(\d+)} } glob('/proc/[1-9]*');
	my %status = status_of($pid) =~ /^(\w+):\s+(.*)/mg;
	$programs->let($name);
	is($client->response->{body}, 'text', "$name: works");
	return \%status;
}
SKIP: {
	skip('there is no filter of system calls', 6)
	    if $server->errors =~ /less of it, .*filter/ ||
	    slurp(Amped::program()) =~ /__[at]san_init/;
	is(filter_status($_)->{Seccomp}, 2, '... with few system calls')
	    for qw(replaces converts);
	is(filter_status('free')->{Seccomp}, 0,
	    '... with all of them, if the conf says so');
}

# What a program starts is confined as well.
my $v = Amped::Programs::variables($programs->get('/dir/env'));
is($v->{-privs}, 1, 'files: no new privileges');
is($programs->get('/dir/env')->{status}, 200, '... of a directory');
$v = Amped::Programs::variables($programs->get('/cgi/env'));
is($v->{-privs}, 1, 'basic: no new privileges');
my $inherited = slurp("/proc/$$/status") =~ /NoNewPrivs:\s+(\d)/ ? $1 : 0;
$v = Amped::Programs::variables($programs->get('/anything/env'));
is($v->{-privs}, $inherited, 'off: they may be had');
is(scalar($server->role('programs')), 4,
    'each confinement has a manager, and the pool');
$server->stop;
done_testing();
