#!/usr/bin/perl
# Programs that are confined: what "confine" denies them, what "writes" gives
# back, and what a kernel without Landlock has to say.
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
    'beside/page' => "beside\n");
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
