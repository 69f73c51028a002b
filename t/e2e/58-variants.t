#!/usr/bin/perl
# Variants that are kept, wherever: also on file systems whose files main cannot
# read without waiting (no RWF_NOWAIT), where it has copies of them.
# arch: pair
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use Amped qw(await content docroot slurp write_file);
use Amped::Slowfs;
use File::Temp qw(tempdir);
use Test::More;

Amped::one_main();

my @mounted;
my $mounts = $> == 0 && system('unshare -m true 2>/dev/null') == 0;
Amped::Slowfs::alone() if $mounts;

# The name of a kind of file system, and what makes an empty directory on one;
# that says why there is none, if so.
my %kinds = (
	"that of /tmp" => sub { return docroot() },
	tmpfs => sub {
		return on('tmpfs') if $mounts;
		die "no mounts, and /dev/shm is no tmpfs\n" if
		    `stat -f -c %T /dev/shm 2>/dev/null` ne "tmpfs\n";
		my $dir = tempdir('amped-XXXXXXXX', DIR => '/dev/shm',
		    CLEANUP => 1);
		chmod(0755, $dir);
		return $dir;
	},
	overlay => sub {
		die "no mounts\n" unless $mounts;
		my $parts = docroot(map { ("$_/" => '') } qw(lower up work));
		return on('overlay', "lowerdir=$parts/lower," .
		    "upperdir=$parts/up,workdir=$parts/work");
	},
);

# Goes with the test, whose mounts are its own.
sub on {
	my ($type, @options) = @_;
	my $dir = docroot();
	my @words = ('mount', '-t', $type, (map { ('-o', $_) } @options),
	    'amped-test', $dir);

	system(join(' ', @words) . ' 2>/dev/null') == 0 or
	    die "no $type to be mounted\n";
	push(@mounted, $dir);
	chmod(0755, $dir);
	return $dir;
}

END { system('umount', '-l', $_) for @mounted }

# One that is copied whole, and one of several pieces even when it is packed.
my %text = (small => join('', map { "line $_ of a text\n" } 1 .. 1000),
    large => join('', map { sprintf("%x\n", rand(2 ** 32)) } 1 .. 60_000));
my $as_user = $> == 0 ? scalar(getpwnam(Amped::ordinary_user())) : $>;
my ($server, $root, $keep);

sub start {
	$server = Amped->start(root => $root, site => "\tcompress gzip\n",
	    global => "cache {\n\tpaths 1000 revalidate 50ms\n" .
	    "\tvariants $keep\n}\n");
}

sub get {
	my ($name, $accept, %opt) = @_;

	push(@{$opt{fields}}, "Accept-Encoding: $accept");
	my $answer = $server->get("/$name.txt", %opt);
	$answer->{coding} = $answer->{field}{'content-encoding'} // 'identity';
	return $answer;
}

sub gunzip {
	my ($bytes) = @_;
	my $dir = docroot(x => $bytes);

	return scalar(`gzip -dc < '$dir/x' 2>&1`);
}

# What a client sees of the file, in whatever coding; undef: it does not.
sub seen {
	my ($answer) = @_;

	return undef if $answer->{status} != 200;
	return $answer->{coding} eq 'gzip' ? gunzip($answer->{body}) :
	    $answer->{body};
}

sub kept { return grep { !m{/\.} } glob("$keep/*") }

# As they are first made, and as they are found after a restart.
sub check_all {
	my ($when) = @_;
	my %tags;

	for my $name (qw(small large small large)) {
		my $answer = get($name, 'gzip');
		my $head = get($name, 'gzip', method => 'HEAD');
		my $part = get($name, 'gzip', fields => ['Range: bytes=9-']);

		is($answer->{status}, 200, "$name, $when: status");
		is($answer->{coding}, 'gzip', 'compressed');
		ok(seen($answer) eq $text{$name}, 'as it was');
		is($head->{field}{etag}, $answer->{field}{etag}, 'HEAD');
		is($part->{status}, 206, 'a range');
		ok($part->{body} eq substr($answer->{body}, 9), 'of it');
		ok(get($name, 'identity')->{body} eq $text{$name}, 'the file');
		$tags{$name} = $answer->{field}{etag};
	}
	return \%tags;
}

# Whatever happens to what is kept, clients get the file, in some coding, and
# soon what is made anew.
sub check_harm {
	my ($how, $harm) = @_;

	$harm->($_) for kept();
	for my $name (qw(small large)) {
		my $answer = get($name, 'gzip');

		is($answer->{status}, 200, "$name, $how: status");
		ok(seen($answer) eq $text{$name}, 'as it was');
		ok(eval { await('another one', sub {
			my $again = get($name, 'gzip');
			return $again->{coding} eq 'gzip' &&
			    seen($again) eq $text{$name};
		}) }, 'and compressed');
	}
}

sub replace {
	my ($name, $bytes) = @_;

	unlink($name);
	write_file($name, $bytes);
	chown($as_user, -1, $name);
}

sub settled {
	await("settled ones", sub {
		get($_, 'gzip')->{field}{etag} =~ /^"/ or return 0
		    for qw(small large);
		return 1;
	});
}

sub check_kind {
	my ($kind) = @_;

	mkdir("$keep/variants");
	$keep .= '/variants';
	chown($as_user, -1, $keep);
	write_file("$root/$_.txt", $text{$_}) for keys(%text);
	start();
	settled();
	my $first = check_all('made');
	is(scalar(kept()), 2, 'both are kept');
	my %inode = map { $_ => (stat($_))[1] } kept();
	$server->stop;

	start();
	is_deeply(check_all('found'), $first, 'by the same tags');
	is_deeply({ map { $_ => (stat($_))[1] } kept() }, \%inode,
	    'taken from there');
	$server->stop;

	# What has been shortened before anybody asks; replaced; gone.
	for my $how ('cut', 'another', 'garbage', 'none') {
		start();
		check_harm($how, {
			cut => sub { truncate($_[0], 100) },
			another => sub { replace($_[0], 'no gzip') },
			garbage => sub { replace($_[0], content('x', 5000)) },
			none => sub { unlink($_[0]) } }->{$how});
		$server->stop;
	}

	# While it is served.
	start();
	settled();
	check_all('once more');
	check_harm('replaced, served', sub { replace($_[0], 'no gzip') });
	check_harm('gone, served', sub { unlink($_[0]) });
	my $tag = get('large', 'gzip')->{field}{etag};
	for my $name (qw(small large)) {
		local $text{$name} = "new $text{$name}";
		write_file("$root/$name.txt", $text{$name});
		ok(eval { await('the new version', sub {
			my $new = get($name, 'gzip');
			return $new->{coding} eq 'gzip' &&
			    seen($new) eq $text{$name};
		}) }, "another version of $name");
	}
	isnt(get('large', 'gzip')->{field}{etag}, $tag, 'has another tag');
	$server->stop;
}

# A directory that cannot be written to costs what is kept, and the log says so.
sub check_unkept {
	$root = docroot(map { ("$_.txt" => $text{$_}) } keys(%text));
	$keep = docroot('variants/' => '') . '/variants';
	chown($as_user, -1, $keep);
	start();
	chmod(0500, $keep);
	settled();
	ok(seen(get($_, 'gzip')) eq $text{$_}, "$_: served") for keys(%text);
	$server->wait_line(qr/warn: cache \{ variants \Q$keep\E \}: cannot keep a /);
	is(scalar(() = $server->errors =~ /cannot keep/g), 1, 'said once');
	is(scalar(kept()), 0, 'nothing is kept');
	$server->stop;
}

subtest('unkept' => \&check_unkept);
for my $kind (sort keys(%kinds)) {
	SKIP: {
		$root = eval { $kinds{$kind}->() };
		skip("$kind: " . ($@ =~ s/\n//r), 1) unless defined($root);
		$keep = $kinds{$kind}->();
		subtest($kind => sub { check_kind($kind) });
	}
}

done_testing();
