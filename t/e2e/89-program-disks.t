#!/usr/bin/perl
# A program whose disk does not answer: its place is free again when its client
# has left, and all else goes on.
# arch: one: the program manager is the same in each
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use Amped qw(docroot write_file);
use Amped::Slowfs;
use Test::More;

my $missing = Amped::Slowfs::missing();
plan(skip_all => $missing) if $missing;

my $dir = docroot('disk/' => '', 'at/' => '', 'www/page' => "page\n");
for my $name (qw(first second)) {
	write_file("$dir/disk/$name", "#!/bin/sh\n" .
	    "printf 'Content-Type: text/plain\\n\\n$name\\n'\n");
	chmod(0755, "$dir/disk/$name");
}
my $fs = Amped::Slowfs->new("$dir/disk", "$dir/at");
my $server = Amped->start(root => "$dir/www", site => "path /at { run at }\n",
    global => "program at {\n\tdirectory $dir/at\n\tmost 1\n" .
    "\twithin 60s\n}\n");

sub ask {
	my ($name) = @_;
	my $client = $server->connect(relayed => 1);

	$client->send("GET /at/$name HTTP/1.1\r\nHost: x\r\n\r\n");
	return $client;
}

is(ask('first')->response->{body}, "first\n", 'a program answers');
$fs->hold('open');
my $first = ask('first');
is($fs->wait_held('open'), 'first', 'a program hangs before it begins');
is($server->get('/page')->{body}, "page\n", '... which stops no file');

my $second = ask('second');
$fs->{held} = [];
$first->abort;
is($fs->wait_held('open'), 'second',
    'its client leaves: the next one has its place');
$fs->release;
is($second->response->{body}, "second\n", '... and gets its answer');
is(ask('first')->response->{body}, "first\n", '... as do others');
$server->stop;
done_testing();
