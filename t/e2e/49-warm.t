#!/usr/bin/perl
# A main that takes over knows the names that the main before has served: at a
# reload, at an upgrade, from several mains and to several; and after a restart
# by a file.
# arch: pair
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use Amped qw(await content docroot free_port slurp write_file);
use Test::More;

Amped::one_main();

my %files = ((map { ("f$_" => content("f$_", 3000)) } 1 .. 60),
    'large' => content('large', 3_000_000), 'style.css' => 'p { }',
    'style.css.gz' => 'as if compressed', 'other' => "other\n",
    'pic.png' => 'a picture', 'pic.png.webp' => 'the same');
my $port = free_port();
# What is in memory is good for an hour, whatever becomes of the disk.
my $global = "helpers 2 max 4 share 4\n" .
    "cache {\n\tpaths 1000 revalidate 1h stale 1h\n\twatches 0\n}\n";
my $site = "site default {\n\tlisten 127.0.0.1:$port\n\troot %s\n" .
    "\tprecompressed gzip\n\tformats webp\n%s}\n";
my $gzip = { fields => ['Accept-Encoding: gzip'] };
my $webp = { fields => ['Accept: image/webp'] };

sub start {
	my ($root, %opt) = @_;

	return Amped->start(global => $global, root => $root,
	    sites => sprintf($site, $root, ''), %opt);
}

sub get_all {
	my ($server, @names) = @_;
	my @wrong;

	for my $name (@names ? @names : sort grep { !/\.(?:gz|webp)\z/ } keys %files) {
		my $answer = $server->get("/$name", port => $port);
		push(@wrong, "$name: $answer->{status}")
		    if $answer->{body} ne $files{$name};
	}
	my $css = $server->get('/style.css', port => $port, %$gzip);
	my $picture = $server->get('/pic.png', port => $port, %$webp);
	push(@wrong, 'style.css.gz') if !@names &&
	    $css->{body} ne $files{'style.css.gz'};
	push(@wrong, 'pic.png.webp') if !@names &&
	    $picture->{body} ne $files{'pic.png.webp'};
	return \@wrong;
}

sub brought {
	my ($server) = @_;

	my @n = $server->errors =~
	    /info: (\d+) files and variants were brought/g;
	return @n;
}

# Has the conf read again, and waits until one more main is warm.
sub reload {
	my ($server, %opt) = @_;
	my $n = () = brought($server);

	%$server = (%$server, %opt);
	write_file("$server->{dir}/new", $server->conf_text);
	rename("$server->{dir}/new", "$server->{dir}/amped.conf") or die $!;
	kill('HUP', $server->{pid});
	await('a main to be warm', sub { @{[brought($server)]} > $n });
}

# Whether all are in memory: the files are taken away, and brought back.  A large
# one is looked at again before it is sent.
sub is_warm {
	my ($server, $root, $what) = @_;
	my @names = grep { $_ ne 'large' } sort keys %files;

	rename("$root/$_", "$root/$_.gone") or die "$_: $!\n" for @names;
	is_deeply(get_all($server), [], "$what: all are in memory");
	rename("$root/$_.gone", "$root/$_") or die "$_: $!\n" for @names;
}

# A reload.
my $root = docroot(%files);
my $server = start($root);
is_deeply(get_all($server), [], 'all files');
reload($server);
is_warm($server, $root, 'HUP');
reload($server);
is((brought($server))[-1], scalar(keys %files),
    'the names go from main to main, though nobody has asked again');

# Names that the conf does not serve any more; a program is not run for them.
reload($server, sites => sprintf($site, $root,
    "\tpath /f1 { run it; }\n\tpath /f2 { return 403; }\n"),
    global => "$global\nprogram it {\n\tcommand /bin/false\n}\n");
is((brought($server))[-1], scalar(keys %files) - 2,
    'names that are no files now are left out');
is_deeply(get_all($server, 'f1'), ['f1: 502'], 'it is run for a client');

# Several mains, and one after them.
my $mains = Amped::architecture() =~ /^(?:mt|pipelined)\z/ ? 1 : 2;
reload($server, sites => sprintf($site, $root, ''), global => $global);
is_deeply(get_all($server, 'f1', 'f2'), [], 'those two are files again');
reload($server, global => "workers 2\n$global");
await('all mains to be warm', sub { @{[brought($server)]} == 4 + $mains });
is_warm($server, $root, "$mains mains");
reload($server, global => "workers 1\n$global");
is_warm($server, $root, 'one main');

# An upgrade, by the same binary.
my $n = () = brought($server);
kill('USR2', $server->{pid});
await('the next main to be warm', sub { @{[brought($server)]} > $n });
is_warm($server, $root, 'USR2');
my ($monitor) = $server->wait_line(qr/process \d+ takes over/) =~
    /process (\d+) takes/;
await('the monitor before to go', sub { $server->role('monitor') == 1 });
$server->reap;
kill('TERM', $monitor);
ok($server->wait_nothing_left, 'it ends, and leaves nobody');
is_deeply([$server->complaints], [], 'no complaints');
my @started = $server->errors =~ /debug: programs-started: (\d+)/g;
is_deeply([grep { $_ > 0 } @started], [1],
    'no program was run but for that client');
$server->discard;

# A file keeps the names.
my $dir = docroot('hot/' => '');
chown(scalar(getpwnam(Amped::ordinary_user())), -1, "$dir/hot") if $> == 0;
my $list = "$dir/hot/list";
my $keeping = $global =~ s/(cache \{\n)/$1\thotlist $list every 1s\n/r;
$server = start($root, global => $keeping);
is_deeply(get_all($server), [], 'all files');
my @sorted = (sort('style.css gzip', 'pic.png webp', grep { !/\.(?:gz|webp)\z/ } keys %files));
sub kept {
	return '' unless -e $list;
	return join("\n", sort(map { s{^http://[^/]*/}{}r } grep { !/^#/ }
	    split(/\n/, slurp($list))));
}
await('the list', sub { kept() eq join("\n", @sorted) });
pass('it is written now and then');
$server->get('/other', port => $port) for 1 .. 20;
$server->stop('QUIT');
is(kept(), join("\n", @sorted), 'and at the stop');
is((grep { !/^#/ } split(/\n/, slurp($list)))[0],
    "http://127.0.0.1:$port/other", 'the name asked for most comes first');
is((stat($list))[2] & 0777, 0600, 'for nobody else');
ok(!-e "$list.new", 'no other file is left');
$server = start($root, global => $keeping);
await('it to be warm', sub { brought($server) > 0 });
is((brought($server))[-1], scalar(@sorted), 'a restart: all names');
is_warm($server, $root, 'a restart');
unlink($list);
$server->stop('TERM');
is(kept(), join("\n", @sorted), 'TERM: written, too');

# Lines that somebody else has written.
my $hot = slurp($list);
write_file($list, "/f1\n# a comment\n\0\xff\n/none\n/../f2\nhttp://other/\n" .
    "/f3 deflate\nbad\n/f4");
$server = start($root, global => $keeping);
my $are = "warn: 2 lines of the hot list $list are no name of a file: left out";
ok($server->wait_line(qr/\Q$are\E/), 'bad lines: one line says so');
await('it to be warm', sub { brought($server) > 0 });
is((brought($server))[-1], 2, 'the others are names');
$server->stop;
# A list that cannot be written, or read.
SKIP: {
	skip('only root has another user read it', 4) if $> != 0;
	chmod(0700, "$dir/hot");
	chown(0, 0, "$dir/hot");
	$server = start($root, global => $keeping);
	ok($server->wait_line(qr/warn: cannot read the hot list \Q$list\E: Perm/),
	    'a list that cannot be read');
	is($server->get('/f1', port => $port)->{status}, 200, 'it serves');
	$server->stop;
	like($server->errors, qr/warn: cannot write the hot list \Q$list\E: /,
	    'nor written');
}

done_testing();
