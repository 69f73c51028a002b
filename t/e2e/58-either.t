#!/usr/bin/perl
# A network or a password: satisfy any, in sites, paths and files.
# arch: pair
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use Amped qw(docroot write_file);
use MIME::Base64 qw(encode_base64);
use Test::More;

Amped::one_main();

my $secrets = docroot();

write_file("$secrets/users", 'anna:' .
    crypt('secret', '$6$rounds=1000$saltsalt') . "\n");
my $server = Amped->start(files => { map { $_ => "x\n" } qw(any/a any/all/a
    any/open/a any/both.key plain/a) }, site => <<"EOT");
	path /any {
		allow 127.0.0.2
		auth "Any" $secrets/users
		satisfy any
	}
	path /any/all { allow 127.0.0.2; auth "All" $secrets/users }
	path /any/open { deny 127.0.0.3; auth "Open" $secrets/users; satisfy any }
	files *.key { auth "Key" $secrets/users; allow 127.0.0.3; satisfy any }
EOT

# target, client, password, status
for my $case (
	['/any/a', '127.0.0.2', undef, 200],
	['/any/a', '127.0.0.2', 'wrong', 200],
	['/any/a', '127.0.0.1', undef, 401],
	['/any/a', '127.0.0.1', 'wrong', 401],
	['/any/a', '127.0.0.1', 'secret', 200],
	['/any/all/a', '127.0.0.2', undef, 401],
	['/any/all/a', '127.0.0.2', 'secret', 200],
	['/any/all/a', '127.0.0.1', 'secret', 403],
	['/any/open/a', '127.0.0.1', undef, 200],
	['/any/open/a', '127.0.0.3', undef, 401],
	['/any/open/a', '127.0.0.3', 'secret', 200],
	# The rules of the path, and those of the name.
	['/any/both.key', '127.0.0.2', undef, 401],
	['/any/both.key', '127.0.0.3', undef, 401],
	['/any/both.key', '127.0.0.3', 'secret', 200],
	['/any/both.key', '127.0.0.1', 'secret', 200],
	['/plain/a', '127.0.0.1', undef, 200],
) {
	my ($target, $from, $password, $status) = @$case;
	my $answer = $server->get($target, from => $from, fields =>
	    [defined($password) ? 'Authorization: Basic ' .
	    encode_base64("anna:$password", '') : ()]);

	is($answer->{status}, $status, "$target from $from, " .
	    ($password // 'no password'));
	is(defined($answer->{field}{'www-authenticate'}), $status == 401,
	    'whether a password would help');
}
$server->stop;
done_testing();
