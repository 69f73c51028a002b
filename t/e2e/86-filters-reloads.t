#!/usr/bin/perl
# Filters change while the server runs: by the conf, and by their own files; no
# request fails, and no answer is a mixture.  AMPED_TEST_RELOADS: how many.
# arch: pair
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use Amped qw(await docroot slurp write_file);
use Amped::Applications;
use Amped::Client;
use Amped::Programs;
use POSIX ();
use Test::More;

Amped::one_main();

my $reloads = $ENV{AMPED_TEST_RELOADS} // 20;
my $dir = docroot('root/page.html' => "word\n" x 5000, 'tool/x' => '');
my $tool = "$dir/tool/filter";

# A filter that writes what the file says, a hundred times, slowly enough to be
# replaced in the middle.
sub write_tool {
	my ($word) = @_;

	write_file("$tool.new", "#!/bin/sh\nsed 's/\$/ $word/'\n");
	chmod(0755, "$tool.new");
	rename("$tool.new", $tool) or die "rename: $!\n";
}

# A program that stays, which does the same.
my $programs = Amped::Programs->new('bin/' => '');
my $app = $programs->dir . '/bin/app';

sub write_app {
	my ($word) = @_;
	my $new = Amped::Applications::make($programs, 'new', 'fastcgi',
	    "my \$data = take_data(); head(); put(\$data =~ s/(?=\\n)/ $word/gr);");

	rename($new, $app) or die "rename: $!\n";
}

write_tool('tool0');
write_app('app0');

sub blocks {
	my ($n) = @_;

	return "cache { paths 1000 revalidate 20ms negative 20ms }\n" .
	    "program one { filter replace word conf$n }\n" .
	    "program two { filter $tool; confine basic }\n" .
	    "program app { fastcgi $app; most 2; nice 0 }\n" .
	    "program three { filter fastcgi app }\n" .
	    'chain all { filters ' . ($n % 3 ? 'one two' : 'two one') .
	    " three }\n";
}

my $server = Amped->start(root => "$dir/root", errors => 1,
    global => blocks(0), site => "\tchain all for *.html\n");

# Asks until it is told to end; exits by how many answers were wrong.  All
# lines of an answer are the same, and a tag has one body.
sub ask {
	my ($pipe) = @_;
	my ($wrong, $n, $what, %body) = (0, 0, '');

	until (-e "$dir/over") {
		my $answer = eval { $server->get('/page.html') } // {};
		my ($first) = ($answer->{body} // '') =~ /\A(.*\n)/;
		my $tag = $answer->{field}{etag} // '';

		$n++;
		next unless ($answer->{status} // 0) != 200 ||
		    !defined($first) || $answer->{body} ne $first x 5000 ||
		    $first !~ /\Aconf\d+ tool\d+ app\d+\n\z/ ||
		    ($body{$tag} //= $first) ne $first;
		$wrong++;
		$what = join(' ', $answer->{status} // 'none', $tag,
		    length($answer->{body} // ''), $first // '',
		    $body{$tag} // '') =~ s/\n/ /gr;
	}
	syswrite($pipe, "$n $wrong $what\n");
}

my @from;
for (1 .. 2) {
	pipe(my $read, my $write) or die "pipe: $!\n";
	my $pid = fork() // die "fork: $!\n";
	if ($pid == 0) {
		ask($write);
		POSIX::_exit(0);
	}
	push(@from, [$pid, $read]);
}

sub in_force { return scalar(() = slurp($server->{err}) =~ /is in force$/mg) }

for my $n (1 .. $reloads) {
	my $before = in_force();
	my $file = "$server->{dir}/amped.conf";

	%$server = (%$server, global => blocks($n));
	write_file("$file.new", $server->conf_text);
	rename("$file.new", $file) or die "$file: $!\n";
	write_tool("tool$n") if $n % 2;
	write_app("app$n") if $n % 3 == 1;
	kill('HUP', $server->{pid});
	await("reload $n", sub { in_force() > $before });
}
write_file("$dir/over", '');
for (@from) {
	my ($pid, $read) = @$_;
	my ($n, $wrong, $what) = split(' ', readline($read) // '0 1', 3);

	waitpid($pid, 0);
	cmp_ok($n, '>', 0, "$n answers");
	is($wrong, 0, 'none was wrong') or diag($what,
	    grep { / for \/page/ } split(/^/, slurp($server->{err})));
}
my $last = $reloads % 2 ? $reloads : $reloads - 1;
my $last_app = $reloads - ($reloads - 1) % 3;
await('the last filters', sub { $server->get('/page.html')->{body} =~
    /\Aconf$reloads tool$last app$last_app\n/ });
pass('the last filters are in force');
$server->finish;
done_testing();
