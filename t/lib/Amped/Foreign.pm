# Amped::Foreign: clients that other people wrote.
#
# They see neither the settings of who runs the tests nor a network: all that
# they may ask is the server under test.
package Amped::Foreign;

use strict;
use warnings;

use Digest::SHA qw(sha256_hex);
use Exporter qw(import);
use File::Find qw(find);
use Test::More ();

use Amped;

our @EXPORT_OK = qw(browse checksums foreign foreign_ok needs_program
    which_program);

my @browsers = qw(chromium chromium-browser google-chrome);

delete @ENV{grep { /_proxy\z/i } keys(%ENV)};
$ENV{LC_ALL} = 'C';
$ENV{HOME} = Amped::docroot();

# The first of these programs that there is.
sub which_program {
	for my $name (@_) {
		for my $dir (split(/:/, $ENV{PATH})) {
			return $name if -f "$dir/$name" && -x _;
		}
	}
	return;
}

# The test is skipped without all of these.
sub needs_program {
	for my $name (@_) {
		Test::More::plan(skip_all => "there is no $name")
		    unless which_program($name);
	}
}

# Runs a client to its end, within limits; status, output, errors.
sub foreign { return Amped::run_command(undef, @_) }

# The same as a test that it succeeds; its output and errors.
sub foreign_ok {
	my ($what, @command) = @_;
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	my ($status, $out, $err) = foreign(@command);

	Test::More::is($status, 0, $what) or
	    Test::More::diag("@command\n$out$err");
	return ($out, $err);
}

# What a browser has made of a page, as text; none without a browser.
sub browse {
	my ($url) = @_;
	my $browser = which_program(@browsers) // return;
	my ($page) = foreign_ok($browser, $browser, qw(--headless --no-sandbox
	    --disable-gpu --disable-dev-shm-usage --no-first-run --dump-dom),
	    '--user-data-dir=' . Amped::docroot(), $url);

	return $page;
}

# By name, of all files beneath a directory.
sub checksums {
	my ($dir) = @_;
	my %of;

	find({ no_chdir => 1, wanted => sub {
		$of{substr($_, length($dir) + 1)} =
		    sha256_hex(Amped::slurp($_)) if -f;
	} }, $dir);
	return \%of;
}

1;
