#!/usr/bin/perl
# The proxies of amped-recipes(7): HAProxy, nginx and Caddy with the lines that
# the page has for them, without their TLS, in front of the page's confs.  What
# a client writes itself counts for nothing.
# arch: one: architectures differ in nothing that proxies see
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use Amped qw(docroot free_port slurp);
use Amped::Foreign qw(which_program);
use Amped::Proxy;
use Test::More;

my $page = slurp(Amped::source_dir() . '/man/amped-recipes.7');
my ($friend, $stranger) = qw(127.0.0.9 127.0.0.8);

# The displays behind lines that begin with a word, by their names.
sub displays {
	my ($word) = @_;

	return $page =~
	    /^\.\\" \Q$word\E ([\w ]+)\n\.Bd -literal[^\n]*\n(.*?)^\.Ed$/msg;
}

my %conf = displays('conf');
my %proxy = displays('proxy');
cmp_ok(scalar(keys(%proxy)), '>=', 7, 'the page has proxies');
for my $name (sort(keys(%proxy))) {
	my ($program, $conf) = split(/ /, $name);

	subtest($name => sub { try_proxy($program, $conf, $proxy{$name}) });
}

# Whether nginx has its module stream; it need not be in the program.
sub has_stream { return qx(nginx -V 2>&1) =~ /--with-stream(?: |$)/m }

sub try_proxy {
	my ($program, $name, $text) = @_;

	plan(skip_all => "there is no $program") unless which_program($program);
	plan(skip_all => 'nginx has no module stream')
	    if $text =~ /^stream/ && !has_stream();
	my ($server, $to) = start_server($conf{$name});
	my $proxy = Amped::Proxy->start($program,
	    text => without_tls($text, $to));
	my %forged = (host => 'example.org', fields => [
	    "X-Forwarded-For: $friend", "Forwarded: for=$friend;host=x.example",
	    'X-Forwarded-Host: x.example', 'X-Forwarded-Proto: gopher']);

	is($proxy->get('/staff/a', from => $friend, host => 'example.org')->
	    {status}, 200, 'the client counts, not the proxy');
	is($proxy->get('/staff/a', from => $stranger, %forged)->{status}, 403,
	    'and not what the client writes');
	my $answer = $proxy->get('/dir', from => $stranger, %forged);
	is($answer->{status}, 301, 'a redirect');
	like($answer->{field}{location}, $name eq 'header' ? qr{\A/dir/\z} :
	    qr{\Ahttps?://example\.org/dir/\z}, '... where the client asked');
	$proxy->stop;
	$server->stop;
}

# Starts amped with a conf of the page; returns the server and its address.
sub start_server {
	my ($text) = @_;
	my $dir = docroot('srv/www/example.org/staff/a' => "a\n",
	    'srv/www/example.org/dir/index.html' => "dir\n");
	my $to = '127.0.0.1:' . free_port();

	$to = "$dir/http" if $text =~ s{unix:/run/amped/http}{unix:$dir/http};
	$text =~ s{127\.0\.0\.1:8080}{$to};
	$text =~ s{ group \S+}{};
	$text =~ s{192\.0\.2\.0/24}{$friend};
	$text =~ s{/srv/www}{$dir/srv/www}g;
	return (Amped->start(sites => $text, listeners => 1,
	    $to =~ m{^/} ? (unready => 1) : ()), $to);
}

# The lines of a proxy without TLS, on the test's port, to the test's server.
sub without_tls {
	my ($text, $to) = @_;

	$text =~ s{bind \*:443 .*}{bind 127.0.0.1:%PORT};
	$text =~ s{listen 443 ssl}{listen 127.0.0.1:%PORT};
	$text =~ s{^\s*ssl_certificate.*\n}{}mg;
	$text =~ s{^example\.org \{}{http://:%PORT \{\n\tbind 127.0.0.1}m;
	$text =~ s{127\.0\.0\.1:8080|/run/amped/http}{$to}g;
	return $text;
}

done_testing();
