#!/usr/bin/perl
# Programs that run as users of their own: who they are, whose files they
# execute, and that each user has a manager, which a reload leaves alone unless
# it is about its programs.
# A case names its rule: a section of RFC 3875, 9110 or 9112, of the
# specification of FastCGI, or of amped-programs(7) (manual), or a directive of
# amped.conf(5) (conf).  Cases that begin with ... go on with that rule.
# arch: pair
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use Amped qw(await slurp write_file);
use Amped::Applications;
use Amped::Programs;
use Test::More;

plan(skip_all => 'only root gives programs users of their own') if $> != 0;
Amped::needs_many_clients(4);

my ($other, $group) = ('nobody', 'daemon');
my $manager = 'programs';
my $programs = Amped::Programs->new('bin/' => '', 'www/a.own' => "secret\n");
my $dir = $programs->dir;
my $pid_of = 'put("Content-Type: text/plain\n\n$$ $> $)\n");';
my $file = Amped::Applications::make($programs, 'own', 'fastcgi', $pid_of);
my $tell = $programs->perl('bin/tell', 'head(); put("$$ $> $)\n");');
my %blocks = (
	server => "fastcgi $file", other => "fastcgi $file\n\tuser $other",
	group => "command $tell\n\tuser $other $group",
	plain => "command $tell", scripts => "directory $dir/cgi\n\tuser $other",
	files => "command $^X\n\tuser $other",
);
my $server = $programs->start(others => join('', map { "program $_ {\n" .
    "\t$blocks{$_}\n\tmost 1\n\tnice 0\n}\n" } sort keys %blocks),
    site => join('', map { "\tpath /$_ { run $_ }\n" } grep { $_ ne 'files' }
    sort keys %blocks) . "\tpath /files { run files for *.own; alias $dir/www" .
    " }\n");
my $global = $server->{global};
my $user = Amped::ordinary_user();
my %uid = map { $_ => scalar(getpwnam($_)) } $user, $other;
my %gid = map { $_ => (getpwnam($_))[3] } $user, $other;

# Process, user and groups of what answers a path.
sub who {
	my ($path) = @_;
	my $answer = $programs->get("/$path");

	return split(' ', $answer->{body}) if $answer->{status} == 200;
	return ($answer->{status}) x 3;
}

sub is_who {
	my ($path, $name, $gid, $what) = @_;
	my ($pid, $found, @groups) = who($path);
	local $Test::Builder::Level = $Test::Builder::Level + 1;

	is("$found $groups[0]", "$uid{$name} $gid", "$path: $what");
	return ($pid, join(' ', sort { $a <=> $b } @groups[1 .. $#groups]));
}

sub groups_of {
	my ($name, $gid) = @_;
	my $n = join(' ', sort { $a <=> $b } split(' ',
	    qx(id -G $name)), $gid);
	my %seen;

	return join(' ', grep { !$seen{$_}++ } split(' ', $n));
}

sub reload {
	my (%opt) = @_;
	my $n = () = $server->errors =~ /is in force$/mg;
	my $conf = "$server->{dir}/amped.conf";

	%$server = (%$server, %opt);
	write_file("$conf.new", $server->conf_text);
	rename("$conf.new", $conf) or die "$conf: $!\n";
	kill('HUP', $server->{pid});
	await('the conf to be in force', sub {
	    (() = $server->errors =~ /is in force$/mg) > $n });
}

sub uid_of { return slurp("/proc/$_[0]/status") =~ /^Uid:\s+(\d+)/m && $1 }

# Who is who.
my ($mine, $groups) = is_who('server', $user, $gid{$user},
    'conf user: the server\'s user');
is_who('plain', $user, $gid{$user}, '... without a process that stays, too');
(my $its, $groups) = is_who('other', $other, $gid{$other}, 'conf user: its own user');
is($groups, groups_of($other, $gid{$other}), '... with its groups');
(undef, $groups) = is_who('group', $other, scalar(getgrnam($group)),
    'conf user: another group');
my $script = Amped::Programs::variables($programs->get('/scripts/env'));
is($script->{-uid}, $uid{$other}, 'conf user: files of a directory, too');
my @managers = $server->role($manager);
is_deeply([sort map { uid_of($_) } @managers], [sort +($uid{$user}) x 2,
    ($uid{$other}) x 3], 'conf user: managers for each user and group, and what stays');
is(scalar(() = glob('/tmp/amped-*/s')), 0, 'conf user: no socket of a process has a name');

# Files that others can write to.
my $env = "$dir/cgi/env";
for (['may be written by others', sub { chmod(0775, $env) }],
    ['may be written by others', sub { chmod(0757, $env) }],
    ['has a set-user-id or set-group-id bit', sub { chmod(04755, $env) }],
    ['belongs to another user', sub { chown($uid{$user}, -1, $env) }],
    ['may be written by others', sub { chmod(0777, "$dir/cgi") }],
    ['belongs to another user', sub { chown(1, -1, "$dir/cgi") }]) {
	my ($why, $change) = @$_;
	my $before = length($server->errors);

	$change->();
	is($programs->get('/scripts/env')->{status}, 403, "conf user: 403: $why");
	ok(eval { await('a line', sub {
		substr($server->errors, $before) =~
		    /: not executed, .*: \Q$dir\E\S* \Q$why\E/;
	}) }, '... and says so in the log');
	is($programs->get('/cgi/env')->{status}, 200,
	    '... which the server\'s user may run');
	chown(0, 0, $env, "$dir/cgi");
	chmod(0755, $env, "$dir/cgi");
	is($programs->get('/scripts/env')->{status}, 200,
	    '... put right, it runs');
}
chown($uid{$other}, -1, $env);
is($programs->get('/scripts/env')->{status}, 200, 'conf user: a file of its user runs');
write_file("$dir/www/a.own", 'print "Content-Type: a/b\n\n$>";');
is($programs->get('/files/a.own')->{body}, $uid{$other},
    'conf user: a file for an interpreter');
chmod(0666, "$dir/www/a.own");
is($programs->get('/files/a.own')->{status}, 403,
    '... is not read if others can write to it');
chmod(0644, "$dir/www/a.own");
chown($uid{$user}, -1, "$dir/www/a.own");
is($programs->get('/files/a.own')->{status}, 403,
    '... nor if it belongs to another user');
ok($server->wait_line(qr{warn: 403 for /files/a\.own .*: it names a program }),
    '... with a line in the log');
chown($uid{$other}, -1, "$dir/www/a.own");
chmod(0777, "$dir/bin");
is($programs->get('/group')->{status}, 502, 'conf user: nor is a command');
chmod(0755, "$dir/bin");
is_who('group', $other, scalar(getgrnam($group)), 'conf user: put right');

# A reload about one of them, and deaths.
reload(global => $global =~ s/(program group \{\n)/$1\tenvironment A b\n/r);
is((who('server'))[0], $mine, 'manual WATCHING: a reload about one user: others keep theirs');
is((who('other'))[0], $its, '... also one of the same user in its own group');
ok(eval { await('as many managers as before', sub {
	my @now = $server->role($manager);
	my %now = map { $_ => 1 } @now;
	return @now == @managers && 1 == grep { !$now{$_} } @managers;
}) }, '... and one manager is another one');
is_who('group', $other, scalar(getgrnam($group)), 'manual WATCHING: the new one');
reload(global => "program first {\n\tfastcgi $tell\n\tuser $other\n}\n" .
    $server->{global});
is((who('server'))[0], $mine, 'manual WATCHING: a further program in front of the others');
isnt((who('other'))[0], $its, '... concerns those of its user');
is_who('plain', $user, $gid{$user}, '... and each is as before');
is_who('group', $other, scalar(getgrnam($group)), '... as here');
my @killed = grep { uid_of($_) == $uid{$user} } $server->role($manager);
$its = (who('other'))[0];
kill('KILL', @killed);
$programs->gone('manual WATCHING: managers are killed: their processes go', $mine);
is((who('other'))[0], $its, '... those of others stay');
is_who('server', $user, $gid{$user}, '... and they have successors');
$server->stop;

# Who does not start as root cannot do that.
my $conf = Amped::docroot('amped.conf' => "site x {\n\tlisten 127.0.0.1:0\n" .
    "\troot /\n" . "\t" . "run one for *.a\n}\nprogram one {\n\tcommand /bin/sh\n" .
    "\tuser $other\n}\nlog { error stderr; access off }\n");
for my $args (['-t'], ['-D']) {
	my ($status, $out, $err) = Amped::run_as($user, @$args, '-f',
	    "$conf/amped.conf");

	isnt($status, 0, "conf user: @$args of another user than root fails");
	like($out . $err, qr/program one has a user of its own, which only/,
	    '... and says why');
}
my ($status) = Amped::run_as($other, '-t', '-q', '-f', "$conf/amped.conf");
is($status, 0, 'conf user: that user itself can');
done_testing();
