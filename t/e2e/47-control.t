#!/usr/bin/perl
# The control socket and ampedctl: each command, who may ask, and that nobody
# who asks, slowly, often or in nonsense, is in anybody's way.
# arch: pair
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use Amped qw(await content docroot slurp write_file);
use IO::Handle;
use IO::Select;
use IO::Socket::UNIX;
use JSON::PP;
use Socket qw(SOCK_STREAM);
use Test::More;

Amped::one_main();
Amped::needs_many_clients();

my $root = docroot('page' => "page\n", 'other' => content('other', 5000),
    'large' => content('large', 3_000_000), 'guarded/page' => "guarded\n",
    'guarded/index.html' => "index\n");
my $place = docroot();
my $control = "$place/control";
my $conf = "control $control\nhelpers 2 max 4 share 4\n";
# What others change in this file system is no matter here.
my $unwatched = "cache {\n\twatches 0\n}\n";
my $an_hour = "cache {\n\tpaths revalidate 1h stale 1h\n\twatches 0\n}\n";
my $rules = "\tpath /guarded {\n\t\tdeny all\n\t}\n" .
    "\tpath /away {\n\t\tredirect 301 /page\n\t}\n";

sub start {
	my (%opt) = @_;

	return Amped->start(root => $root, global => $conf, site => $rules,
	    %opt);
}

# ampedctl with these words: status, output, errors.
sub ctl {
	my (@words) = @_;
	my ($status, $out, $err) = Amped::run_command($opt_user::name,
	    Amped::copy_for_all('ampedctl'), '-s', $control, @words);

	return ($status >> 8, $out, $err);
}

{ package opt_user; our $name; }

sub by_hand {
	my $socket = IO::Socket::UNIX->new(Type => SOCK_STREAM,
	    Peer => $control) or die "$control: $!\n";
	return $socket;
}

# All that comes until the end.
sub hear {
	my ($socket) = @_;
	my $select = IO::Select->new($socket);
	my $all = '';

	while (1) {
		die "gave up waiting for an answer\n"
		    unless $select->can_read(Amped::timeout());
		return $all unless sysread($socket, $all, 65536, length($all));
	}
}

sub asked {
	my ($line) = @_;
	my $socket = by_hand();

	local $SIG{PIPE} = 'IGNORE';
	syswrite($socket, $line);
	return hear($socket);
}

# What it counted, from what it says at its end.
sub counted {
	my ($server, $name) = @_;
	my ($n) = $server->errors =~ /\] debug: \Q$name\E: (\d+)$/m;

	return $n;
}

# By hand, as it is written down.
my $server = start();
my $url = 'http://127.0.0.1:0';	# as in the conf
await('the socket', sub { -S $control });
is(asked("version\n"), "ok amped 0.1.0\n.\n", 'by hand: version');
is(asked("version\r\n"), "ok amped 0.1.0\n.\n", 'a line may end as elsewhere');
like(asked("nonsense\n"), qr/\Abad there is no such command.*\n\.\n\z/,
    'nonsense');
like(asked("reload now\n"), qr/\Abad too many words: reload\n\.\n\z/,
    'a word too many');
like(asked("check\n"),
    qr/\Aok the conf is fine\n(?:warn: architecture .*\n)?\.\n\z/, 'check');

# The conf, as amped -T has it.
my ($status, $out, $err) = Amped::run_amped('-T', '-A', Amped::architecture(),
    '-f', "$server->{dir}/amped.conf");
is_deeply([ctl('conf')], [0, $out, ''], 'conf: as -T');
($status, $out, $err) = Amped::run_amped('-f', "$server->{dir}/amped.conf",
    '-u', '/guarded/page', '-H', 'Accept: text/html');
my @explained = ctl('-H', 'Accept: text/html', 'explain', '/guarded/page');
s/^header    Date: .*\n//m for $out, $explained[1];
like($out, qr/^status    403 /m, 'there is something to explain');
is_deeply(\@explained, [0, $out, ''], 'explain: as -u');
is_deeply([ctl('explain', 'ftp://x')], [65 - 1, '', "ampedctl: ftp://x: a URL " .
    "begins with http:// or, without a host, with /\n"], 'explain: no URL');
is((ctl('-H', 'Accept', 'explain', '/page'))[0], 64, 'explain: no field');
like(asked("explain\tAccept\t/page\n"), qr/\Abad Accept is no field/,
    'nor by hand');

# reopen
rename($server->{access}, "$server->{access}.1");
is_deeply([ctl('reopen')], [0, "the logs have been opened again\n", ''],
    'reopen');
ok(-e $server->{access}, 'they have been, when it says so');
unlink($server->{access});
mkdir($server->{access}) or die "$server->{access}: $!\n";
my @answer = ctl('reopen');
is($answer[0], 71, 'one that cannot be opened');
like($answer[2], qr/\Aampedctl: the access log cannot be opened again/,
    'it says which');
rmdir($server->{access});
$server->{errors} = 1;		# that was one

# reload: it is in force when it says so.
write_file("$server->{dir}/amped.conf", $server->conf_text =~
    s{redirect 301 /page}{redirect 302 /page}r);
is_deeply([ctl('reload')],
    [0, "the conf has been read again, and is in force\n", ''], 'reload');
is($server->get('/away')->{status}, 302, 'it is');
write_file("$server->{dir}/amped.conf", $server->conf_text =~
    s/redirect 301/rediredt 301/r);
($status, $out, $err) = Amped::run_amped('-t', '-f',
    "$server->{dir}/amped.conf");
isnt($err, '', '-t has something to say');
is_deeply([ctl('check')], [78, '', "ampedctl: the conf has mistakes\n$err"],
    'check: the same');
# What starting and serving lack, as -t finds it.
for my $case ([0, 'warn', "control $control\n", 'error 404 /none.html'],
    [78, 'error', "control $control\npid $root/page/pid\n", '']) {
	my ($wanted, $level, $global, $site) = @$case;
	write_file("$server->{dir}/amped.conf", $server->conf_text =~
	    s/^control .*\n/$global/mr =~ s/^site .*\n\K/\t$site\n/mr);
	my (undef, undef, $found) = Amped::run_amped('-t', '-A',
	    Amped::architecture(), '-f', "$server->{dir}/amped.conf");
	my @lines = map { s/\A\S+ \S+\[\d+\] //r . "\n" }
	    grep { !/ is fine: / } split(/\n/, $found);
	my $lines = join('', @lines);
	my ($status, @said) = ctl('check');
	like($lines[-1], qr/^$level: /, '-t has something to say');
	is($status, $wanted, "check: $level: exit $wanted");
	is_deeply(\@said, $wanted == 0 ? ["the conf is fine\n$lines", ''] :
	    ['', "ampedctl: amped could not start with the conf\n$lines"],
	    '... and the same lines');
}
write_file("$server->{dir}/amped.conf", $server->conf_text =~
    s/redirect 301/rediredt 301/r);
is_deeply([ctl('reload')],
    [78, '', "ampedctl: the conf in force stays\n$err"],
    'reload with a bad conf: the same');
ok($server->wait_line(qr/ checker\[\d+\] error: .*rediredt/),
    'the conf checker says so in the log');
is($server->get('/away')->{status}, 302, 'and nothing has changed');
write_file("$server->{dir}/amped.conf", $server->conf_text =~
    s/127\.0\.0\.1:0/203.0.113.1:0/r);
@answer = ctl('reload');
is($answer[0], 71, 'an address that is not ours');
like($answer[2], qr/cannot listen on 203\.0\.113\.1:0/, 'it says so');

# Two at once, and one of them gives up: the other hears of it.
write_file("$server->{dir}/amped.conf", $server->conf_text);
my @both = map { by_hand() } 1 .. 3;
syswrite($_, "reload\n") for @both;
close(pop(@both));
like(hear($_), qr/\Aok the conf has been read again/, 'two at once')
    for @both;
is((ctl('version'))[0], 0, 'the socket is there');

# Another mode: the socket is another one, for those only who may.
is((stat($control))[2] & 07777, 0660, 'mode 0660');
$server->{global} = $conf =~ s/$/ mode 0666/mr;
write_file("$server->{dir}/amped.conf", $server->conf_text);
is((ctl('reload'))[0], 0, 'another mode');
is((stat($control))[2] & 07777, 0666, 'has it');
SKIP: {
	skip('needs root', 4) if $> != 0;
	chmod(0755, $place);
	my $group = getgrgid($();
	local $opt_user::name = Amped::ordinary_user();
	is((ctl('version'))[0], 0, 'whoever may, may');
	$server->{global} = $conf =~ s/$/ mode 0600 group $group/mr;
	write_file("$server->{dir}/amped.conf", $server->conf_text);
	is((ctl('reload'))[0], 0, 'even take it away');
	my @refused = ctl('version');
	is($refused[0], 77, 'who may not');
	like($refused[2], qr/is for user root and group \Q$group\E \(mode 0600\)/,
	    'hears who may');
}
$server->{global} = $conf =~ s/^control.*//r;
write_file("$server->{dir}/amped.conf", $server->conf_text);
is((ctl('reload'))[0], 0, 'no socket any more');
await('the socket to go', sub { !-e $control });
@answer = ctl('version');
is($answer[0], 69, 'nobody there');
like($answer[2], qr/\Aampedctl: no server listens at \Q$control\E: amped does /,
    'it says so');
$server->stop;

# stop and drain return when all is over.
for my $command (qw(stop drain)) {
	$server = start();
	await('the socket', sub { -S $control });
	my $client = $server->connect;
	is($client->all_right(1, '/page' => "page\n"), 1, 'a client');
	my ($status, $out) = ctl($command);
	is($status, 0, $command);
	like($out, qr/\Astopping.*\nstopped\n\z/, 'it says so');
	is($server->reap, 0, 'and it has');
	ok(!-e $control, 'the socket is gone');
	$server->stop;
}

# A drain that takes longer than anybody wants.
$server = start(global => "$conf\nlimits {\n\tdrain 1h\n}\n");
my $slow = $server->connect(window => 4096);
$slow->send("GET /large HTTP/1.1\r\nHost: x\r\n\r\n");
$slow->want(1000);
my $drain = by_hand();
syswrite($drain, "drain\n");
$server->wait_line(qr/finishing the responses/);
like(asked("reload\n"), qr/\Abusy the server is stopping/, 'no reload then');
is((ctl('stop'))[0], 0, 'but a harder stop');
like(hear($drain), qr/\Aok stopping when.*\n\.\n\z/, 'drain was answered');
$server->stop;

# A stale socket is no obstacle, another server's is one.
$server = start();
await('the socket', sub { -S $control });
my $second = start(unready => 1);
await('the second to end', sub { $second->reap });
isnt($second->{status}, 0, 'a second one does not start');
like($second->errors, qr/another server listens at \Q$control\E/,
    'and says why');
is((ctl('version'))[0], 0, 'the first goes on');
$second->discard;
kill('KILL', $server->{pid});
$server->reap;
$server->wait_nothing_left;
ok(-S $control, 'killed, it leaves its socket');
$server->discard;
$server = start();
await('the new socket', sub { (ctl('version'))[0] == 0 });
pass('which the next one replaces');

# Who is hostile is in nobody's way.
my @silent = map { by_hand() } 1 .. 60;
is((ctl('version'))[0], 0, '60 who say nothing');
is((ctl('check'))[0], 0, 'and a control child');
push(@silent, map { by_hand() } 1 .. 40);
is((ctl('purge', '/none'))[0], 0, '100, and main');
like(hear(shift(@silent)),
    qr/\Abusy no request came(?:, and another client .*)?\n\.\n\z/,
    'who says nothing makes room');
my $long = by_hand();
my $sent = 0;
{
	local $SIG{PIPE} = 'IGNORE';
	for (1 .. 64) {
		my $n = syswrite($long, 'x' x 16384) // last;
		$sent += $n;
	}
}
# The answer may be lost with what it had not read.
like(hear($long), qr/\A(?:bad the line is too long\n\.\n)?\z/,
    "a line without an end: refused after $sent bytes");
like(asked(join('', map { chr } 0 .. 255) . "\n"), qr/\Abad /, 'garbage');
like(asked("\0\n"), qr/\Abad /, 'a zero');
like(asked("purge \xff\xfe /%zz /../.. http:// *x\n"), qr/\Abad .*\n\.\n\z/s,
    'nonsense for main');
like(asked('preload' . ' /none' x 2000 . "\n"), qr/\Abad too many words/,
    'too many words');
like(asked('preload' . ' /none' x 1000 . "\n"),
    qr{\Aabsent [^\n]*\n(?:/none: 404, [^\n]*\n){1000}\.\n\z},
    'not too many');
# Somebody goes before there is an answer.
for my $line ('conf', 'reload', 'preload /large', 'check', 'purge *') {
	my $gone = by_hand();
	syswrite($gone, "$line\n");
	close($gone);
}
# Somebody never takes it.
my @deaf = map { by_hand() } 1 .. 3;
syswrite($_, 'preload' . ' /page' x 1000 . "\n") for @deaf;
is($server->get('/page')->{body}, "page\n", 'clients have noticed nothing');
await('room', sub { (ctl('version'))[0] == 0 });
close($_) for @deaf, @silent;
is((ctl('reload'))[0], 0, 'a reload behind the one that nobody waited for');
await('one main alone', sub { $server->role('main') == 1 });

# Main stands still: it is not waited for; dies: who has asked is told.
my ($main) = $server->kill_role('STOP', 'main');
my @waiting = map { by_hand() } 1 .. 12;
syswrite($_, "purge *\n") for @waiting;
my @busy;
await('those that are too many', sub {
	push(@busy, map { hear($_) } IO::Select->new(grep { defined }
	    @waiting[scalar(@busy) .. $#waiting])->can_read(0.01)) if !@busy;
	return @busy >= 1;
});
like($busy[0], qr/\Abusy too many requests/, 'main gets only so many questions');
is((ctl('check'))[0], 0, 'what others do goes on');
kill('KILL', $main);
await('another main', sub { grep { $_ != $main } $server->role('main') });
is(scalar(grep { hear($_) =~ /\A(?:busy.*\n\.\n)?\z/ } @waiting), 12,
    'main is killed: nobody waits for ever');
await('main to answer', sub { (ctl('purge', '*'))[0] == 0 });
$server->{errors} = 1;
$server->stop;

# preload: what comes next needs no look and no read.
$server = start(global => "$conf$an_hour");
await('the socket', sub { -S $control });
@answer = ctl(qw(preload /page /other /large /guarded/page
    /guarded/index.html /none /away //page x));
is($answer[0], 66, 'preload: some are not there');
my $there = <<'END';
/page: 5 bytes
/other: 5000 bytes
/large: 3000000 bytes
/guarded/page: 8 bytes
/guarded/index.html: 6 bytes
//page: 5 bytes
6 files, 3005024 bytes, 3 failures
END
my $missing = <<'END';
ampedctl: /none: 404, there is no such file
ampedctl: /away: 301, the conf redirects it
ampedctl: x: a URL begins with http:// or, without a host, with /
END
is_deeply([@answer[1, 2]], [$there, $missing], 'each has a line');
for my $name (qw(page other large)) {
	is($server->get("/$name")->{body}, slurp("$root/$name"), $name);
}
is($server->get('/guarded/page')->{status}, 403,
    'a guard keeps out all others');
$server->stop;
is(counted($server, 'lookups'), 7, 'it looked seven times');
is(counted($server, 'requests'), 4, 'requests are those of clients');
is(counted($server, 'connections'), 4, 'connections, too');
my $bytes = counted($server, 'bytes');
cmp_ok($bytes, '>', 3_005_005, 'and bytes');
cmp_ok($bytes, '<', 3_010_000, 'no more');

# Many at once, none of which is forgotten.
my %many = map { ("page$_" => content("page$_", 2000)) } 1 .. 60;
$server = Amped->start(files => \%many, global => $conf);
await('the socket', sub { -S $control });
@answer = eval { ctl('preload', map { "/$_" } sort keys %many) };
is($answer[1], join('', map { "/$_: 2000 bytes\n" } sort keys %many) .
    "60 files, 120000 bytes, 0 failures\n", 'many at once');
$server->stop;

# What is on disk only: one look and one read, and so again after each purge.
$server = start(global => "$conf$an_hour");
await('the socket', sub { -S $control });
my %none = numbers();
evict('other');
is_deeply([ctl('preload', '/other')], [0, "/other: 5000 bytes\n" .
    "1 file, 5000 bytes, 0 failures\n", ''], 'preload');
my %brought = numbers();
is($brought{$_} - $none{$_}, 1, "$_: one") for qw(lookups chunk-misses);
evict('other');
is($server->get('/other')->{body}, content('other', 5000), 'a request')
    for 1 .. 3;
my %had = numbers();
is($had{$_} - $brought{$_}, 0, "$_: no more") for qw(lookups reads chunk-misses);
is_deeply([ctl('purge', '/%6fther', '/no*', '/other')], [0,
    "/%6fther: 1 purged\n/no*: 0 purged\n/other: 0 purged\n", ''], 'purge');
is($server->get('/other')->{body}, content('other', 5000), 'a request');
my %again = numbers();
is($again{$_} - $had{$_}, 1, "$_: one more") for qw(lookups chunk-misses);
is_deeply([ctl('purge', '*')], [0, "*: 1 purged\n", ''], 'purge all');
is_deeply([ctl('purge', '*x')], [64, '',
    "ampedctl: some words are not valid\n" .
    "*x: a URL begins with http:// or, without a host, with /\n"], 'nonsense');
is($server->get('/other')->{body}, content('other', 5000), 'a request');
my %last = numbers();
is($last{$_} - $again{$_}, 1, "$_: one more") for qw(lookups chunk-misses);
$server->stop;

# Out of the system's memory, as far as it does us that favour.
sub evict {
	my ($name) = @_;

	open(my $fh, '+<', "$root/$name") or die "$name: $!\n";
	$fh->sync;
	system('dd', "if=$root/$name", 'iflag=nocache', 'count=0',
	    'status=none');
}

# A purge sees what is new at once, and what is under way goes on.
$server = start(global => "$conf$an_hour");
await('the socket', sub { -S $control });
write_file("$root/changing", 'old');
my $before = content('large', 3_000_000);
my $half = $server->connect(window => 4096);
$half->send("GET /large HTTP/1.1\r\nHost: x\r\n\r\n");
$half->want(1000);
is($server->get('/changing')->{body}, 'old', 'a file');
write_file("$root/changing", 'new!');
is($server->get('/changing')->{body}, 'old', 'is what it was');
is((ctl('purge', '/*'))[0], 0, 'purge');
is($server->get('/changing')->{body}, 'new!', 'is what it is');
is($half->response->{body}, $before, 'what was under way has all of it');
$server->stop;

# Variants come along.
write_file("$root/pic.png", 'a picture');
write_file("$root/pic.png.avif", 'the same');
write_file("$root/pic.de.png", 'das Bild');
$server = start(site => "$rules\tformats avif\n\tlanguages fr de\n",
    global => "$conf$an_hour");
await('the socket', sub { -S $control });
is_deeply([ctl('preload', '/pic.png')],
    [0, "/pic.png: 9 bytes; also as avif language=de\n" .
    "1 file, 9 bytes, 0 failures\n", ''],
    'another format and language');
is($server->get('/pic.png', fields => ['Accept: image/avif'])->{body},
    'the same', 'is there');
is($server->get('/pic.png', fields => ['Accept-Language: de'])->{body},
    'das Bild', '... and the other');
$server->stop;
is(counted($server, 'lookups'), 3, 'without another look');
SKIP: {
	skip('there is no gzip', 4) if system('gzip -V >/dev/null 2>&1') != 0;
	system('gzip', '-kn', "$root/other") == 0 or die "gzip\n";
	$server = start(site => "$rules\tprecompressed gzip\n",
	    global => "$conf$an_hour");
	await('the socket', sub { -S $control });
	is_deeply([ctl('preload', '/other')],
	    [0, "/other: 5000 bytes; also as gzip\n" .
	    "1 file, 5000 bytes, 0 failures\n", ''], 'a variant');
	is($server->get('/other', fields => ['Accept-Encoding: gzip'])->
	    {field}{'content-encoding'}, 'gzip', 'is there');
	$server->stop;
	is(counted($server, 'lookups'), 2, 'without another look');
}

# status and metrics: what clients do, and nothing else.  The second helper comes
# a moment after the first.
$server = start(global => "$conf$unwatched");
await('the socket', sub { -S $control });
await('two helpers', sub { my %now = numbers(); $now{'helpers-started'} == 2 })
    if Amped::architecture() eq 'amped';
my %first = numbers();
$server->get('/page') for 1 .. 10;
$server->get('/none') for 1 .. 3;
my %clients = numbers();
is((ctl('preload', '/other', '/page'))[0], 0, 'preload');
my %then = numbers();
is($then{$_}, $clients{$_}, "which is no client's: $_")
    for qw(connections requests bytes bytes-in method-get status-2xx);
is($then{requests} - $first{requests}, 13, 'thirteen requests more');
is($then{connections} - $first{connections}, 13, 'and connections');
is($then{'status-4xx'} - $first{'status-4xx'}, 3, 'three of them failed');
is($then{lookups} - $first{lookups}, 3, 'three looks');
@answer = ctl('status');
is($answer[0], 0, 'status');
like($answer[1], qr/^requests\s+13  2xx 10  3xx 0  4xx 3  5xx 0 /m,
    'has what there was');
is(scalar(grep { length($_) > 80 } split(/\n/, $answer[1])), 0,
    'and fits on a screen');
cmp_ok($answer[1] =~ tr/\n//, '<=', 24, 'at once');
my $json = JSON::PP->new->decode((ctl('-j', 'status'))[1]);
is($json->{counters}{requests}, 13, 'as JSON');
is_deeply(JSON::PP->new->decode((ctl('status', 'json'))[1])->{counters},
    $json->{counters}, 'the same');
like((ctl('metrics'))[1], qr/^amped_requests_total 13$/m, 'metrics');
is((ctl('status', 'nonsense'))[0], 64, 'no such form');
is((ctl('-j', 'metrics'))[0], 64, 'metrics have one only');
@answer = ctl('top');
is($answer[0], 64, 'top without a terminal');
like($answer[2], qr/top needs a terminal/, 'says what it needs');
$server->stop;

sub numbers { return asked("status\n") =~ /^(\S+) (\S+)$/mg }

# The options.
@answer = ctl('help');
is($answer[0], 0, 'help');
like($answer[1], qr/^  \Q$_\E /m, "help has $_") for qw(status top metrics
    reload reopen stop drain check explain find policy preload purge conf help
    version);
is((ctl())[0], 64, 'no command');
for my $case (['relod', 'did you mean "reload"\?'],
    ['x', 'ampedctl help lists them']) {
	my ($status, undef, $err) = ctl($case->[0]);
	is($status, 64, "$case->[0]: no command");
	like($err, qr/no command "$case->[0]"; $case->[1]\n\z/, '... but');
}
is((ctl('nonsense'))[0], 64, 'no such command');
is((ctl('explain'))[0], 64, 'too few words');
is((ctl('check', 'it'))[0], 64, 'too many');
my @quiet = Amped::run_command(undef, Amped::program() =~
    s{[^/]*\z}{ampedctl}r, '-f', "$server->{dir}/none", 'version');
is($quiet[0] >> 8, 66, 'a conf that is not there');

done_testing();
