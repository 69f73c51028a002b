#!/usr/bin/perl
# Started by root, with logs in a directory of the user's that it becomes: what
# is put there by that user leads root nowhere; what root has put elsewhere does.
# arch: one: the monitor and its children open logs
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use Amped qw(await docroot slurp write_file);
use Test::More;

Amped::one_main();
plan(skip_all => 'only root opens with privileges') if $> != 0;

my $user = Amped::ordinary_user();
my ($uid, $gid) = (getpwnam($user))[2, 3];
my $root = docroot('page' => "page\n");
my $secret = docroot();
chmod(0700, $secret) or die "$secret: $!\n";

# A place for logs that is the user's, as packages make it.
sub logs {
	my $dir = docroot();

	chown($uid, $gid, $dir) == 1 or die "$dir: $!\n";
	return $dir;
}

# As the user would, with all that root has.
sub theirs {
	my ($target, $name) = @_;

	symlink($target, $name) or die "$name: $!\n";
	system('chown', '-h', $user, $name) == 0 or die "chown\n";
}

sub start {
	my ($access, $error, %opt) = @_;

	my $server = Amped->start(root => $root, errors => 1, %opt,
	    unready => 1,
	    log => "\taccess $access common\n\terror $error info\n");

	$server->{error} = $error if $error !~ m{^/dev};
	return $opt{unready} ? $server : $server->ready;
}

sub untouched {
	my ($what) = @_;

	ok(!-e "$secret/made", "$what: nothing is made");
	is(slurp("$secret/there"), "before\n", "$what: nothing is appended");
}

write_file("$secret/there", "before\n");

# At the start: it does not.
for my $case (['made', 'access.log', 'error.log'],
    ['there', 'access.log', 'error.log'], ['there', 'error.log', 'access.log']) {
	my ($target, $name) = @$case;
	my $dir = logs();

	theirs("$secret/$target", "$dir/$name");
	my $server = start("$dir/access.log", "$dir/error.log", unready => 1);
	is($server->reap >> 8, 73, "$name, a link: it does not start");
	like($server->errors, qr{error:[ ]not[ ]opening[ ]\Q$dir/$name\E:[ ]another[ ]user
	    [ ]than[ ]root[ ]may[ ]have[ ]made[ ]the[ ]link[ ]\Q$name\E[ ]in[ ]it;
	    [ ]remove[ ]the[ ]link,}x, '... and says why');
	like($server->errors,
	    qr{cannot open the log \Q$dir/$name\E: make it writable,},
	    '... and what follows');
	$server->discard;
	untouched($name);
}

# A directory on the way.
{
	my $dir = logs();

	theirs($secret, "$dir/below");
	my $server = start("$dir/below/made", "$dir/error.log", unready => 1);
	is($server->reap >> 8, 73, 'a link on the way: it does not start');
	like($server->errors,
	    qr/not opening \S+: another user than root may have made the link below/,
	    '... and says why');
	$server->discard;
	untouched('on the way');
}

# While it serves: each is kept as it is.
for my $signal (qw(USR1 HUP)) {
	my $dir = logs();
	my ($access, $error) = ("$dir/access.log", "$dir/error.log");
	my $server = start($access, $error);

	is((stat($access))[4], 0, 'the logs are made') if $signal eq 'USR1';
	rename($_, "$_.1") or die "$_: $!\n" for $access, $error;
	theirs("$secret/made", $access);
	theirs("$secret/there", $error);
	kill($signal, $server->{pid});
	for my $name (qw(access error)) {
		my $line = $server->wait_line(
		    qr/not opening \S*$name\.log:/, "$error.1");
		like($line, qr/made the link.*remove the link/, "$signal: the $name log");
		ok($server->wait_line(qr{cannot open the .*/$name\.log again, going}, "$error.1"), '... goes on');
	}
	$server->wait_line(qr/is in force/, "$error.1") if $signal eq 'HUP';
	is($server->get('/page?on')->{body}, "page\n", '... served');
	ok($server->wait_line(qr{/page\?on}, "$access.1"), '... and written');
	untouched($signal);

	# As they say: removed, new ones are made.
	unlink($access, $error);
	kill($signal, $server->{pid});
	await('new logs', sub { -e $access && -e $error });
	await('a line', sub { $server->get('/page?new');
	    slurp($access) =~ /\?new/ });
	pass("$signal: links removed, new ones are made");
	$server->{error} = $error;
	$server->stop;
}

# A file of root's under another name; the kernel may keep them from it.
{
	my $dir = logs();

	link("$secret/there", "$dir/access.log") or die "link: $!\n";
	my $server = start("$dir/access.log", "$dir/error.log", unready => 1);
	is($server->reap >> 8, 73, 'another name: it does not start');
	like($server->errors, qr/made it as a second name/, '... and says why');
	$server->discard;
	untouched('another name');
	unlink("$dir/access.log");
}

# What root has set up works.
{
	my ($dir, $theirs, $far) = (docroot(), logs(), docroot());

	chmod(0755, $_) for $dir, $far;
	symlink("$far/a.log", "$dir/access.log") or die "link: $!\n";
	symlink($far, "$dir/far") or die "link: $!\n";
	my $server = start("$dir/access.log", "$dir/far/error.log");
	is($server->get('/page')->{body}, "page\n", "root's links: served");
	ok($server->wait_line(qr{/page}, "$far/a.log"), '... written');
	rename("$far/a.log", "$far/a.log.1") or die "$far: $!\n";
	kill('USR1', $server->{pid});
	await('a new one', sub { -e "$far/a.log" });
	pass('... and opened again');
	$server->stop;

	# Files of theirs, as logrotate makes them.
	write_file("$theirs/$_.log", '') for qw(access error);
	chown($uid, $gid, "$theirs/$_.log") for qw(access error);
	$server = start("$theirs/access.log", "$theirs/error.log");
	is($server->get('/page')->{body}, "page\n", 'their files: served');
	ok($server->wait_line(qr{/page}, "$theirs/access.log"), '... written');
	$server->stop;
}

# As in a container.
{
	my $server = start('/dev/stdout', '/dev/stderr');

	is($server->get('/page?out')->{body}, "page\n", '/dev/stdout: served');
	ok($server->wait_line(qr{/page\?out}, $server->{out}), '... written');
	kill('USR1', $server->{pid});
	ok($server->wait_line(qr/access log has been opened again/),
	    '... and opened again');
	is($server->get('/page?more')->{body}, "page\n", '... served');
	ok($server->wait_line(qr{/page\?more}, $server->{out}), '... written');
	$server->stop;
}

# The pid file and the control socket, over a directory of theirs.
{
	my $dir = logs();
	my $global = "pid $dir/run/pid\ncontrol $dir/run/control\n";

	theirs($secret, "$dir/run");
	my $server = start("$dir/access.log", "$dir/error.log", unready => 1,
	    global => $global);
	is($server->reap >> 8, 73, 'a link to the pid file: no start');
	$server->discard;
	$server = start("$dir/access.log", "$dir/error.log", unready => 1,
	    global => "control $dir/run/control\n");
	is($server->reap >> 8, 69, 'a link to the control socket: no start');
	$server->discard;
	is_deeply([glob("$secret/*")], ["$secret/there"],
	    '... and nothing is made');
}

done_testing();
