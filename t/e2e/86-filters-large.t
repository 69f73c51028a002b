#!/usr/bin/perl
# Results larger than limits { digest }: a tag that a client has got stands for
# no other bytes, after a reload of the chain, after a restart, and with results
# in a directory; and ranges are of one result.
# arch: all
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use Amped qw(await docroot write_file);
use Test::More;

# A filter shows a text that no server can know of, always in as many bytes.
my $dir = docroot('root/a.txt' => '', 'tools/x' => '', 'results/x' => '');
my $results = "$dir/results";
my $control = docroot() . '/control';
my $as_user = $> == 0 ? scalar(getpwnam(Amped::ordinary_user())) : $>;
unlink("$results/x");
chown($as_user, -1, $results);
chmod(0755, $results);
write_file("$dir/tools/shows", <<"END_TOOL");
#!/bin/sh
text=\$(cat $dir/tools/state)
cat
yes "\$text" | head -n 2000
END_TOOL
chmod(0755, "$dir/tools/shows");
utime(time() - 100, time() - 100, "$dir/root/a.txt");

my $server;

sub start {
	my ($cache) = @_;

	$server = Amped->start(root => "$dir/root", global => <<"CONF",
control $control
limits { digest 1K }
cache { paths 1000 revalidate 50ms negative 50ms; $cache }
program shows { filter $dir/tools/shows; confine basic }
chain shows { filters shows }
CONF
	    site => "\tchain shows\n\tpath /packed { chain shows; " .
	    "alias $dir/root; compress gzip }\n");
}

sub reload {
	my @answer = Amped::run_command(undef, Amped::program() =~
	    s/amped\z/ampedctl/r, '-s', $control, 'chain', 'shows', 'reload');

	is($answer[0], 0, 'a reload');
}

my $packed = 'Accept-Encoding: gzip';
sub get { return $server->get('/a.txt', fields => [@_]) }
sub get_packed {
	return $server->get('/packed/a.txt', fields => [$packed, @_]);
}
sub shown { return $_[0]{body} =~ /\A(?:(\w+)\n)(?:\1\n){1999}\z/ ? $1 : 'mixed' }
sub state { write_file("$dir/tools/state", $_[0]) }

# The tag of a result, after it was checked.
sub tag {
	my ($text) = @_;
	my $answer = get();
	my $tag = $answer->{field}{etag};

	is(shown($answer), $text, "a result: $text");
	like($tag, qr{^W/"}, '... has a weak tag');
	is(get("If-None-Match: $tag")->{status}, 304, '... which is known');
	my $part = get('Range: bytes=0-9', "If-Range: $tag");
	is($part->{status}, 200, '... and no range is added to one of it');
	is(shown($part), $text, '... but all is sent');
	is(get("If-Match: $tag")->{status}, 412, '... nor does it match strongly');
	return $tag;
}

# Those that clients have got for another text.
sub check_old {
	my ($text, %old) = @_;

	for my $tag (sort keys %old) {
		my $answer = get("If-None-Match: $tag");

		is($answer->{status}, 200, "the tag of $old{$tag}: 200");
		is(shown($answer), $text, "... with $text");
	}
}

await('the file to settle',
    sub { time() - (stat("$dir/root/a.txt"))[10] > 3 });
for my $cache ('', "results $results") {
	my %old;

	start($cache);
	state('one');
	$old{tag('one')} = 'one';
	my $of_packed = get_packed()->{field}{etag};
	state('two');
	reload();
	check_old('two', %old);
	my $tag = tag('two');
	is(get_packed("If-None-Match: $of_packed")->{status}, 200,
	    'a compressed result is another one, too');
	$server->finish;
	start($cache);
	check_old('two', %old);
	is(get_packed("If-None-Match: $of_packed")->{status}, 200,
	    '... also after a restart');
	$old{$_} = 'two' for tag('two'), $tag;
	$server->finish;
	state('six');
	start($cache);
	check_old('six', %old) if $cache eq '';
	reload();
	check_old('six', %old);
	$server->finish;
}
done_testing();
