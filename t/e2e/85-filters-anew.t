#!/usr/bin/perl
# ampedctl chain NAME reload: no result from before it answers a request that
# comes after it, in no main and no thread; and a module that is replaced on
# disk, without a lost request.
# arch: all
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use Amped qw(await docroot slurp write_file);
use Test::More;

# A filter shows a text that no server can know of, and may wait, as the conf
# says, after it has read the text.
my $dir = docroot('tools/x' => '', 'runs/x' => '');
my $runs = "$dir/runs";
my $control = docroot() . '/control';
my $as_user = $> == 0 ? scalar(getpwnam(Amped::ordinary_user())) : $>;
chown($as_user, -1, $runs);

sub state { write_file("$dir/tools/state", $_[0]) }

write_file("$dir/tools/shows", <<"END");
#!/bin/sh
text=\$(cat $dir/tools/state)
echo x >> $runs/\$1
[ "\$text" != fails ] || exit 1
[ \$1 != waits ] || until [ -e $dir/tools/open ]; do sleep 0.05; done
cat
yes "\$text" | head -n 2000
END
chmod(0755, "$dir/tools/shows");
for my $name (qw(a.txt b.txt c.txt)) {
	write_file("$dir/root/$name", '');
	utime(time() - 100, time() - 100, "$dir/root/$name");
}
my $server = Amped->start(root => "$dir/root", errors => 1,
    global => <<"END", site => <<"SITE");
control $control
limits { disk 2s }
cache { paths 1000 revalidate 1h stale 2h negative 1h }
program shows { filter $dir/tools/shows shows; confine basic }
program other { filter $dir/tools/shows other; confine basic }
program waits { filter $dir/tools/shows waits; confine basic }
chain shows { filters shows }
chain other { filters other }
chain waits { filters waits }
END
	path /shows { chain shows; alias $dir/root }
	path /packed { chain shows; alias $dir/root; compress gzip }
	path /other { chain other; alias $dir/root }
	path /waits { chain waits; alias $dir/root }
SITE

sub get { return $server->get(@_) }

# The text that an answer shows, or its status.
sub shown {
	my ($answer) = @_;

	return $answer->{status} if $answer->{status} != 200;
	return $answer->{body} =~ /\A(?:(\w+)\n)(?:\1\n){1999}\z/ ? $1 : 'mixed';
}

sub ctl {
	return Amped::run_command(undef, Amped::program() =~
	    s/amped\z/ampedctl/r, '-s', $control, 'chain', @_);
}

sub reload { is((ctl($_[0], 'reload'))[0], 0, "chain $_[0] reload") }

sub count { return -e "$runs/$_[0]" ? -s "$runs/$_[0]" : 0 }

sub gunzip {
	my ($bytes) = @_;
	my $at = docroot(x => $bytes);

	return scalar(`gzip -dc < '$at/x' 2>&1`);
}

# In all mains and threads: each connection may get another one.
sub all_show {
	my ($path, $text) = @_;
	my %shown = map { shown(get($path)) => 1 } 1 .. 8;

	is_deeply([keys %shown], [$text], "$path: $text") or
	    diag(grep { / for \/\w/ } split(/^/, slurp($server->{err})));
}

# Only what is made of a settled file is looked up as unchanged.
await('the files to settle',
    sub { time() - (stat("$dir/root/a.txt"))[10] > 3 });
my $packed = ['Accept-Encoding: gzip'];
state('one');
all_show("/$_/a.txt", 'one') for qw(shows packed other);
get('/packed/a.txt', fields => $packed) for 1 .. 4;
state('two');
if (Amped::architecture() ne 'mp') {	# where each main has its own
	all_show("/$_/a.txt", 'one') for qw(shows packed other);
}
my $other = count('other');
reload('shows');
all_show("/$_/a.txt", 'two') for qw(shows packed);
is(shown({ status => 200, body => gunzip(get('/packed/a.txt',
    fields => $packed)->{body}) }), 'two', 'also compressed') for 1 .. 4;
my $runs_of_it = count('shows');
all_show('/shows/a.txt', 'two');
is(count('shows'), $runs_of_it, 'the new ones stay')
    if Amped::architecture() ne 'mp';
is(shown(get('/other/a.txt')), 'one', 'another chain has its result')
    if Amped::architecture() ne 'mp';
is(count('other'), $other, 'another chain runs no more than before')
    if Amped::architecture() ne 'mp';

# A failure.
state('fails');
reload('shows');
all_show('/shows/a.txt', 500);
state('three');
all_show('/shows/a.txt', 500) if Amped::architecture() ne 'mp';
reload('shows');
all_show('/shows/a.txt', 'three');

# A run that is under way: for those who wait for it, and no other.
sub check_run {
	my (@answers, @clients);
	my $open = "$dir/tools/open";

	for my $text (qw(before behind)) {
		my $n = count('waits');
		my $client = $server->connect;

		state($text);
		reload('waits') if $text eq 'behind';
		$client->send("GET /waits/b.txt HTTP/1.1\r\nHost: x\r\n\r\n");
		await("a run that shows $text", sub { count('waits') > $n });
		push(@clients, $client);
	}
	write_file($open, '');
	@answers = map { shown($_->response('GET')) } @clients;
	is($answers[1], 'behind', 'a request behind the reload: a new result');
	ok($answers[0] eq 'before' || $answers[0] eq 'behind' ||
	    $answers[0] eq '504', "one before it: any ($answers[0])");
	all_show('/waits/b.txt', 'behind');
	unlink($open);

	# Nobody waits for it any more.
	state('late');
	is(shown(get('/waits/c.txt')), 504, 'a run that takes too long');
	state('on_time');
	reload('waits');
	write_file($open, '');
	all_show('/waits/c.txt', 'on_time');
}
check_run() if Amped::many_clients();

# Mistakes.
my @answer = ctl('none', 'reload');
isnt($answer[0], 0, 'no such chain');
like($answer[2], qr/there is no chain "none" in the conf in force/, 'it says');
like((ctl('shows', 'restart'))[2], qr/the action is reload/, 'another action');
like((ctl('shows'))[2], qr/the action is reload/, 'no action');
$server->finish;

# A module that is replaced.
SKIP: {
	skip('there is no cc', 1) if system('command -v cc > /dev/null') != 0;
	my $module = "$dir/tools/module.so";

	write_file("$dir/tools/module.c", <<'END');
#include "amped-filter.h"
static const struct amped_filter_host *host;
static void *begin(const struct amped_filter_host *h) { return (void *)(host = h); }
static int feed(void *s, const void *bytes, size_t n)
{ (void)s; (void)bytes; (void)n; return 0; }
static int end(void *s) { (void)s; host->emit(TEXT, sizeof(TEXT) - 1); return 0; }
const struct amped_filter amped_filter = { AMPED_FILTER_VERSION, begin, feed, end };
END
	my $make = sub {
		system('cc', '-shared', '-fPIC', "-DTEXT=\"$_[0]\"", '-I' .
		    Amped::source_dir() . '/helpers/filters', '-o',
		    "$module.new", "$dir/tools/module.c") == 0 or die "cc\n";
		chmod(0755, "$module.new");
		rename("$module.new", $module) or die "rename: $!\n";
	};

	write_file("$dir/root/d.txt", 'text');
	$make->('first');
	$server = Amped->start(root => "$dir/root", global => <<"END",
cache { paths 1000 revalidate 20ms negative 20ms }
program made { filter module $module }
chain made { filters made }
END
	    site => "\tchain made\n");
	is(get('/d.txt')->{body}, 'first', 'a module');
	for my $text (qw(second third)) {
		my %seen;

		$make->($text);
		await("the $text module", sub {
			my $answer = get('/d.txt');
			$seen{"$answer->{status} $answer->{body}"} = 1;
			return $answer->{body} eq $text;
		});
		is(scalar(grep { !/^200 (first|second|third)\z/ } keys %seen),
		    0, 'no request is lost') or diag(join(', ', keys %seen));
	}
	$server->finish;
}
done_testing();
