#!/usr/bin/perl
# Results of filters in a directory: they are found again after a restart
# without a run, only if nothing that they depend on has changed, and never
# damaged ones; a reload of a chain holds there, too.
# arch: pair
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use Amped qw(await docroot slurp write_file);
use POSIX ();
use Test::More;

my $dir = docroot('tools/x' => '', 'runs/x' => '', 'results/x' => '');
my $root = "$dir/root";
my $runs = "$dir/runs/runs";
my $results = "$dir/results";
my $control = docroot() . '/control';
my $as_user = $> == 0 ? scalar(getpwnam(Amped::ordinary_user())) : $>;
unlink("$results/x");
chown($as_user, -1, "$dir/runs", $results);
chmod(0755, $results);

# A filter that shows what no server can know of.
sub write_tool {
	my ($more) = @_;

	write_file("$dir/tools/.new", <<"END");
#!/bin/sh
cat $dir/tools/state
echo x >> $runs
[ ! -e $dir/tools/hold ] || until [ -e $dir/tools/open ]; do sleep 0.05; done
$more
cat
[ ! -e $dir/tools/fails ]
END
	chmod(0755, "$dir/tools/.new");
	rename("$dir/tools/.new", "$dir/tools/shows") or die "rename: $!\n";
}

sub put {
	my ($name, $bytes) = @_;

	write_file("$root/$name", $bytes);
	utime(time() - 100, time() - 100, "$root/$name");
}

sub settle {
	await('the files to settle', sub {
		!grep { time() - (stat($_))[10] <= 4 } glob("$root/*.*")
	});
}

my $lines = join('', map { "line $_\n" } 1 .. 3000);
put('a.txt', "a text\n");
put('b.txt', $lines);
put("$_.txt", $lines) for qw(one two three);
put('page.shtml', '<!--#include file="part.html" -->');
put('part.html', "a part\n");
write_tool('');
write_file("$dir/tools/state", "one\n");

my $max = '1G';
sub blocks {
	return (global => <<"END", site => <<"SITE");
control $control
cache { paths 1000 revalidate 50ms negative 50ms; results $results max $max }
program shows { filter $dir/tools/shows; confine basic }
program cut { filter /usr/bin/head -c "%{n}" }
program nothing { filter /usr/bin/head -c 0 }
program pages { filter ssi }
chain shows { filters shows }
chain cut { filters shows cut }
chain nothing { filters nothing }
chain pages { filters pages }
END
	chain shows for *.txt
	chain pages for *.shtml
	path /cut { chain cut by query "n=1-100"; alias $root }
	path /nothing { chain nothing; alias $root }
SITE
}

my $server;
sub start { $server = Amped->start(root => $root, errors => 1, blocks()) }
sub get { return $server->get(@_) }
sub count { return -e $runs ? (-s $runs) / 2 : 0 }
sub kept { return grep { m{/[0-9a-f]{32}\z} } glob("$results/*") }

# With nothing kept if $empty: once the server has ended, nothing more is.
sub restart {
	my ($empty) = @_;

	$server->finish;
	unlink(kept()) if $empty;
	start();
}

# A result that is kept, by a request for it.
sub keep {
	my ($path) = @_;
	my $n = kept();

	get($path);
	await("$path to be kept", sub { kept() > $n });
}

sub ctl {
	return Amped::run_command(undef, Amped::program() =~
	    s/amped\z/ampedctl/r, '-s', $control, @_);
}

sub recalled {
	my ($chain) = @_;
	my @answer = ctl('metrics');

	return $answer[1] =~
	    /^amped_chain_recalled_total\{chain="$chain"\} (\d+)$/m ? $1 : -1;
}

start();
settle();
keep('/a.txt');
keep('/b.txt');
keep('/cut/b.txt?n=7');
keep('/page.shtml');
is(get('/b.txt')->{body}, "one\n$lines", 'a result');
is(get('/cut/b.txt?n=7')->{body}, "one\nlin", 'one by a query');
is(get('/page.shtml')->{body}, "a part\n", 'a page with a part');
my $tag = get('/a.txt')->{field}{etag};
is(get('/nothing/a.txt')->{body}, '', 'an empty one');
is((stat($_))[2] & 07777, 0600, 'a file for this user alone') for (kept())[0];

# Nothing has changed, but for what no server can know of.
my $n = count();
write_file("$dir/tools/state", "two\n");
restart();
is(get('/a.txt')->{body}, "one\na text\n", 'found after a restart');
is(get('/a.txt')->{field}{etag}, $tag, 'with its tag');
is(get('/b.txt')->{body}, "one\n$lines", 'a longer one');
is(get('/b.txt', fields => ['Range: bytes=4-9'])->{body}, 'line 1',
    'a range of it');
is(get('/cut/b.txt?n=7')->{body}, "one\nlin", 'by its query');
is(get('/cut/b.txt?n=3')->{body}, 'two', 'another query is another result');
is(get('/page.shtml')->{body}, "a part\n", 'a page with a part');
is(count(), $n + 1, 'which is the only one that was made');
# Of mp each process has caches of its own.
my $most = Amped::architecture() eq 'mp' ? 4 : 2;
my $recalled = recalled('shows');
ok($recalled >= 2 && $recalled <= $most, "they are counted: $recalled");
is(recalled('pages'), 1, 'by chain');
is(scalar(kept()), 5, 'an empty one is not kept');

# Each thing that a result depends on.
put('a.txt', "new text\n");
await('the new file', sub { get('/a.txt')->{body} eq "two\nnew text\n" });
write_file("$root/part.html.new", "another\n");
rename("$root/part.html.new", "$root/part.html") or die "rename: $!\n";
restart();
is(get('/a.txt')->{body}, "two\nnew text\n", 'a new file');
is(get('/page.shtml')->{body}, "another\n", 'a new part');
write_tool('echo new');
restart();
is(get('/b.txt')->{body}, "two\nnew\n$lines", 'a new program');

# Damaged files, and those of others.
sub damage {
	my ($what, $change) = @_;

	restart(1);
	keep('/b.txt');
	write_file("$dir/tools/state", "$what\n");
	my ($file) = kept();
	my $bytes = slurp($file);

	$server->finish;
	$change->($file, $bytes);
	start();
	is(get('/b.txt')->{body}, "$what\nnew\n$lines", "not used: $what");
}

damage('shorter', sub { write_file($_[0], substr($_[1], 0, -1)) });
damage('torn', sub { write_file($_[0], substr($_[1], 0, -5000) .
    "\0" x 5000) });
damage('foreign', sub { write_file($_[0], "x" x length($_[1])) });
damage('writable', sub { chmod(0666, $_[0]) });
$n = count();
damage('link', sub { rename($_[0], "$results/y"); symlink('y', $_[0]) });
unlink("$results/y");

# A chain that is reloaded, with all that was made before, and what is being
# made.
settle();
restart(1);
keep('/a.txt');
keep('/page.shtml');
write_file("$dir/tools/hold", '');
$n = count();
my $client = $server->connect;
$client->send("GET /b.txt HTTP/1.1\r\nHost: x\r\n\r\n");
await('a run', sub { count() > $n });
write_file("$dir/tools/state", "three\n");
my @answer = ctl('chain', 'shows', 'reload');
is($answer[0], 0, 'a reload') or diag($answer[2]);
write_file("$dir/tools/open", '');
is($client->response('GET')->{body}, "link\nnew\n$lines",
    'who has waited has the result');
restart();
is(get('/a.txt')->{body}, "three\nnew\nnew text\n", 'holds over a restart');
is(get('/b.txt')->{body}, "three\nnew\n$lines", 'also for a run from before');
get('/page.shtml');
is(recalled('pages'), 1, 'and is not about other chains');

# Failures are not kept.
write_file("$dir/tools/fails", '');
restart(1);
is(get('/b.txt')->{status}, 500, 'a filter that fails');
unlink("$dir/tools/fails");
restart();
is(get('/b.txt')->{status}, 200, 'and does not any more');

# The room.
$max = '64K';
restart(1);
keep('/one.txt');
keep('/two.txt');
restart();
get('/one.txt');
await('its use to be noted', sub { recalled('shows') == 1 });
get('/three.txt');
await('the third', sub {
	# One that has gone meanwhile has no name.
	my @names = map { (eval { slurp($_) } // '') =~
	    m{/(one|two|three)\.txt}s ? $1 : '' }
	    kept();

	return "@{[sort @names]}" eq 'one three';
});
pass('the one that was not used for longest has gone');
my $bytes = 0;
$bytes += -s $_ for kept();
cmp_ok($bytes, '<=', 65536, 'no more bytes than the conf says');

# Commands at once: none is lost, and none fails.
for my $round (1 .. 5) {
	my @files = map { docroot() . '/said' } 1 .. 4;
	my @pids;

	write_file("$dir/tools/state", "round $round\n");
	for my $file (@files) {
		my $pid = fork() // die "fork: $!\n";

		if ($pid == 0) {
			open(STDOUT, '>', $file);
			open(STDERR, '>&', \*STDOUT);
			exec(Amped::program() =~ s/amped\z/ampedctl/r, '-s',
			    $control, 'chain', 'shows', 'reload') or
			    POSIX::_exit(127);
		}
		push(@pids, $pid);
	}
	my @failed = grep { waitpid($_, 0) != $_ || $? != 0 } @pids;
	is(scalar(@failed), 0, "four reloads at once, $round") or
	    diag(map { slurp($_) } @files);
	like(get('/one.txt')->{body}, qr/^round $round$/m, '... are done');
}

# A directory that others may write to.
chmod(0777, $results);
write_file("$dir/tools/state", "four\n");
restart();
like(get('/one.txt')->{body}, qr/^four/, 'a directory of all is not used');
$server->wait_line(qr/results \Q$results\E \}: cannot look for a result/);
@answer = ctl('chain', 'shows', 'reload');
isnt($answer[0], 0, 'nor can a chain be reloaded');
like($answer[2], qr/nothing has changed: the results of chain shows in/,
    'which is said');
$server->finish;
done_testing();
