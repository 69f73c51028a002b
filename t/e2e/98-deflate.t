#!/usr/bin/perl
# Compressed documents: the same bytes, after decoding, as lighttpd's mod_deflate
# sends of the same fifty documents, by the same coding.
# arch: one: what a coding makes has nothing to do with who waits for it
# Debian: lighttpd lighttpd-mod-deflate
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use Amped qw(await content docroot free_port slurp write_file);
use Amped::Client;
use Amped::Coding qw(decoded has_codings);
use Amped::Foreign qw(which_program);
use Test::More;

$ENV{PATH} .= ':/usr/sbin';
# Without the module lighttpd starts, and compresses nothing.
plan(skip_all => 'there is no lighttpd with mod_deflate')
    unless which_program('lighttpd') && glob('/usr/lib*/lighttpd/mod_deflate.so');

# lighttpd compresses only the types and codings that its conf names.
my %type = (html => 'text/html', css => 'text/css', js => 'text/javascript',
    json => 'application/json', txt => 'text/plain');
my @suffixes = sort(keys(%type));
my $root = docroot();
my %document;

sub add {
	my ($name, $bytes) = @_;

	$document{$name} = $bytes;
	write_file("$root/$name", $bytes);
	utime(time - 100, time - 100, "$root/$name");
}

# Texts that get smaller by much and by little, of sizes around the limits of
# buffers and windows.  amped compresses nothing below 1 KiB.
my @sizes = (1024, 1500, 4095, 4096, 4097, 16_384, 32_768, 65_536, 65_537,
    300_000);
for my $suffix (@suffixes) {
	for my $i (0 .. $#sizes) {
		my $text = $i % 2 ? content("$suffix $i", $sizes[$i]) :
		    substr("a line of $suffix\n" x $sizes[$i], 0, $sizes[$i]);

		add("$i.$suffix", $text);
	}
}
is(scalar(keys(%document)), 50, 'fifty documents');

my $conf = <<'END';
server.document-root = "%ROOT"
server.bind = "127.0.0.1"
server.port = %PORT
server.errorlog = "%DIR/log"
server.modules = ( "mod_deflate" )
mimetype.assign = ( %TYPES )
deflate.mimetypes = ( "text/", "application/json" )
deflate.allowed-encodings = ( "gzip", "br", "zstd" )
END
my $pid;

sub start_lighttpd {
	my $dir = docroot(log => '');
	my %value = (ROOT => $root, PORT => free_port(), DIR => $dir,
	    TYPES => join(', ', map { "\".$_\" => \"$type{$_}\"" } @suffixes));

	write_file("$dir/conf", $conf =~ s/%([A-Z]+)/$value{$1}/gr);
	$pid = Amped::spawn(['lighttpd', '-D', '-f', "$dir/conf"],
	    '/dev/null', "$dir/log");
	await("lighttpd to listen: see $dir/log", sub {
		die slurp("$dir/log") if waitpid($pid, 1) > 0;
		return IO::Socket::INET->new(PeerAddr => '127.0.0.1',
		    PeerPort => $value{PORT});
	});
	return $value{PORT};
}

END {
	local $?;

	kill('TERM', $pid) if $pid;
	waitpid($pid, 0) if $pid;
}

sub ask {
	my ($port, $name, $coding) = @_;
	my $client = Amped::Client->new(port => $port, relayed => 1);

	$client->send("GET /$name HTTP/1.1\r\nHost: localhost\r\n" .
	    "Accept-Encoding: $coding\r\nConnection: close\r\n\r\n");
	return $client->response('GET');
}

sub coding { return $_[0]{field}{'content-encoding'} // 'identity' }

my $server = Amped->start(root => $root, site => "\tcompress on\n");
my $port = start_lighttpd();
my %seen;
for my $coding (has_codings() ? qw(gzip br zstd) : 'gzip') {
	for my $name (sort(keys(%document))) {
		my $theirs = ask($port, $name, $coding);
		my $ours = ask($server->port, $name, $coding);

		next if coding($theirs) eq 'identity';	# built without it
		$seen{$coding}++;
		is(coding($ours), $coding, "$name by $coding");
		my $want = decoded($theirs);
		ok($want eq $document{$name} && decoded($ours) eq $want,
		    '... the same bytes');
		like($_->{field}{vary}, qr/^Accept-Encoding$/i, '... Vary')
		    for $ours, $theirs;
	}
}
is($seen{gzip}, 50, 'lighttpd has compressed all');
note("lighttpd: ", join(' ', map { "$_ $seen{$_}" } sort(keys(%seen))));
$server->finish;
done_testing();
