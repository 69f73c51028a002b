#!/usr/bin/perl
# What the programs are made of that makes a fault of ours harder to use, and
# that no process has memory that can be both written to and executed.
# arch: pair
# plain: a sanitizer changes what programs are made of
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use Amped qw(await docroot slurp);
use Amped::Foreign qw(which_program);
use Test::More;

my $build = $ENV{AMPED_BUILD} // Amped::source_dir();
my $sanitized = slurp(Amped::program()) =~ /__[at]san_init/;
my $made = slurp("$build/Makefile");

# What a program says of itself, in all of readelf's words.
sub said_of {
	my ($program, @options) = @_;

	open(my $out, '-|', 'readelf', '-W', @options, $program)
	    or die "readelf: $!\n";
	local $/;
	my $said = <$out>;
	close($out) or die "readelf: status $?\n";
	return $said;
}

sub check_program {
	my ($program) = @_;
	my $name = $program =~ s{.*/}{}r;
	my $head = said_of($program, '-h');
	my $segments = said_of($program, '-l');
	my $dynamic = said_of($program, '-d');
	my $symbols = said_of($program, '-s');

	like($head, qr/Type:\s+DYN/, "$name: at any address (PIE)");
	like($segments, qr/^\s+GNU_RELRO\s/m, "$name: tables read-only");
	like($dynamic, qr/BIND_NOW|FLAGS_1.*\bNOW\b/, "$name: ... all of them");
	like($segments, qr/^\s+GNU_STACK\s.*\sRW\s/m,
	    "$name: no executable stack");
	unlike($segments, qr/^\s+LOAD\s.*\sRWE\s/m,
	    "$name: nothing both written and executed");
	like($symbols, qr/\b__stack_chk_fail\b/, "$name: guarded stacks");
	SKIP: {
		skip('a sanitizer looks at strings itself', 1) if $sanitized;
		skip('the compiler optimizes nothing', 1)
		    unless $made =~ /_FORTIFY_SOURCE/;
		like($symbols, qr/\b__\w+_chk\b/,
		    "$name: checked string functions");
	}
	SKIP: {
		skip('no shadow stacks here', 1) unless $made =~ /-z,shstk/;
		like(said_of($program, '-n'), qr/\bSHSTK\b/,
		    "$name: shadow stack (CET)");
	}
}

SKIP: {
	skip('there is no readelf', 1) unless which_program('readelf');
	check_program("$build/$_") for qw(amped amped-helper ampedctl);
}

my $server = Amped->start(files => { page => "page\n" });
is($server->get('/page')->{body}, "page\n", 'it serves');
await('the helpers', sub { $server->role('helper') >= 2 })
    if Amped::architecture() eq 'amped';
for my $process ($server->processes) {
	my @maps = split(/\n/, eval { slurp("/proc/$process->{pid}/maps") } //
	    '');

	SKIP: {
		skip("only root may look into $process->{title}", 2)
		    if !@maps && $> != 0;
		cmp_ok(scalar(@maps), '>', 10, "$process->{title}: its memory");
		is(scalar(grep { /^\S+ .wx/ } @maps), 0,
		    "$process->{title}: none is written to and executed");
	}
}
$server->stop;

done_testing();
