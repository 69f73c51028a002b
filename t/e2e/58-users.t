#!/usr/bin/perl
# Users' directories, from a user database of the test's own, which may be
# slow; and which links are followed.
# arch: pair
use strict;
use warnings;

use Fcntl qw(O_NONBLOCK O_WRONLY);
use FindBin;
use lib "$FindBin::Bin/../lib";
use Amped qw(await docroot write_file);
use POSIX qw(ELOOP ENOENT EXDEV mkfifo);
use Test::More;

Amped::one_main();

my $library = Amped::copy_for_all('t/lib/passwd.so');
plan(skip_all => 'there is no passwd.so: make tests') unless $library;

my $root_starts = $> == 0;
my $joe = $root_starts ? 20001 : $>;
my $other = $joe + 1;

my $all = docroot('root/page' => "page\n", 'root/404.html' => "sorry\n",
    'alias/file' => "alias\n", 'home/empty/file' => "no\n",
    'home/joe/private' => "private\n", 'home/gone/www/page' => "gone\n");
my $home = "$all/home";
my $www = "$home/joe/www";
write_file("$www/$_", "joe's $_\n") for qw(index.html page sub/a sub/b
    loose/in .hidden);
symlink('page', "$www/in");
symlink('../private', "$www/out");
symlink('../../private', "$www/loose/out");
symlink('../../private', "$www/sub/out");
symlink('/etc/passwd', "$www/loose/passwd");
symlink('/', "$www/loose/top");
mkfifo("$all/fifo", 0644) or die "mkfifo: $!\n";
chmod(0644, "$all/fifo");
write_file("$www/theirs", "theirs\n");
write_file("$www/sub/theirs", "theirs\n");
if ($root_starts) {
	system('chown', '-hR', $joe, $home) == 0 or die "chown\n";
	chown($other, -1, "$www/theirs", "$www/sub/theirs");
}

my %users = (joe => "$joe $home/joe", empty => "$joe $home/empty",
    nowhere => "$joe $home/nowhere", thief => "$other $home/joe",
    barred => "$joe $home/joe", gone => "$joe $home/gone",
    low => ($joe - 1) . " $home/joe", slow => "$joe $home/joe $all/fifo");

sub write_users {
	write_file("$all/next", join('', map { "$_ $users{$_}\n" }
	    sort keys %users));
	rename("$all/next", "$all/passwd") or die "rename: $!\n";
}

write_users();

my $server = do {
	local $ENV{AMPED_TEST_PASSWD} = "$all/passwd";
	local $ENV{LD_PRELOAD} = $library;
	local $ENV{ASAN_OPTIONS} = join(':', $ENV{ASAN_OPTIONS} // (),
	    'verify_asan_link_order=0');

	Amped->start(root => "$all/root", global =>
	    "cache { paths 1000 revalidate 20ms stale 40ms negative 20ms }\n" .
	    "helpers 2 max 4\n", site => <<"END");
	users www deny barred from $joe
	listing json
	error 404 /404.html
	path /~alias { alias $all/alias }
	path /~joe/sub { header X-Sub yes }
	path /~joe/loose { links owner }
	path /~joe/in { links none }
END
};

sub answers {
	my ($target, $status, $what, $body) = @_;
	my $answer = $server->get($target);

	is($answer->{status}, $status, "$what: $status");
	is($answer->{body}, $body, "$what: its bytes") if defined($body);
	return $answer;
}

# What there is.
answers('/~joe/', 200, 'the index', "joe's index.html\n");
answers('/~joe/page', 200, 'a file', "joe's page\n");
answers('/%7ejoe/page', 200, 'another spelling', "joe's page\n");
answers('/~joe/.hidden', 403, 'a dot-file');
answers('/~JOE/page', 404, 'the same user in another case');
is(answers('/~joe?q', 301, 'without slash')->{field}{location}, '/~joe/?q',
    'to the same with a slash');
is(answers('/~joe/sub', 301, 'a directory')->{field}{location}, '/~joe/sub/',
    'to it with a slash');
my $list = answers('/~joe/sub/', 200, 'a listing');
is($list->{field}{'x-sub'}, 'yes', 'by the rules of its path');
is(join(' ', $list->{body} =~ /"name":"(.*?)"/g),
    $root_starts ? 'a b' : 'a b theirs', 'with what can be had');
answers('/~alias/file', 200, 'a path of the conf', "alias\n");
answers('/page', 200, 'a file of the site', "page\n");

# Who has none is like who is nobody.
my $nobody = answers('/~nobody-at-all/', 404, 'nobody', "sorry\n");
is($server->get('/~nobody-at-all')->{status}, 301, 'nobody without slash');
for my $name (qw(empty nowhere barred low)) {
	my $answer = answers("/~$name/", 404, $name, "sorry\n");

	delete($_->{field}{date}) for $answer, $nobody;
	is_deeply($answer->{field}, $nobody->{field}, "$name is like nobody");
	is($server->get("/~$name")->{status}, 301, "$name without slash");
}
answers($_, 404, $_) for '/~', '/~/', '/~a%20b/', '/~..%2fjoe/page',
    '/~-joe/', '/~' . 'j' x 33 . '/', '/x/~joe/page';

# Owners and links.
answers('/~thief/page', 403, 'the directory of another');
answers('/~joe/out', 403, 'a link out of it');
answers('/~joe/sub/out', 403, 'another');
answers('/~joe/in', 403, 'a link where there may be none');
$server->wait_line(qr{404 for /~low/ .*: its user has a lower uid than });
$server->wait_line(qr{404 for /~barred/ .*: its user is one of users deny: });
$server->wait_line(qr{403 for /~joe/out .*: links \S+ \(});
answers('/~slow-not/', 404, 'no user by half a name');
answers('/~joe/loose/out', 200, 'a link of the owner', "private\n");
answers('/~joe/loose/top/none', 403, 'one to what is root\'s');
if ($root_starts) {
	answers('/~joe/theirs', 403, 'the file of another');
	$server->wait_line(qr{403 for /~joe/theirs .*: it does not belong to } .
	    qr{the user in whose directory it is: users www .*: ~joe/www/theirs});
	answers('/~joe/loose/passwd', 403, 'a link to what is root\'s');
	answers('/~joe/loose/top/etc/passwd', 403, 'through what is root\'s');
}

# The same by hand.
my $helper = ($ENV{AMPED_BUILD} // Amped::source_dir()) . '/amped-helper';

sub by_hand {
	my (@args) = @_;
	local $ENV{AMPED_TEST_PASSWD} = "$all/passwd";
	local $ENV{LD_PRELOAD} = $library;
	local $ENV{ASAN_OPTIONS} = join(':', $ENV{ASAN_OPTIONS} // (),
	    'verify_asan_link_order=0');

	open(my $out, '-|', $helper, @args) or die "$helper: $!\n";
	my ($error) = map { /^error (\d+)/ } <$out>;
	close($out);
	return ($error // '') . ' ' . ($? >> 8);
}

is(by_hand(qw(-u joe resolve www page)), '0 0', 'a user by hand');
is(by_hand(qw(-u nobody-at-all resolve www page)), ENOENT . ' 1', 'nobody');
is(by_hand(qw(-u joe resolve www out)), EXDEV . ' 1', 'a link out');
is(by_hand(qw(-u joe -k owner resolve www out)), '0 0', 'by its owner');
is(by_hand(qw(-u joe -k none resolve www in)), ELOOP . ' 1', 'without links');
is(by_hand(qw(-k none list), "$all/root", ''), '0 0', 'a listing');

# A user who has gone is forgotten.
answers('/~gone/page', 200, 'who will go', "gone\n");
delete($users{gone});
write_users();
await('a user to be forgotten',
    sub { $server->get('/~gone/page')->{status} == 404 });
pass('who has gone is nobody');

# A database that takes its time.
sub slow_database {
	# Who has a thread of his own looks by himself.
	my @clients = map { $server->connect }
	    1 .. (Amped::architecture() eq 'mt' ? 1 : 2);
	$_->send("GET /~slow/page HTTP/1.1\r\nHost: x\r\n\r\n") for @clients;
	my $fifo;
	await('the database to be asked',
	    sub { sysopen($fifo, "$all/fifo", O_WRONLY | O_NONBLOCK) });
	SKIP: {
		# Or all that asks for a name.
		skip('there the whole server waits, by design', 4)
		    if Amped::architecture() =~ /^(?:sped|pipelined)\z/;
		answers('/page', 200, 'the site while a user is looked up',
		    "page\n");
		answers('/~joe/sub/a', 200, 'and another user', "joe's sub/a\n");
	}
	# Only this once, however often it is looked at.
	$users{slow} = $users{joe};
	write_users();
	close($fifo);
	for my $client (@clients) {
		my $answer = $client->response('GET');

		is($answer->{body}, "joe's page\n", 'who has waited is served');
	}
}
slow_database() if Amped::many_clients();
$server->stop;
done_testing();
