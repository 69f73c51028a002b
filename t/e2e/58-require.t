#!/usr/bin/perl
# Some users of a password file, by name and by group.
# arch: pair
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use Amped qw(await docroot write_file);
use MIME::Base64 qw(encode_base64);
use Test::More;

Amped::one_main();

my $secrets = docroot();

sub write_groups { write_file("$secrets/groups", join('', map { "$_\n" } @_)) }

write_file("$secrets/users", join('', map { "$_:" .
    crypt($_, '$6$rounds=1000$saltsalt') . "\n" } qw(ann bob eve)));
write_groups('staff: ann eve', 'board: bob');
my $server = Amped->start(files => { map { $_ => "x\n" } qw(a staff/a bob/a
    own/a err.html a.key) }, site => <<"EOT");
	auth "All" $secrets/users groups $secrets/groups
	error 403 /err.html
	path /staff { require group staff }
	path /bob { require user bob }
	path /own { auth "Own" $secrets/users }
	files *.key { auth "Key" $secrets/users; require user eve }
EOT

sub status {
	my ($target, $user, $password) = @_;

	return $server->get($target, fields => [defined($user) ?
	    'Authorization: Basic ' . encode_base64("$user:" .
	    ($password // $user), '') : ()])->{status};
}

# target, and who is let in
for my $case (['/a', 'ann bob eve'], ['/staff/a', 'ann eve'],
    ['/bob/a', 'bob'], ['/own/a', 'ann bob eve'], ['/a.key', 'eve']) {
	my ($target, $users) = @$case;

	is(status($target), 401, "$target: nobody");
	for my $user (qw(ann bob eve)) {
		my $wanted = $users =~ /$user/ ? 200 : 403;

		is(status($target, $user), $wanted, "$target: $user");
		is(status($target, $user), $wanted, 'again');
		is(status($target, $user, 'no'), 401, 'a wrong password');
	}
}
my $answer = $server->get('/bob/a', fields => ['Authorization: Basic ' .
    encode_base64('eve:eve', '')]);
is($answer->{body}, "x\n", 'the page of the conf');
like($server->wait_line(qr/403 for .bob.a/), qr/its user is not one of/,
    'the log says why');
ok($server->wait_line(qr{ - eve \[.*"GET /bob/a}, $server->{access}),
    'and who it was');

# The file is read with the conf.
write_groups('staff: bob');
kill('HUP', $server->{pid});
$server->wait_line(qr/conf has been read again/);
is(status('/staff/a', 'bob'), 200, 'bob has joined');
is(status('/staff/a', 'eve'), 403, 'eve has left');
write_groups('nothing: bob');
kill('HUP', $server->{pid});
like($server->wait_line(qr/there is no group/), qr/no group "staff" in/,
    'a group that is not there');
is(status('/staff/a', 'bob'), 200, 'the conf before');
$server->finish;
done_testing();
