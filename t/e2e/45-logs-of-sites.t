#!/usr/bin/perl
# Access logs of sites and paths: files and programs of their own, other
# formats, or none; opened again, and read again with the conf; one that cannot
# be written costs the others nothing.
# arch: all
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use Amped qw(await docroot slurp write_file);
use Test::More;

Amped::one_main();
my $root = docroot(map { $_ => "x\n" } qw(page app/page health/page
    full/page pipe/page));
my $logs = docroot();

chmod(0777, $logs);

# The conf; the argument is what the site b has beside its root.
sub sites {
	my ($of_b) = @_;

	return <<"EOT";
site a {
	listen 127.0.0.1:0
	root $root
	path /health { access off }
	path /app { access $logs/app.log short }
	path /pipe { access "|/bin/sh -c 'exec cat >> $logs/piped'" short }
	path /full { access /dev/full }
}
site b {
	listen 127.0.0.1:0
	root $root
	$of_b
	path /app { access $logs/general.log short }
}
EOT
}

sub conf {
	my ($of_b) = @_;

	return (log => "\taccess $logs/general.log short\n" .
	    "\terror stderr info\n\tformat short \"%v %U\"\n",
	    sites => sites($of_b));
}

sub lines {
	my ($log) = @_;

	return -e "$logs/$log" ? split(/\n/, slurp("$logs/$log")) : ();
}

sub await_lines {
	my ($log, @wanted) = @_;

	await("$log: @wanted", sub { lines($log) >= @wanted });
	is(join("\n", lines($log)), join("\n", @wanted), "$log: @wanted");
}

my $server = Amped->start(root => $root, errors => 1,
    conf("access $logs/b.log json"));

sub ask {
	my ($host, $target) = @_;

	return $server->get($target, host => $host)->{status};
}

is(ask('a', $_), 200, "a has $_") for qw(/page /app/page /health/page
    /pipe/page);
is(ask('a', '/app/nothing'), 404, 'an error has the log of its path');
is(ask('b', $_), 200, "b has $_") for qw(/page /app/page);
is($server->raw("GET / HTTP/1.1\r\n\r\n")->{status}, 400, 'of no site');
await_lines('general.log', 'a /page', 'b /app/page', '- /');
await_lines('app.log', 'a /app/page', 'a /app/nothing');
await_lines('piped', 'a /pipe/page');
await('JSON', sub { lines('b.log') == 1 });
like((lines('b.log'))[0], qr/^\{"time":.*"path":"\/page"/, 'b has JSON');

# A log that takes no lines.
is(ask('a', $_), 200, "then $_") for qw(/full/page /app/page /full/page
    /page);
await_lines('app.log', 'a /app/page', 'a /app/nothing', 'a /app/page');
await_lines('general.log', 'a /page', 'b /app/page', '- /', 'a /page');
like($server->wait_line(qr/the access log cannot be written/),
    qr/No space left/, 'the full one is reported');

# All are opened again.
my @files = qw(general.log app.log b.log);
rename("$logs/$_", "$logs/$_.1") or die for @files;
kill('USR1', $server->{pid});
await('new logs', sub { grep({ -e "$logs/$_" } @files) == @files });
is(ask('a', '/app/page'), 200, 'asked again');
await('a line in either', sub { grep({ $_ eq 'a /app/page' }
    map { lines($_) } 'app.log', 'app.log.1') == 3 });

# A reload takes logs away and brings others.
write_file("$server->{dir}/amped.conf", Amped::conf_text({ %$server,
    conf("access off")}));
kill('HUP', $server->{pid});
$server->wait_line(qr/conf has been read again/);
is(ask('b', '/page'), 200, 'b, off');
is(ask('b', '/app/page'), 200, 'b, general');
await('general', sub { (lines('general.log'))[-1] // '' eq 'b /app/page' });
is(join('', grep { /b \/page/ } map { lines($_) } @files), '',
    'what is off is not written');

# One that cannot be opened keeps the conf as it was.
write_file("$server->{dir}/amped.conf", Amped::conf_text({ %$server,
    conf("access $logs/new/b.log")}));
kill('HUP', $server->{pid});
$server->wait_line(qr/the conf in force stays/);
is(ask('b', '/app/page'), 200, 'still served');
ok($server->stop('TERM'), 'the end');
like(join(' ', lines('piped')), qr{^a /pipe/page}, 'the program got all');

# Block log has none, a site has one.
$server = Amped->start(root => $root, log => "\taccess off\n\terror stderr",
    sites => "site a {\n\tlisten 127.0.0.1:0\n\troot $root\n" .
	"\tpath /app { access $logs/only.log common }\n}\n");
is(ask('a', $_), 200, "alone: $_") for qw(/page /app/page);
$server->stop;
is(scalar(lines('only.log')), 1, 'one line');
like((lines('only.log'))[0], qr{"GET /app/page HTTP/1.1" 200}, 'this');
done_testing();
