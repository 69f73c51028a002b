#!/usr/bin/perl
# Files that change under the server: a response is always one version.
# arch: all
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use Amped qw(await content docroot slurp write_file);
use Test::More;
use Time::HiRes qw(time);

Amped::one_main();

my $all = docroot('one/page' => "first release\n",
    'two/page' => "second release\n", 'two/only' => "new\n",
    'site/here' => "here\n", 'site/small' => "version 1\n",
    'site/large' => content('v1', 300_000),
    'site/huge' => content('huge', 20_000_000));
my $fresh = "cache {\n\tpaths 1000 revalidate 100ms negative 100ms\n}";
my $root = "$all/site";
my $server = Amped->start(root => $root, global => $fresh);

sub replace {
	my ($name, $bytes) = @_;

	write_file("$root/.next", $bytes);
	rename("$root/.next", "$root/$name") or die "rename: $!\n";
}

# One version: length and bytes agree, and it is one of these.
sub becomes {
	my ($what, $name, @bodies) = @_;
	my $answer;

	await($what, sub {
		$answer = $server->get("/$name");
		die "$what: neither old nor new\n" unless
		    grep { $answer->{body} eq $_ } @bodies;
		return $answer->{body} eq $bodies[-1];
	});
	pass($what);
	return $answer;
}

# Replaced by rename, small and large.
for my $name ('small', 'large') {
	my $old = $server->get("/$name");
	my $bytes = content('v2', length($old->{body}) + 77);

	replace($name, $bytes);
	my $new = becomes("a $name file is replaced", $name, $old->{body},
	    $bytes);
	isnt($new->{field}{etag}, $old->{field}{etag}, 'with another tag');
	is($server->get("/$name", fields =>
	    ["If-None-Match: $old->{field}{etag}"])->{status}, 200,
	    'the old tag is no longer good');

	# In its place: same size and second, longer, shorter.  The moment
	# between may end a response, so there may be none.
	for my $size (length($bytes), 200_000, 5000, 0, 70_000) {
		$old = $server->get("/$name");
		$bytes = content("v$size", $size);
		write_file("$root/$name", $bytes);
		await("$size bytes", sub {
			$new = $server->get("/$name");
			return defined($new->{status}) && !$new->{short} &&
			    $new->{field}{etag} ne $old->{field}{etag};
		});
		is($new->{field}{'content-length'}, $size,
		    "$name becomes $size bytes");
		ok($new->{body} eq $bytes, 'the new ones');
	}
}

# Gone, and there again; a directory in its place.
is($server->get('/here')->{status}, 200, 'a file');
unlink("$root/here");
await('404', sub { $server->get('/here')->{status} == 404 });
pass('deleted');
write_file("$root/here", "again\n");
await('200', sub { $server->get('/here')->{status} == 200 });
is($server->get('/here')->{body}, "again\n", 'made again');
unlink("$root/here");
write_file("$root/here/index.html", "in a directory\n");
await('a redirect', sub { $server->get('/here')->{status} == 301 });
is($server->get('/here/')->{body}, "in a directory\n",
    'a directory in its place');
chmod(0, "$root/large");
await('403', sub { $server->get('/large')->{status} == 403 });
pass('no longer readable');

# Truncated while somebody downloads it: the answer ends short, at once.
my $client = $server->connect(window => 8192);
$client->send("GET /huge HTTP/1.1\r\nHost: x\r\n\r\n");
$client->want(10_000);
truncate("$root/huge", 1_000_000) or die "truncate: $!\n";
my $answer = $client->response;
is($answer->{field}{'content-length'}, 20_000_000, 'truncated under way');
ok($answer->{short}, 'the answer ends short, and closes');
await('the shorter file', sub {
	my $now = $server->get('/huge');
	return defined($now->{status}) && !$now->{short} &&
	    length($now->{body}) == 1_000_000;
});
is($server->get('/small')->{status}, 200, 'the server lives');

# Replaced while somebody downloads it: the old version to its end.
sub replaced_under_way {
	my $huge = content('huge2', 12_000_000);

	replace('huge', $huge);
	await('the new file',
	    sub { length($server->get('/huge')->{body}) == length($huge) });
	my $client = $server->connect(window => 8192);
	$client->send("GET /huge HTTP/1.1\r\nHost: x\r\n\r\n");
	$client->want(10_000);
	replace('huge', "short now\n");
	await('the next version',
	    sub { $server->get('/huge')->{body} eq "short now\n" });
	ok($client->response->{body} eq $huge,
	    'a download keeps its version to the end');
}
replaced_under_way() if Amped::many_clients();

# While a writer replaces a file all the time: every answer is one version,
# and a strong tag never stands for two.
my $writer = fork() // die "fork: $!\n";
if ($writer == 0) {
	for (my $i = 0; getppid() != 1; $i++) {
		my $size = (40, 9000, 70_000, 250_000)[$i % 4] + $i % 1000;
		replace('busy', "$i\n" . content("busy$i", $size));
	}
	POSIX::_exit(0);
}
await('the first version', sub { -e "$root/busy" });
my (%seen, @wrong);
my $end = time + 2;
my $requests = 0;
$client = $server->connect;
while (time < $end) {
	$client->send("GET /busy HTTP/1.1\r\nHost: x\r\n\r\n");
	$answer = $client->response;
	$requests++;
	if (!defined($answer) || $answer->{status} != 200) {
		push(@wrong, $answer ? $answer->{status} : 'closed');
		last;
	}
	my ($i, $rest) = $answer->{body} =~ /\A(\d+)\n(.*)\z/s;
	my $tag = $answer->{field}{etag};
	push(@wrong, "$requests: not one version") if $answer->{short} ||
	    !defined($i) || $rest ne content("busy$i", length($rest));
	push(@wrong, "tag $tag for $seen{$tag} and $i") if $tag =~ /^"/ &&
	    ($seen{$tag} // $i) ne $i;
	$seen{$tag} = $i;
}
kill('KILL', $writer);
waitpid($writer, 0);
is_deeply(\@wrong, [], 'each answer is one version, each strong tag too');
cmp_ok($requests, '>', 20, "($requests requests)");
cmp_ok(keys(%seen), '>', 2, 'several versions were seen');
$server->stop;

# A version that has shrunk is not waited for, however long it could stay.
$server = Amped->start(root => $root,
    global => "cache {\n\tpaths 1000 revalidate 1h stale 1h\n}");
for my $size (5000, 70_000, 300_000) {
	write_file("$root/$size", content('shrinks', $size));
	is(length($server->get("/$size")->{body}), $size, "$size bytes");
	truncate("$root/$size", 100) or die "truncate: $!\n";
	# Who finds out may lose a response; the next does not.
	my ($now) = grep { defined($_->{status}) && !$_->{short} }
	    map { $server->get("/$size") } 1, 2;
	# A small body may be kept in one piece with its head.
	my $body = $now->{body} // '';
	ok($body eq content('shrinks', 100) || $size == 5000 &&
	    $body eq content('shrinks', $size),
	    'a shrunk file is looked at anew');
}
# Cut within its last page there is no error to be had, only zeros.
write_file("$root/page-cut", content('shrinks', 100_000));
is(length($server->get('/page-cut')->{body}), 100_000, 'a whole file');
truncate("$root/page-cut", 98_400) or die "truncate: $!\n";
my ($cut) = grep { defined($_->{status}) && !$_->{short} }
    map { $server->get('/page-cut') } 1, 2;
ok($cut->{body} eq content('shrinks', 98_400), 'no zeros at its end');
$server->stop;

# A link above the root that is swapped.
symlink('one', "$all/current") or die;
$server = Amped->start(root => "$all/current", global => $fresh);
is($server->get('/page')->{body}, "first release\n", 'a link as root');
is($server->get('/only')->{status}, 404, 'something not there');
symlink('two', "$all/next") && rename("$all/next", "$all/current") or die;
becomes('the link is swapped', 'page', "first release\n",
    "second release\n");
await('what is new', sub { $server->get('/only')->{status} == 200 });
pass('what was not there is there now');
$server->stop;

done_testing();
