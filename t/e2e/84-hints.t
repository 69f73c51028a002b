#!/usr/bin/perl
# Hints: when a page comes up cold, the files behind it are brought in before
# they are asked for, by what requests have said, or by the names in the page;
# not while tasks wait for a helper.  What was learned goes from main to main, and is kept over a restart.
# The disk answers nothing while a file is asked for that must be in memory.
# arch: all
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use Amped qw(await content docroot free_port slurp write_file);
use Amped::Slowfs;
use Test::More;

Amped::one_main();

my $missing = Amped::Slowfs::missing();
plan(skip_all => $missing) if $missing;

my %files = ('dir/page.html' => "<link rel=stylesheet href=/dir/b.css>\n" .
    "<img src=./a.png><img src='../guarded/g.png'><img src=http://other/x>\n",
    'dir/index.html' => "<script src=b.css?1></script><img src=none.png>\n",
    'dir/a.png' => content('a', 3000), 'dir/b.css' => "p { }\n",
    'dir/large.png' => content('large', 300_000),
    'guarded/g.png' => content('g', 500), 'late.png' => 'late',
    'other.html' => "other\n", 'tongue.html' => "no names\n",
    'tongue.de.html' => "<link rel=stylesheet href=/dir/b.css>\n");
my $from = docroot(%files);
my $at = docroot();
my $fs = Amped::Slowfs->new($from, $at);
my $place = docroot();
my $server;

sub ctl {
	my ($status, $out) = Amped::run_command(undef,
	    Amped::copy_for_all('ampedctl'), '-s', "$place/control", @_);
	return $out;
}

sub counts {
	my $said = ctl('metrics');

	return join(' ', map { $said =~ /^amped_${_}_total (\d+)$/m }
	    qw(hinted hints_used hints_wasted));
}

sub begin {
	my ($hints, $site, $cache) = @_;

	# Names in a list of what was learned have a port, so it must not be 0.
	$server = Amped->start(root => $at, sites => "site default {\n" .
	    "\tlisten 127.0.0.1:" . free_port() . "\n\troot $at\n" .
	    "\tpath /guarded { allow 127.0.0.1; deny all; }\n" .
	    ($site // '') . "}\n", global =>
	    "control $place/control\nhelpers 2 max 8 share 8\n" .
	    "cache {\n\tpaths 1000 revalidate 1h stale 1h\n\thints $hints\n" .
	    ($cache // '') . "}\n");
}

# Asks for a file behind a page, as a browser does; whether it is right.
sub get {
	my ($name, $page, %opt) = @_;
	my $host = $opt{host} // 'localhost';
	my @fields = defined($page) ?
	    ("Referer: http://" . ($opt{of} // $host) . "/$page") : ();
	my $answer = $server->get("/$name", host => $host,
	    fields => ["Host: $host", @fields]);

	$name =~ s{/\z}{/index.html};
	return $answer->{status} == 200 && $answer->{body} eq $files{$name};
}

# Has the page asked for when nothing is in memory.
sub make_cold {
	like(ctl('purge', '*'), qr/purged/, 'nothing is in memory');
	ok(get('dir/page.html'), 'the page comes up cold');
}

sub queued { return ctl('metrics') =~ /^amped_queued_jobs (\d+)/m ? $1 : -1 }

# The same, while more lookups wait than there may be helpers.
sub make_cold_and_busy {
	like(ctl('purge', '*'), qr/purged/, 'nothing is in memory');
	$fs->hold('all');
	my @clients = map { $server->connect } 1 .. 11;
	for my $n (1 .. 10) {
		$clients[$n]->send("GET /none$n HTTP/1.1\r\n" .
		    "Host: localhost\r\n\r\n");
	}
	await('two to wait', sub { queued() == 2 });
	$clients[0]->send("GET /dir/page.html HTTP/1.1\r\n" .
	    "Host: localhost\r\n\r\n");
	await('the page to wait, too', sub { queued() >= 3 });
	is_deeply([map { queued() } 1 .. 20], [(3) x 20],
	    'no hint waits behind them');
	$fs->release;
	is(join(' ', map { $_->response->{status} } @clients),
	    join(' ', 200, (404) x 10), 'all are answered');
}

# Asks for files while the disk answers nothing.
sub is_ready {
	my ($what, @names) = @_;

	$fs->hold('all');
	ok(get($_, 'dir/page.html'), "$what: $_ is in memory") for @names;
	$fs->release;
}

begin('learn');
ok(get('dir/page.html'), 'the page');
ok(get($_, 'dir/page.html'), "a file behind it: $_") for qw(dir/a.png dir/b.css guarded/g.png);
ok(get('late.png', 'dir/page.html', of => 'elsewhere'), 'of another host');
ok(get('dir/large.png', 'other.html'), 'behind a page that nobody has got');
is(counts(), '0 0 0', 'nobody was served by a hint');
make_cold();
await('the hints', sub { counts() =~ /^2 / });
is_ready('learn', 'dir/a.png', 'dir/b.css');
await('them to be used', sub { counts() eq '2 2 0' });
pass('used');
ok(get('guarded/g.png'), 'what has a guard is served as ever');
kill('HUP', $server->{pid});
ok($server->wait_line(qr/info: hints of 1 page came with the list/),
    'the next main takes over what this one has learned');
await('the old main to go', sub { $server->role('main') == 1 });
Amped::architecture() eq 'amped' ? make_cold_and_busy() : make_cold();
await('the hints', sub { counts() =~ /^4 / });
is_ready('after a reload', 'dir/a.png', 'dir/b.css');
await('them to be used', sub { counts() eq '4 4 0' });
pass('used');
is_deeply([$server->complaints], [], 'no complaints');
$server->stop;

# A file keeps it over a restart, and somebody else may have written there.
my $list = "$place/hot/list";
Amped::make_directory("$place/hot");
chown(scalar(getpwnam(Amped::ordinary_user())), -1, "$place/hot");
begin('learn', '', "\thotlist $list\n");
ok(get('dir/page.html'), 'the page');
ok(get($_, 'dir/page.html'), "a file behind it: $_") for qw(dir/a.png dir/b.css);
$server->stop;
like(slurp($list), qr{^#[^>]*^> http://127.0.0.1:\d+/dir/page.html }m,
    'the list has the page in front');
write_file($list, "> /dir/page.html /dir/b.css\n> /other.html\n" .
    "> /other.html dir/a.png\n> http://other/ /dir/a.png\n> /none /a /b\n");
begin('learn', '', "\thotlist $list\n");
ok($server->wait_line(qr/warn: 2 lines of the hot list $list are no name/),
    'bad lines');
ok($server->wait_line(qr/info: hints of \d pages came with the list/),
    'the others are taken');
make_cold();
await('the hint', sub { counts() =~ /^1 / });
is_ready('after a restart', 'dir/b.css');
is_deeply([$server->complaints], [], 'no complaints');
$server->stop;

# The names in a page, at the first visit; of an index, too.
begin('links');
ok(get('dir/page.html'), 'a page that nobody has asked for');
await('the hints', sub { counts() =~ /^2 / });
is_ready('links', 'dir/a.png', 'dir/b.css');
await('them to be used', sub { counts() eq '2 2 0' });
pass('used');
like(ctl('purge', '*'), qr/purged/, 'nothing is in memory');
ok(get('dir/'), 'a page by the name of its directory');
await('the hints', sub { counts() =~ /^4 / });
is_ready('links', 'dir/b.css');
await('it to be used', sub { counts() =~ /^4 3 / });
pass('and the name that is not there is not');
is_deeply([$server->complaints], [], 'no complaints');
$server->stop;

# The page in a language has names of its own.
begin('links', "\tlanguages de\n");
ok(get('tongue.html'), 'a page without names');
is($server->get('/tongue.html', fields => ['Accept-Language: de'])->{body},
    $files{'tongue.de.html'}, 'a page in a language');
await('the hint', sub { counts() =~ /^1 / });
is_ready('links', 'dir/b.css');
is_deeply([$server->complaints], [], 'no complaints');
$server->stop;

done_testing();
