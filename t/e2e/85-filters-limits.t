#!/usr/bin/perl
# Filters that crash, hang, or take too much memory or processor time: each costs
# one answer.  A module is in no process of the server's own.
# arch: pair
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use Amped qw(await docroot slurp write_file);
use Test::More;
use Time::HiRes qw(time utime);

Amped::one_main();

my $root = docroot('tools/' => '');
my $source = Amped::source_dir();

sub put {
	my ($name, $bytes) = @_;

	write_file("$root/$name", $bytes);
	utime(time() - 100, time() - 100, "$root/$name");
}

# Does what the file says.
write_file("$root/tools/module.c", <<'END');
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "amped-filter.h"
static const struct amped_filter_host *host;
static int is(const char *b, size_t n, const char *word)
{ return n >= strlen(word) && memcmp(b, word, strlen(word)) == 0; }
static void *begin(const struct amped_filter_host *h) { host = h; return &host; }
static int feed(void *s, const void *b, size_t n)
{
	volatile unsigned i = 0;
	(void)s;
	host->emit("made ", 5);
	if (is(b, n, "crash")) raise(SIGSEGV);
	if (is(b, n, "abort")) abort();
	if (is(b, n, "exit")) exit(3);
	if (is(b, n, "wait")) while (access(host->words[0], F_OK) != 0) usleep(10000);
	if (is(b, n, "hang")) for (;;) pause();
	if (is(b, n, "spin")) for (;;) i++;
	if (is(b, n, "memory")) for (i = 0; i < 500; i++) {
		char *m = malloc(1 << 20);
		if (m == NULL) abort();
		memset(m, 1, 1 << 20);
	}
	if (is(b, n, "fail")) return -1;
	host->emit(b, n);
	return 0;
}
static int end(void *s) { (void)s; return 0; }
const struct amped_filter amped_filter = { AMPED_FILTER_VERSION, begin, feed, end };
END
my $has_module = system("cc -shared -fPIC -I'$source/helpers/filters' -o " .
    "'$root/tools/module.so' '$root/tools/module.c'") == 0;
chmod(0755, "$root/tools/module.so") if $has_module;

# The same as a command.
write_file("$root/tools/command", <<"END");
#!$^X
my \$text = do { local \$/; <STDIN> };
\$| = 1;
print 'made ';
kill('SEGV', \$\$) if \$text =~ /^crash/;
kill('ABRT', \$\$) if \$text =~ /^abort/;
exit(3) if \$text =~ /^(?:exit|fail)/;
sleep(1000) if \$text =~ /^hang/;
1 while \$text =~ /^spin/;
my \@all;
push(\@all, 'x' x (1 << 20)) while \$text =~ /^memory/ && \@all < 500;
print \$text;
END
chmod(0755, "$root/tools/command");

# A script that can be executed is replaced by files beside it, so these can be
# read; what is beside another script is out of reach, where there is Landlock.
my $script = 'open(my $f, "<", $0 =~ s{[^/]*\z}{beside}r) or print("none"), exit;
print <$f>;';
my $own = docroot(map { ("$_/file" => $script, "$_/beside" => 'beside') }
    qw(script data));
chmod(0755, "$own/script/file");
my $has_landlock = $^O eq 'linux' && syscall(444, 0, 0, 1) > 0;
my %status = (crash => 500, abort => 500, exit => 500, hang => 504, spin => 500,
    memory => 500, fail => 500);
put("$_.bin", "$_\n") for keys(%status), qw(fine other wait);

# A sanitizer reserves memory, and reports a signal.
my $sanitized = slurp(Amped::program()) =~ /__[at]san_init/;
my $memory = $sanitized ? '' : '; memory 128M';
my @kinds = ($has_module ? 'module' : (), 'command');
my $limits = "cpu 1s; nice 0; most 2$memory";
my $server = Amped->start(root => $root, errors => 1, global => <<"END",
cache { paths 1000 revalidate 50ms negative 50ms }
program module { filter module $root/tools/module.so $root/open; answer 30s; $limits }
program command { filter $root/tools/command; answer 30s; $limits }
program mhang { filter module $root/tools/module.so; answer 300ms; nice 0 }
program chang { filter $root/tools/command; answer 300ms; nice 0 }
program script { filter $^X $own/script/file }
program data { filter $^X $own/data/file }
chain script { filters script }
chain data { filters data }
program latin { filter charset utf-8 latin1 }
chain module { filters module }
chain command { filters command }
chain module-hang { filters mhang }
chain command-hang { filters chang }
chain latin { filters latin }
END
    site => <<"END");
	path /module { chain module-hang for hang*; chain module for *;
		alias $root }
	path /command { chain command-hang for hang*; chain command for *;
		alias $root }
	path /script { chain script; alias $root }
	path /data { chain data; alias $root }
	path /latin { chain latin; alias $root; charset iso-8859-1 }
END
my @mains = $server->role('main');

for my $kind (@kinds) {
	for my $case (sort(keys(%status))) {
		next if $case =~ /memory|crash/ && $sanitized;
		my $bad = $server->connect;

		$bad->send("GET /$kind/$case.bin HTTP/1.1\r\nHost: x\r\n\r\n");
		is($server->get("/$kind/fine.bin")->{body}, "made fine\n",
		    "beside $kind, $case: another result")
		    if Amped::many_clients();
		is($bad->response('GET')->{status}, $status{$case},
		    '... costs its own answer');
		is($server->get("/$kind/other.bin")->{body}, "made other\n",
		    '... and not the next one');
		put('other.bin', "other\n");
	}
}
is_deeply([$server->role('main')], \@mains, 'main has not died');

SKIP: {
	skip('only root looks into other processes', 2) unless $> == 0 &&
	    $has_module;
	my $waits = $server->connect;
	my @maps;

	$waits->send("GET /module/wait.bin HTTP/1.1\r\nHost: x\r\n\r\n");
	await('the module to be loaded', sub {
		@maps = grep { slurp_or_nothing("$_/maps") =~
		    m{\Q$root\E/tools/module\.so} } glob('/proc/[0-9]*');
		return @maps > 0;
	});
	my %own = map { $_->{pid} => $_->{title} } $server->processes;
	my @titles = grep { /^amped: (?:main|monitor|helper|access|error)/ }
	    map { $own{m{(\d+)$} ? $1 : 0} // '' } @maps;
	is_deeply(\@titles, [], 'no process of the server has the module');
	write_file("$root/open", '');
	is($waits->response('GET')->{body}, "made wait\n", '... but the filter');
}

sub slurp_or_nothing {
	my ($file) = @_;

	return eval { slurp($file) } // '';
}

is($server->get('/script/fine.bin')->{body}, 'beside',
    'what is beside a script can be read');
is($server->get('/data/fine.bin')->{body}, $has_landlock ? 'none' : 'beside',
    '... and not what is beside another file');

# A character set, of files: letters of two bytes on both sides of the ends of
# what is read at once.
my $letters = "\xc3\xa4" x 100_000;
put("even.txt", $letters);
put("odd.txt", "x$letters");
put("wrong.txt", "a \xe2\x82\xac\n");
put("cut.txt", "a\xc3");
put("ascii.txt", "plain\n");
is($server->get('/latin/ascii.txt')->{body}, "plain\n", 'a character set');
is($server->get('/latin/even.txt')->{field}{'content-type'},
    'text/plain; charset=iso-8859-1', '... its name, by charset');
ok($server->get('/latin/even.txt')->{body} eq "\xe4" x 100_000, '... letters');
ok($server->get('/latin/odd.txt')->{body} eq 'x' . "\xe4" x 100_000,
    '... and a byte in front');
is($server->get("/latin/$_.txt")->{status}, 500, "... $_") for qw(wrong cut);
my $part = $server->get('/latin/odd.txt', fields => ['Range: bytes=0-3']);
is("$part->{status} $part->{body}", "206 x\xe4\xe4\xe4", '... a range');
$server->finish;
done_testing();
