#!/usr/bin/env perl
#
# systemd: the unit and what goes with it are right, and confined as far as
# promised: at most 1.7 as it is, 2.1 with programs, and 2.7 started as root.
#
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use Amped qw(docroot slurp write_file);
use Amped::Foreign qw(needs_program);
use Test::More;

my $src = Amped::source_dir();
my $build = $ENV{AMPED_BUILD} // $src;

plan(skip_all => 'not made here')
    unless -e "$build/contrib/systemd/amped.service";
needs_program('systemd-analyze');

# The program need not be installed for this.
my $unit = slurp("$build/contrib/systemd/amped.service");
like($unit, qr{^ExecStart=/\S+/sbin/amped -D$}m, 'it starts what is installed');
my $program = Amped::program();
$unit =~ s{=/\S+/sbin/amped}{=$program}g;

sub analyze {
	my (@arguments) = @_;
	my ($status, $out, $err) = Amped::run_command(undef, 'systemd-analyze',
	    @arguments);

	return ($status, $out . $err);
}

# A unit alone, or with drop-ins, in a root of its own.
sub exposure {
	my ($what, $text, @dropins) = @_;
	my $root = docroot('etc/systemd/system/amped.service' => $text,
	    map { ("etc/systemd/system/amped.service.d/$_" =>
	    slurp("$src/contrib/systemd/$_")) } @dropins);
	my ($status, $said) = analyze('security', '--offline=true',
	    "--root=$root", 'amped.service');
	my ($points) = $said =~ /Overall exposure level for \S+: (\d+\.\d+)/;

	ok(defined($points), "$what: systemd counts") or diag($said);
	return $points // 10;
}

SKIP: {
	my (undef, $help) = analyze('--help');
	skip('this systemd looks only at units that run', 1)
	    unless $help =~ /--offline/;
	cmp_ok(exposure('without root', $unit), '<=', 1.7, '... at most 1.7');
	cmp_ok(exposure('started as root', $unit, 'root.conf'), '<=', 2.7,
	    '... at most 2.7');
	cmp_ok(exposure('with other paths', $unit, 'paths.conf'), '<=', 1.7,
	    '... at most 1.7');
	cmp_ok(exposure('with programs', $unit, 'programs.conf'), '<=', 2.1,
	    '... at most 2.1');
	cmp_ok(exposure('unconfined',
	    $unit =~ s/^(?:Protect|Restrict|SystemCall)\w+=.*\n//mgr), '>',
	    2.7, '... and it would be told');
}

my $dir = docroot('amped.service' => $unit,
    'amped.socket' => slurp("$src/contrib/systemd/amped.socket"));
for my $name (qw(amped.service amped.socket)) {
	my ($status, $said) = analyze('verify', '--man=no', "$dir/$name");
	is($status, 0, "$name is right") or diag($said);
	is(join("\n", grep { /\Q$dir\E/ } split(/\n/, $said)), '',
	    '... in every line');
}
write_file("$dir/amped.service", $unit =~ s/^Restart=/Restat=/mr);
my (undef, $said) = analyze('verify', '--man=no', "$dir/amped.service");
like($said, qr/Restat/, 'a mistake would be told');

done_testing();
