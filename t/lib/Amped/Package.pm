# Amped::Package: the Debian package of what is being tested, built once.
#
# The package is kept in the build directory with the sum of its tarball;
# tarballs of the same sources are identical.  Tests that run at once wait for
# each other.
package Amped::Package;

use strict;
use warnings;

use Cwd qw(abs_path);
use Exporter qw(import);
use Fcntl qw(:flock);
use Test::More ();

use Amped qw(slurp write_file);
use Amped::Foreign qw(which_program);

our @EXPORT_OK = qw(build_dir command_ok deb_file locked make_deb plain_build
    quietly tarball);

my @tools = qw(dpkg-buildpackage dh);

sub build_dir { return abs_path($ENV{AMPED_BUILD} // Amped::source_dir()) }

# Packages are made of the plain build only.
sub plain_build {
	my $config = build_dir() . '/config.status';

	Test::More::plan(skip_all => 'there is no makefile here')
	    unless -e $config;
	Test::More::plan(skip_all => 'packages are tested in a plain build')
	    if slurp($config) =~ /--enable-(?:sanitizers|fuzzers)/;
}

# Calls a function while no other test uses the build directory.
sub locked {
	my ($code) = @_;

	open(my $lock, '>', build_dir() . '/deb.lock') or die "deb.lock: $!\n";
	flock($lock, LOCK_EX);
	return $code->();
}

# Runs a command without a timeout; status, and all output.
sub quietly {
	my ($line, @arguments) = @_;
	my $log = Amped::docroot() . '/log';
	my $status = system('/bin/sh', '-c', "{ $line\n} > '$log' 2>&1 " .
	    '< /dev/null', 'sh', @arguments);

	return ($status, slurp($log));
}

sub command_ok {
	my ($what, $line, @arguments) = @_;
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	my ($status, $said) = quietly($line, @arguments);

	Test::More::is($status, 0, $what) or Test::More::diag($said);
	return $said;
}

sub must {
	my ($what, $line, @arguments) = @_;
	my ($status, $said) = quietly($line, @arguments);

	die "$what: status $status\n$said" if $status != 0;
	return $said;
}

# Makes the tarball of the sources, under the lock; returns its sum.
sub tarball {
	my $build = build_dir();

	must('make dist-gzip', 'unset MAKEFLAGS; make -C "$1" dist-gzip',
	    $build);
	my ($file) = glob("$build/amped-[0-9]*.tar.gz");
	my ($sum) = must('sha256sum', 'sha256sum < "$1"', $file) =~ /^(\w+)/;
	return ($file, $sum);
}

# The directory of the packages; skips the test without the tools to make them.
sub make_deb {
	my $dir = build_dir() . '/deb';
	my ($lacking) = grep { !which_program($_) } @tools;

	Test::More::plan(skip_all => "there is no $lacking") if $lacking;
	my ($status, $said) = quietly('dpkg-checkbuilddeps "$1"',
	    Amped::source_dir() . '/contrib/debian/control');
	Test::More::plan(skip_all => $said =~ s/.*error: |\n//gr)
	    if $status != 0;
	locked(sub { build_deb($dir) });
	return $dir;
}

sub build_deb {
	my ($dir) = @_;
	my ($file, $sum) = tarball();

	return if -e "$dir/of" && slurp("$dir/of") eq $sum;
	must('contrib/deb', 'DEB_BUILD_OPTIONS="nocheck parallel=2" ' .
	    'sh "$1" "$2" "$3"', Amped::source_dir() . '/contrib/deb', $file,
	    $dir);
	write_file("$dir/of", $sum);
}

# The one file of the package that matches a pattern.
sub deb_file {
	my ($dir, $pattern) = @_;
	my @found = glob("$dir/$pattern");

	die "$pattern in $dir: @found\n" if @found != 1;
	return $found[0];
}

1;
