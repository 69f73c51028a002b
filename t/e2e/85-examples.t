#!/usr/bin/perl
# The examples: each conf is one, and does what its README says.
# arch: pair
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use Amped qw(await docroot run_amped slurp write_file);
use Amped::Foreign qw(foreign_ok which_program);
use IO::Socket::INET;
use POSIX ();
use Test::More;

Amped::needs_many_clients(4);

my $from = Amped::source_dir() . '/examples';
my @names = map { m{([^/]+)/amped\.conf\z} ? $1 : () }
    sort(glob("$from/*/amped.conf"));

# What an example is asked: target, fields, what the answer has.
my %asked = (
	cgi => [['/', qr/hello\.sh/],
	    ['/cgi-bin/hello.sh/a/b?c=d', qr{^path    /a/b\nquery   c=d$}m],
	    ['/cgi-bin/hello.pl', qr/^Hello from Perl\.$/m]],
	php => [['/', qr/^Hello from PHP\.\nprocess \d+\nmethod  GET$/m],
	    ['/no/file?a=b', qr/^given   a = b$/m],
	    ['/index.php', qr/^target  \/index\.php$/m]],
	'php-fpm' => [['/', qr/^Hello from PHP-FPM\.\nby      fpm-fcgi$/m],
	    ['/no/file?a=b', qr/^target  \/no\/file\?a=b$/m]],
	git => [['/', qr/git clone/],
	    ['/cgi-bin/git/project.git/HEAD', qr/^ref: refs\/heads\/main$/]],
	filters => [['/', qr{<a href='/'>Home</a>.*<h1>Hello.*version 1\.0 of}s],
	    ['/second.md', qr{<li>one</li>}]],
);

my ($fpm) = which_program('php-fpm', map { "php-fpm$_" } qw(8.2 8.4));

# What an example lacks here; '' if that is nothing.
sub missing {
	my ($name, $errors) = @_;
	my %needs = (cgi => ['perl'], php => ['/usr/bin/php-cgi'],
	    git => ['git'], filters => ['/usr/bin/awk']);

	return 'there is no php-fpm' if $name eq 'php-fpm' && !$fpm;
	for my $program (@{$needs{$name} // []}) {
		return "there is no $program" unless $program =~ m{/} ?
		    -x $program : which_program($program);
	}
	return $errors =~ /libcmark/ ? 'there is no libcmark' : '';
}

# A copy, which the server's user may read, with a port of its own.
sub copy {
	my ($name) = @_;
	my $dir = docroot();

	system('cp', '-R', "$from/$name/.", $dir) == 0 or die "cp\n";
	system('chmod', '-R', 'a+rX', $dir) == 0 or die "chmod\n";
	chmod(0755, $dir);
	write_file("$dir/amped.conf", slurp("$dir/amped.conf") =~
	    s/127\.0\.0\.1:8080/127.0.0.1:0/r);
	return $dir;
}

# Starts PHP-FPM with the example's conf at a port of its own; returns its
# process when it listens.
sub start_fpm {
	my ($dir) = @_;
	my $port = Amped::free_port();

	for my $file ("$dir/amped.conf", "$dir/fpm.conf") {
		write_file($file, slurp($file) =~ s/:9081\b/:$port/r);
	}
	my $pid = fork() // die "fork: $!\n";
	if (!$pid) {
		open(STDERR, '>', "$dir/fpm.log");
		exec($fpm, '-F', $> == 0 ? '-R' : (), '-y', "$dir/fpm.conf") or
		    POSIX::_exit(1);
	}
	await('PHP-FPM', sub { IO::Socket::INET->new(
	    PeerAddr => "127.0.0.1:$port") });
	return $pid;
}

# The commands of a README that ask the server.
sub commands {
	my ($name, $port) = @_;

	return map { s/127\.0\.0\.1:8080/127.0.0.1:$port/r }
	    slurp("$from/$name/README") =~ /^\t((?:curl|git clone) .*)/mg;
}

sub try_example {
	my ($name) = @_;
	my $dir = copy($name);

	if ($name eq 'git') {
		foreign_ok('a repository is made', 'sh',
		    "$dir/make-repository", "$dir/repositories");
		system('chmod', '-R', 'a+rX', "$dir/repositories");
	}
	my $pid = $name eq 'php-fpm' ? start_fpm($dir) : undef;
	my $server = Amped->start(sites => "include $dir/amped.conf\n");
	for my $case (@{$asked{$name}}) {
		my ($target, $content) = @$case;
		my $client = $server->connect(relayed => 1);

		$client->send("GET $target HTTP/1.1\r\nHost: localhost\r\n\r\n");
		my $answer = $client->response;
		is($answer->{status}, 200, "$name: $target");
		like($answer->{body}, $content, '... is what it is to be');
	}
	my $work = docroot();
	for my $command (commands($name, $server->port)) {
		SKIP: {
			my ($program) = $command =~ /(\S+)/;

			skip("there is no $program", 1)
			    unless which_program($program);
			foreign_ok($command, 'sh', '-c', 'cd "$0" && ' .
			    $command =~ s/\Acurl/curl -sSf/r, $work);
		}
	}
	$server->stop;
	kill('TERM', $pid) && waitpid($pid, 0) if $pid;
}

ok(@names > 3, 'there are examples');
my $list = slurp("$from/README");
for my $name (@names) {
	like($list, qr/^\t\Q$name\E\/\t/m, "$name is in the list");
	like(slurp("$from/$name/README"), qr{\Aexamples/\Q$name\E: .*
	    ^\t\./bootstrap\ run\ examples/\Q$name\E/amped\.conf$}msx,
	    '... and has a README that says how to run it');
	ok($asked{$name}, '... and is tried') or next;
	my ($status, undef, $err) = run_amped('-t', '-f',
	    "$from/$name/amped.conf");
	my $lack = missing($name, $err);
	SKIP: {
		skip("$name: $lack", 1) if $lack;
		is($status, 0, '... and its conf is right') or diag($err);
		try_example($name);
	}
}

done_testing();
