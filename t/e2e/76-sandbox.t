#!/usr/bin/perl
# The sandbox from outside: who has which privileges, what is served all the
# same, and what the conf has a say in.
# arch: all
# plain: with a sanitizer there is no filter of system calls
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use Amped qw(await docroot run_amped slurp write_file);
use Amped::Foreign qw(which_program);
use Test::More;

Amped::one_main();

my $amped = Amped::architecture() eq 'amped';
my $sanitized = slurp(Amped::program()) =~ /__[at]san_init/;

sub status_of {
	my ($pid) = @_;

	return slurp("/proc/$pid/status") =~ /^(\w+):\s+(.*)/mg;
}

sub all_there {
	my ($server) = @_;

	await('all processes', sub {
		!grep { !$server->role($_) } 'main', 'error log', 'access log',
		    $amped ? 'helper' : ();
	});
	# Each says its name before it has given up what it is to give up.
	$server->get('/page');
}

# Processes that are not so, by a field of /proc/PID/status, as soon as all
# are; the monitor is another matter.
sub not_so {
	my ($server, $field, $value) = @_;
	my @wrong;

	eval { await("$field $value", sub {
		@wrong = grep { my %has = status_of($_->{pid});
		    ($has{$field} // '') !~ $value }
		    grep { $_->{title} ne 'amped: monitor' } $server->processes;
		return !@wrong;
	}) };
	return join(' ', map { $_->{title} } @wrong);
}

my $root = docroot(page => "page\n");
my $lacking = '';
SKIP: {
	skip('no Linux', 1) unless -e '/proc/self/status';
	my $server = Amped->start(root => $root);

	all_there($server);
	for my $set (qw(CapInh CapPrm CapEff CapAmb)) {
		is(not_so($server, $set, qr/\A0+\z/), '',
		    "no capability: $set");
	}
	SKIP: {
		skip('what nobody may ever get is root\'s to say', 1)
		    if $> != 0;
		is(not_so($server, 'CapBnd', qr/\A0+\z/), '',
		    'nor may there ever be one');
	}
	is(not_so($server, 'NoNewPrivs', qr/\A1\z/), '',
	    'no new privileges by running a program');
	($lacking) = $server->errors =~ /going on with less of it, (.*)/;
	$lacking //= '';
	SKIP: {
		skip("no filter: $lacking", 1) if $lacking =~ /filter/;
		is(not_so($server, 'Seccomp', qr/\A2\z/), '',
		    'a filter of system calls');
	}
	is(scalar(() = $server->errors =~ /with less of it/g),
	    $lacking ne '' ? 1 : 0, 'one line if anything is lacking, else none');
	$server->stop;

	$server = Amped->start(root => $root, global => "sandbox off\n");
	all_there($server);
	is(not_so($server, 'Seccomp', qr/\A0\z/), '', 'off: no filter');
	is(not_so($server, 'CapEff', qr/\A0+\z/), '',
	    'off: no capability all the same');
	$server->stop;
}

# Started as a user with one capability, as supervisors do it.
SKIP: {
	my $setpriv = which_program('setpriv');

	skip('only root has a capability to give', 1) if $> != 0;
	skip('there is no setpriv', 1) unless $setpriv;
	my $server = Amped->start(root => $root, log => "error stderr debug\n" .
	    "access off\n", program => Amped::program_for_all(),
	    under => [$setpriv, '--reuid',
	    Amped::ordinary_user(), '--clear-groups', '--inh-caps',
	    '+net_bind_service', '--ambient-caps', '+net_bind_service']);
	my %monitor = status_of($server->{pid});

	all_there($server);
	cmp_ok(hex($monitor{CapEff}), '==', 1 << 10, 'the monitor has it');
	is(not_so($server, $_, qr/\A0+\z/), '', "nobody else: $_")
	    for qw(CapPrm CapEff CapAmb);
	is($server->get('/page')->{body}, "page\n", 'it serves');
	$server->stop;
}

# Required is what there is, or an end with a reason.
if ($lacking eq '') {
	my $server = Amped->start(root => $root,
	    global => "sandbox required\n");

	is($server->get('/page')->{body}, "page\n", 'required: it serves');
	$server->stop;
} else {
	my $dir = docroot();

	write_file("$dir/amped.conf", "sandbox required\n" .
	    "site default {\n\tlisten 127.0.0.1:0\n\troot $root\n}\n");
	my ($status, undef, $said) = run_amped('-D', '-f', "$dir/amped.conf");
	is($status >> 8, 69, 'required, but not there: unavailable');
	like($said, qr/sandbox required, but there is/, '... and says what');
}

# A root that is turned elsewhere by a link, as new releases are; what is
# outside; a directory for variants; a password file that is replaced.
my $all = docroot('one/page' => "one\n", 'two/page' => "two\n",
    'secret/page' => "secret\n", 'keep/' => '',
    'auth/passwords' => 'u:$6$amped$' . ('x' x 86) . "\n",
    'two/text.txt' => "a line of text\n" x 500);
symlink('one', "$all/current") or die "symlink: $!\n";
chmod(0777, "$all/keep");
my $variants = "$all/keep";
my $server = Amped->start(root => "$all/current",
    global => "cache {\n\tpaths revalidate 0s stale 0s negative 0s\n" .
    "\tvariants $variants\n}\n",
    site => "\tcompress on\n\tpath /inner {\n\t\tauth realm " .
    "$all/auth/passwords\n\t}\n");

is($server->get('/page')->{body}, "one\n", 'the root by a link');
symlink('two', "$all/next") && rename("$all/next", "$all/current")
    or die "rename: $!\n";
is(await('the other', sub { my $r = $server->get('/page');
    $r->{body} ne "one\n" && $r })->{body}, "two\n", 'turned elsewhere');
# What is old enough to be told from what comes after it.
utime(1e9, 1e9, "$all/two/text.txt");
await('a variant that is kept', sub {
	$server->get('/text.txt', fields => ['Accept-Encoding: gzip']);
	return scalar(glob("$variants/*.gz"));
});
pass('variants are kept');
my $hash = crypt('p', '$6$amped$');
write_file("$all/auth/new", "u:$hash\n");
rename("$all/auth/new", "$all/auth/passwords") or die "rename: $!\n";
is($server->get('/inner/page', fields =>
    ['Authorization: Basic dTpw'])->{status}, 404,
    'a password file that was replaced');
$server->stop;

# A directory that is a root by its own name is out of reach once another has
# taken that name, until the conf is read again.
SKIP: {
	skip("nothing keeps them: $lacking", 1) if $lacking =~ /Landlock/;
	rename("$all/one", "$all/old") or die "rename: $!\n";
	write_file("$all/one/page", "one again\n");
	$server = Amped->start(root => "$all/one", global =>
	    "cache {\n\tpaths revalidate 0s stale 0s negative 0s\n}\n");
	is($server->get('/page')->{body}, "one again\n", 'a root');
	rename("$all/one", "$all/before") && rename("$all/old", "$all/one")
	    or die "rename: $!\n";
	await('it to be out of reach',
	    sub { $server->get('/page')->{status} == 403 });
	like($server->wait_line(qr/out of reach/), qr/\Q$all\E\/one/,
	    'the log says what to do');
	kill('HUP', $server->{pid});
	is(await('the new one', sub { my $r = $server->get('/page');
	    $r->{status} == 200 && $r })->{body}, "one\n",
	    'until the conf is read again');
	await('the main before to go', sub { $server->role('main') == 1 });
	$server->stop;
}

# Links that may leave the root, be it only beneath one path of the site.
my $outside = docroot(page => "outside\n");
my $linked = docroot(page => "page\n", 'inner/' => '');

symlink("$outside/page", "$linked/inner/link") or die "symlink: $!\n";
for my $links ("links all", "path /inner {\n\t\tlinks all\n\t}",
    "path /inner {\n\t\tlinks owner\n\t}",
    "path /other {\n\t\talias $linked/inner\n\t\tlinks all\n\t}") {
	my ($path) = $links =~ m{path (/\w+)};

	$server = Amped->start(root => $linked, site => "\t$links\n");
	is($server->get(($path // '/inner') . '/link')->{body}, "outside\n",
	    $links =~ s/\s+/ /gr);
	$server->stop;
}

# The system's own database of users, whatever it asks: nobody dies of it.
$server = Amped->start(root => $root, site => "\tusers public_html\n");
for my $user (scalar(getpwuid($>)), 'nobody', 'a-user-that-is-not') {
	is($server->get("/~$user/")->{status}, 404, "/~$user/: nothing there");
}
unlike($server->errors, qr/forbidden|died/, 'nobody dies of a look at users');
$server->stop;

done_testing();
