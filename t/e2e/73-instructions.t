#!/usr/bin/perl
# Instructions of a request for a cached file, by callgrind: all that main's
# loop does, libevent and libc included; and that programs in the conf cost none
# more.  The figure does not depend on how busy the machine is, so CI can hold
# it.
#
# It depends on compiler and library, so it is written down for some of them,
# and tells nothing elsewhere.  Where it has changed for a good reason, write
# the new one down in the same commit.
# arch: all
# plain: a sanitizer has instructions of its own
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use Amped qw(content docroot slurp);
use Amped::Foreign qw(needs_program);
use List::Util qw(sum0);
use POSIX qw(uname);
use Test::More;

# A request: by compiler, system, what it was compiled with.
my %recorded = (
	'12.2.0 x86_64 -O2 -g' => 4783,
);

my $build = $ENV{AMPED_BUILD} // Amped::source_dir();
my $binary = slurp(Amped::program());
my ($compiler) = $binary =~ /GCC: \([^)]*\) (\d+\.\d+\.\d+)/;
my ($flags) = slurp("$build/Makefile") =~ /^CFLAGS = (.*)/m;
my $built = join(' ', $compiler // 'another', (uname())[4], $flags // '');
my $right = $recorded{$built};

needs_program('valgrind');
plan(skip_all => 'a sanitizer has instructions of its own')
    if $binary =~ /__[at]san_init/;
plan(skip_all => "no figure is known for $built") unless defined($right);
plan(skip_all => 'the other architectures run the same code')
    if Amped::architecture() ne 'sped';

my $requests = 5000;
my $page = content('page', 500);

# What a file of results says of each function, by file and name: instructions
# in the function itself, and how often it was called.
sub read_results {
	my ($path) = @_;
	my (%name, %found, $file, $at, $called);

	for (split(/\n/, slurp($path))) {
		if (/^(c?)(f[lien])=\((\d+)\)(?: (.*))?/) {
			my $kind = $2 eq 'fn' ? 'fn' : 'fl';
			my $name = $name{"$kind $3"} //= $4;

			$file = $name if $2 eq 'fl';
			$called = $name if $1 && $2 eq 'fn';
			next if $1 || $2 ne 'fn';
			$at = $found{$name} //= {};
			$at->{file} = $file;
		} elsif (/^calls=(\d+)/) {
			$found{$called}{calls} += $1;
		} elsif (/^[+*\-\d]\S* (\d+)$/ && $at) {
			# Behind a call it is what happens there.
			$at->{self} += $1 unless defined($called);
			undef($called);
		}
	}
	return \%found;
}

# The same of main for such requests, with these lines of conf.
sub count {
	my ($what, %conf) = @_;
	my $dir = docroot();
	my $good = 0;

	chmod(0777, $dir);
	my $server = Amped->start(files => { page => $page },
	    # It writes its results by itself, in the name of main.
	    global => "sandbox off\ncache { paths 1000 revalidate 1h " .
	    "stale 2h negative 1s }\n" . ($conf{global} // ''),
	    site => $conf{site}, under => ['valgrind', '--tool=callgrind',
	    '--toggle-collect=evloop_run',
	    "--callgrind-out-file=$dir/out.%p"]);
	my $client = $server->connect;
	for (1 .. $requests) {
		$client->send("GET /page HTTP/1.1\r\nHost: localhost\r\n" .
		    "User-Agent: test\r\nAccept: */*\r\n\r\n");
		$good += $client->response->{body} eq $page;
	}
	is($good, $requests, "$what: answers");
	$server->stop;
	# One for each process: main's loop, and that of the program manager,
	# which has nothing to do.
	my ($found) = sort { all_of($b) <=> all_of($a) }
	    map { read_results($_) } glob("$dir/out.*");
	return $found;
}

sub all_of { return sum0(map { $_->{self} // 0 } values(%{$_[0]})) }

my $files = count('files');
my $each = int(all_of($files) / $requests);

cmp_ok($each, '<=', $right * 1.05, "$each instructions, not more than $right");
cmp_ok($each, '>=', $right * 0.95, 'nor less, or there is a new figure');

# Programs in the conf cost none.  What the loop does depends on the time that
# passes, and so does what is called less often than requests come.
sub of_request {
	my ($found) = @_;

	return map { $_ => int($found->{$_}{self} / $requests + 0.5) }
	    grep { ($found->{$_}{calls} // 0) >= $requests &&
	    ($found->{$_}{file} // '') =~ m{src/(?:cache|http|proto)/} }
	    keys %$found;
}

my $dir = docroot('cgi/' => '');
my @conf = (global => "program app {\n\tfastcgi $^X\n}\n" .
    "program server {\n\tfastcgi unix:$dir/app\n}\n",
    site => "run app for *.app\npath /app { run server }\n" .
    "path /cgi { cgi $dir/cgi }\n");
my (%alone, %beside, @more);

# A machine that is so busy that seconds count has another chance: what programs
# cost is there each time.
for my $attempt (1 .. 3) {
	$files = count('files, once more') if $attempt > 1;
	%alone = of_request($files);
	%beside = of_request(count('beside programs', @conf));
	@more = grep { ($alone{$_} // 'none') ne ($beside{$_} // 'none') }
	    sort keys(%{{ %alone, %beside }});
	last unless @more;
}
cmp_ok(sum0(values(%alone)), '>', $right / 2, 'most of them are known');
is(join(', ', map { "$_ " . ($alone{$_} // 'none') . ' and ' .
    ($beside{$_} // 'none') } @more), '',
    '... and none is more beside programs');

done_testing();
