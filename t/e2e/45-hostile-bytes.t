#!/usr/bin/perl
# Whatever bytes strangers send: no log has one that a terminal obeys, and each
# is valid UTF-8; nor has what is printed about them.
# arch: one: all of them log in the same way
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use Amped qw(await docroot said slurp write_file);
use Amped::Slowfs;
use Test::More;

Amped::one_main();

my $root = docroot('page' => "page\n", 'index.html' => "index\n");
my @raw = ("\x9b31mC1\x9b0m", "\xc2\x9b31mC1 in UTF-8\xc2\x9b0m",
    "\x1b]0;title\x07", "\x7f\x08\x0d\x0a", "\xff\xfe\xc3", "\xc0\x9b",
    "\xed\xa0\x80", "\xe2\x80\xae\xe2\x81\xa6", "\xf0\x9f\x98\x80\xc3\xa9");
# As a client can send them: a target has them escaped, a field as they are.
my @targets = map { '/' . join('', map { sprintf('%%%02x', ord) }
    split(//, $_)) } grep { $_ !~ /[\r\n]/ } @raw, map { chr } 128 .. 159;
my @fields = grep { $_ !~ /[\r\n]/ } @raw, join('', map { chr } 128 .. 255);

# The first line of a text that a terminal would obey, or that is no UTF-8.
sub obeyed {
	my ($text) = @_;

	for my $line (split(/\n/, $text)) {
		my $characters = $line;

		return $line unless utf8::decode($characters);
		return $line if $characters =~
		    /[\x00-\x1f\x7f-\x9f\x{202a}-\x{202e}\x{2066}-\x{2069}]/;
	}
	return;
}

sub clean {
	my ($text, $what) = @_;
	my $line = obeyed($text);

	ok(!defined($line), $what) or
	    diag($line =~ s/([^ -~])/sprintf('\\x%02x', ord($1))/ger);
	cmp_ok(length($text), '>', 100, '... and there is something');
}

# Each of them in every place of a request; the last one is plain.
sub ask_all {
	my ($server) = @_;

	for my $target (@targets) {
		$server->get($target);
		$server->get("/page?$target");
	}
	for my $field (@fields) {
		eval { $server->raw("GET /page HTTP/1.1\r\nHost: x\r\n" .
		    "User-Agent: $field\r\nReferer: $field\r\n" .
		    "X: $field\r\nConnection: close\r\n\r\n") };
		eval { $server->raw("GET /$field HTTP/1.1\r\nHost: x\r\n\r\n") };
		eval { $server->raw("$field /page HTTP/1.1\r\nHost: x\r\n\r\n") };
		eval { $server->raw("GET /page HTTP/1.1\r\nHost: $field\r\n\r\n") };
	}
	is($server->get('/last')->{status}, 404, 'the last');
	$server->wait_line(qr/last/, $server->{access});
}

my @formats = (qw(common combined vcombined json), 'own', 'terse');
for my $format (@formats) {
	my $server = Amped->start(root => $root, errors => 1,
	    log => "\taccess %D/access.log $format\n\terror %D/error.log debug\n" .
	    "\tformat own \"%h %u %r %U %q %m %H %V %{X}i %{Referer}i\"\n" .
	    "\tformat json terse \"{\\\"x\\\":\\\"%{X}i\\\",\\\"u\\\":\\\"%U\\\"}\"\n");

	ask_all($server);
	$server->stop;
	clean(slurp($server->{access}), "the access log, $format");
	clean(said(slurp($server->{error})), "the error log, with $format");
}

# A program that reads a log and says what it hears: that is for the error log.
{
	my $dir = docroot();

	write_file("$dir/echo", "#!/bin/sh\nprintf 'C1 \\233 31m \\033[0m\\n' >&2\n" .
	    "exec cat > $dir/access\n");
	chmod(0755, $dir, "$dir/echo");
	chmod(0777, $dir);
	my $server = Amped->start(root => $root, errors => 1,
	    log => "\taccess \"|$dir/echo\" combined\n" .
	    "\terror %D/error.log debug\n");

	ok($server->wait_line(qr/C1/, $server->{error}), 'a program speaks');
	$server->{access} = "$dir/access";
	ask_all($server);
	$server->stop;
	clean(slurp("$dir/access"), 'what a program reads');
	clean(said(slurp($server->{error})), 'the error log, with a program');
}

# Names of files, when the disk says no.
SKIP: {
	my $missing = Amped::Slowfs::missing();
	my $at = docroot();

	skip($missing, 5) if $missing;
	my $fs = Amped::Slowfs->new($root, $at);
	my $server = Amped->start(root => $at, errors => 1,
	    log => "\taccess %D/access.log\n\terror %D/error.log debug\n");

	is($server->get('/page')->{status}, 200, 'while the disk is well');
	$fs->fail('lookup');
	$server->get($_) for @targets;
	ok($server->wait_line(qr/cannot look up .*31mC1/, $server->{error}),
	    'the disk says no, and that is told');
	$fs->release;
	$server->stop;
	clean(said(slurp($server->{error})), 'the error log, of files');
}

# What is said of a URL, and of a conf.
{
	my $dir = docroot();

	symlink("/no\x9b31m\x1b[2Jwhere", "$dir/link") or die "symlink: $!\n";
	write_file("$dir/amped.conf", "site default {\n\tlisten 127.0.0.1:1\n" .
	    "\troot $dir\n}\n");
	for my $url (map { "http://127.0.0.1:1$_" } '/link', @targets) {
		my ($status, $out, $err) = Amped::run_amped('-u', $url, '-f',
		    "$dir/amped.conf");

		my $line = obeyed("$out$err");
		ok(!defined($line) && $out =~ /^status/m, "-u $url") or
		    diag($out, $err);
	}
	for my $case (["inclu\x9bde \"\xc2\x9b\"\ninclude \"a\x9b\"\n",
	    qr/unknown word "inclu\?de"/], ["x \x1b[31m\n", qr/control byte/]) {
		my ($text, $said) = @$case;

		write_file("$dir/amped.conf", "$text# $dir\n");
		my ($status, $out, $err) = Amped::run_amped('-t', '-f',
		    "$dir/amped.conf");
		ok(!defined(obeyed($err)), 'what -t says of a conf') or
		    diag($err);
		like($err, $said, '... is there');
	}
}

done_testing();
