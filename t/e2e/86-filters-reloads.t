#!/usr/bin/perl
# Filters change while the server runs: by the conf, by their own files, by
# commands to reload a chain; no request fails, and no answer is a mixture, be it
# a file, a result that is kept, or the answer of a program.
# AMPED_TEST_RELOADS: how many.
# arch: pair
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use Amped qw(await docroot slurp write_file);
use Amped::Applications;
use Amped::Load;
use Amped::Programs;
use Test::More;

use constant LINES => 5000;

Amped::one_main();

my $reloads = $ENV{AMPED_TEST_RELOADS} // 20;
my $dir = docroot('root/page.html' => "word\n" x LINES,
    'root/mod/page.html' => "word\n" x LINES, 'tool/x' => '', 'results/' => '');
my $as_user = $> == 0 ? scalar(getpwnam(Amped::ordinary_user())) : $>;
chown($as_user, -1, "$dir/results");

sub put_tool {
	my ($name) = @_;

	chmod(0755, "$dir/tool/$name.new");
	rename("$dir/tool/$name.new", "$dir/tool/$name")
	    or die "rename: $!\n";
}

# A filter that adds a word to each line, slowly enough to be replaced in the
# middle.
sub write_tool {
	my ($word) = @_;

	write_file("$dir/tool/filter.new", "#!/bin/sh\nsed -u 's/\$/ $word/'\n");
	put_tool('filter');
}

# A program that stays, which does the same.
my $programs = Amped::Programs->new('bin/' => '');
my $app = $programs->dir . '/bin/app';

sub write_app {
	my ($word) = @_;
	my $new = Amped::Applications::make($programs, 'new', 'fastcgi',
	    "my \$data = take_data(); head(); put(\$data =~ s/(?=\\n)/ $word/gr);");

	rename($new, $app) or die "rename: $!\n";
}

# A module that does the same, if there is a compiler; in one of three forms.
my $source = Amped::source_dir();
write_file("$dir/tool/mod.c", <<'END');
#include <string.h>
#include "amped-filter.h"
static const struct amped_filter_host *host;
static void *begin(const struct amped_filter_host *h) { host = h; return &host; }
static int feed(void *s, const void *b, size_t n)
{
	const char *at = b, *end;
	(void)s;
	while ((end = memchr(at, '\n', n)) != NULL) {
		host->emit(at, (size_t)(end - at));
		host->emit(WORD "\n", strlen(WORD) + 1);
		n -= (size_t)(end - at) + 1;
		at = end + 1;
	}
	host->emit(at, n);
	return 0;
}
static int end(void *s) { (void)s; return 0; }
const struct amped_filter amped_filter = { AMPED_FILTER_VERSION, begin, feed, end };
END
my $has_module = !grep({ system('cc', '-shared', '-fPIC', "-DWORD=\" mod$_\"",
    "-I$source/helpers/filters", '-o', "$dir/tool/mod$_.so",
    "$dir/tool/mod.c") != 0 } 0 .. 2);

sub write_module {
	my ($number) = @_;

	return unless $has_module;
	write_file("$dir/tool/mod.so.new", slurp("$dir/tool/mod$number.so"));
	put_tool('mod.so');
}

# A program whose answer comes in two parts.
write_file("$dir/tool/say.new", "#!/bin/sh\n" .
    "printf 'Content-Type: text/html\\n\\n'\n" .
    "yes word | head -n " . LINES / 2 . "\nsleep 0.02\n" .
    "yes word | head -n " . LINES / 2 . "\n");
put_tool('say');
write_tool('tool0');
write_app('app0');
write_module(0);

sub blocks {
	my ($n) = @_;
	my $module = $has_module ? "module $dir/tool/mod.so" :
	    'replace word "word mod0"';

	return "control $dir/control\n" . 'cache { paths 1000 revalidate 20ms ' .
	    "negative 20ms; results $dir/results }\n" .
	    "program say { command $dir/tool/say; most 8; nice 0 }\n" .
	    "program one { filter replace word conf$n; most 8 }\n" .
	    "program two { filter $dir/tool/filter; confine basic; most 8 }\n" .
	    "program mod { filter $module; most 8 }\n" .
	    "program app { fastcgi $app; most 2; nice 0 }\n" .
	    "program three { filter fastcgi app }\n" .
	    'chain all { filters ' . ($n % 3 ? 'one two' : 'two one') .
	    " three }\nchain mod { filters mod one }\n" .
	    "chain said { filters one two }\n";
}

my $server = Amped->start(root => "$dir/root", errors => 1,
    global => blocks(0), site => <<'END');
	chain all for *.html
	path /mod { chain mod for *.html }
	path /said { run say; chain said }
END

# All lines of an answer are the same, and a tag has one body.
my %line = ('/page.html' => qr/\Aconf\d+ tool\d+ app\d+\n\z/,
    '/mod/page.html' => qr/\Aconf\d+ mod\d\n\z/,
    '/said' => qr/\Aconf\d+ tool\d+\n\z/);
my %body;

sub find_fault {
	my ($target, $answer) = @_;
	my ($first) = $answer->{body} =~ /\A(.*\n)/;
	my $tag = $answer->{field}{etag} // ($target eq '/said' ? 'none' : '');

	return 'no line' unless defined($first);
	return "a line $first" if $first !~ $line{$target};
	return "a mixture, from $first" if $answer->{body} ne $first x LINES;
	return "a tag $tag" if ($target eq '/said') != ($tag eq 'none');
	return "one tag $tag of $body{$target}{$tag} and $first"
	    if $tag ne 'none' && ($body{$target}{$tag} //= $first) ne $first;
	return undef;
}

# Clients who stay on their connections, and who come anew.
my @load = map { Amped::Load->new(port => $server->port, clients => 3,
    stay => $_, relayed => 1, check => \&find_fault,
    targets => { map { $_ => '' } keys(%line) }) } 1, 1000;

sub in_force { return scalar(() = slurp($server->{err}) =~ /is in force$/mg) }

sub reload_chain {
	my ($name) = @_;
	my ($status, $out, $err) = Amped::run_command(undef, Amped::program() =~
	    s/amped\z/ampedctl/r, '-s', "$dir/control", 'chain', $name,
	    'reload');

	die "chain $name reload: $out$err" if $status != 0;
}

for my $n (1 .. $reloads) {
	my $before = in_force();
	my $file = "$server->{dir}/amped.conf";

	%$server = (%$server, global => blocks($n));
	write_file("$file.new", $server->conf_text);
	rename("$file.new", $file) or die "$file: $!\n";
	write_tool("tool$n") if $n % 2;
	write_app("app$n") if $n % 3 == 1;
	write_module($n % 3);
	kill('HUP', $server->{pid});
	await("reload $n", sub { in_force() > $before });
	reload_chain($n % 4 ? 'all' : 'mod') if $n % 2 == 0;
}
for (@load) {
	my ($n, @wrong) = $_->stop;

	cmp_ok($n, '>', 0, "$n answers");
	is(scalar(@wrong), 0, 'none was wrong') or diag(@wrong, grep({
	    / for \/|filter / } split(/^/, slurp($server->{err}))));
}
my $last = $reloads % 2 ? $reloads : $reloads - 1;
my $last_app = $reloads - ($reloads - 1) % 3;
await('the last filters', sub { $server->get('/page.html')->{body} =~
    /\Aconf$reloads tool$last app$last_app\n/ });
my $last_module = $has_module ? $reloads % 3 : 0;
await('the last module', sub { $server->get('/mod/page.html')->{body} =~
    /\Aconf$reloads mod$last_module\n/ });
my $client = $server->connect(relayed => 1);
$client->send("GET /said HTTP/1.1\r\nHost: x\r\n\r\n");
is($client->response('GET')->{body}, "conf$reloads tool$last\n" x LINES,
    'the last filters are in force');
$server->finish;
done_testing();
