#!/usr/bin/perl
# Places of a program of FastCGI that filters have in common with requests, its
# time, a reload; and an application by the module FCGI of Perl.
# arch: pair
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use Amped qw(await write_file);
use Amped::Applications;
use Amped::Programs;
use IO::Socket::INET;
use Test::More;

my $programs = Amped::Programs->new('run/' => '', 'bin/' => '');
my $dir = $programs->dir;
my $www = $programs->www;

# A file says for which word of a test it waits, if any.
my $file = Amped::Applications::make($programs, 'app', 'fastcgi', <<'END');
	my $data = $request{role} == 3 ? take_data() : take_body();
	my $word = $request{role} == 3 ? $data : $request{params}{QUERY_STRING};
	if ($word =~ /^wait-(\w+)/) {
		tell_test("at-$1");
		wait_test($1);
	}
	sleep(1) while $word =~ /^hang/;
	head();
	put("$$ has $word");
END

write_file("$www/$_.txt", "wait-$_") for qw(a b c);
write_file("$www/hang.txt", 'hang');
write_file("$www/x.txt", 'x');
write_file("$www/y.txt", 'y');

# A server that accepts nothing: connections to it hang.
my $deaf = IO::Socket::INET->new(LocalAddr => '127.0.0.1', Listen => 1)
    // die "no socket: $!\n";
listen($deaf, 0);
my $at_deaf = '127.0.0.1:' . $deaf->sockport;
my @fill = map { IO::Socket::INET->new(PeerAddr => $at_deaf, Blocking => 0) }
    1 .. 4;
my $nobody = '127.0.0.1:' . Amped::free_port();
my $has_module = eval { require FCGI };
my $fcgi = $programs->script('bin/fcgi', "#!$^X\n" . <<'END');
use strict;
use warnings;
use FCGI;
use IO::Handle;

my (%env, $in, $out, $err);
($in, $out, $err) = (IO::Handle->new, IO::Handle->new, IO::Handle->new);
my $request = FCGI::Request($in, $out, $err, \%env, 0,
    FCGI::FAIL_ACCEPT_ON_INTR());
while ($request->Accept >= 0) {
	read($in, my $data, 1);		# the end of standard input
	$request->StartFilterData;
	read($in, $data, $env{FCGI_DATA_LENGTH});
	die "a mistake\n" if $data =~ /^mistake/;
	print $err "$env{FCGI_DATA_LENGTH} bytes\n";
	print $out "Content-Type: text/plain\r\n\r\n" . reverse($data);
}
END
write_file("$www/m.txt", 'mistake');
my $module = !$has_module ? '' :
    "program module { fastcgi $fcgi; nice 0; most 1 }\n" .
    "program reverse { filter fastcgi module }\n" .
    "chain reverse { filters reverse }\n";
my $reverse = $has_module ? "\tpath /reverse { chain reverse; " .
    "alias $www }\n" : '';
my $site = <<"END" . $reverse;
	path /both { chain both; alias $www }
	path /deaf { chain deaf; alias $www }
	path /down { chain down; alias $www }
	path /full { chain full; alias $www }
	path /left { chain left; alias $www }
	path /run { run both }
END
my $server = $programs->start(program => "\tmost 2\n", others => <<"END" .
program both { fastcgi $file; most 1; nice 0 }
program of-both { filter fastcgi both; answer 30s }
chain both { filters of-both }
program narrow { fastcgi $file; most 1; queue 0; nice 0 }
program of-narrow { filter fastcgi narrow }
chain full { filters of-narrow }
program may-miss { filter fastcgi narrow; optional on }
program short { filter replace wait- short- }
chain left { filters short may-miss }
program slow { fastcgi $file; most 1; nice 0 }
program of-slow { filter fastcgi slow; answer 1s }
chain slow { filters of-slow }
program deaf { fastcgi $at_deaf; within 4s }
program of-deaf { filter fastcgi deaf; within 4s }
chain deaf { filters of-deaf }
program down { fastcgi $nobody; within 1s }
program of-down { filter fastcgi down; within 1s; optional on }
chain down { filters of-down }
END
    $module, site => "$site\tpath /slow { chain slow; alias $www }\n");

sub get { return $server->get(@_) }

sub pid { return $_[0]{body} =~ /^(\d+) has/ ? $1 : 'none' }

# One place: for filters, and for requests.
SKIP: {
	skip('as many clients at a time as needed', 8)
	    unless Amped::many_clients();
	my ($waits) = $server->ask('/both/a.txt');
	my $pid = $programs->told('at-a');
	my @later = map { $programs->ask($_) } '/both/b.txt', '/run?wait-c',
	    '/both/x.txt';

	ok(!$programs->has_told('at-b') && !$programs->has_told('at-c'),
	    'a place is one');
	$programs->let('a', 'b', 'c');
	is($waits->response('GET')->{body}, "$pid has wait-a", 'a run');
	is($later[0]->response('GET')->{body}, "$pid has wait-b", '... ends');
	is($later[1]->response('GET')->{body}, "$pid has wait-c",
	    '... and a request, by the same process');
	is($later[2]->response('GET')->{body}, "$pid has x", '... and a run');
	unlink("$dir/gate/$_") for qw(a at-a);
	($waits) = $server->ask('/full/a.txt');
	$programs->told('at-a');
	is(get('/full/x.txt')->{status}, 503, 'no place, and no queue');
	is(get('/left/b.txt')->{body}, 'short-b', '... an optional filter');
	$programs->let('a');
	like($waits->response('GET')->{body}, qr/has wait-a/, 'the run ends');
}

# An application that hangs is ended.
is(get('/slow/x.txt')->{status}, 200, 'an application');
my $before = pid(get('/slow/x.txt'));
is(get('/slow/hang.txt')->{status}, 504, 'one that hangs');
$programs->gone('... is ended', $before);
isnt(pid(get('/slow/y.txt')), $before, '... and another one is started');

# Servers that cannot be reached are a failure, not a lack of places.
is(get("/$_/x.txt")->{status}, 500, "a server is $_") for qw(deaf down);
$server->wait_line(qr/filter of-deaf: .*: cannot start deaf: /);
$server->wait_line(qr/filter of-down: .*: cannot start down: /);

# A reload with another path: the processes go on.
my $pid = pid(get('/both/x.txt'));
my $conf = "$server->{dir}/amped.conf";
write_file($conf, Amped::slurp($conf) =~
    s/(\tpath \/slow )/\tpath \/new { chain both; alias $www }\n$1/r);
kill('HUP', $server->{pid});
my $new;
await('the new conf', sub { ($new = get('/new/y.txt'))->{status} == 200 });
is(pid($new), $pid, 'a reload keeps the process');

# Another author's implementation.
SKIP: {
	skip('there is no module FCGI', 3) unless $has_module;
	is(get('/reverse/x.txt')->{body}, 'x', 'by the module FCGI');
	$server->wait_line(qr/reverse\[\d+\]: 1 bytes$/);
	is(get('/reverse/hang.txt')->{body}, 'gnah', '... again');
	is(get('/reverse/m.txt')->{status}, 500, '... one that fails');
}
$server->finish;
done_testing();
