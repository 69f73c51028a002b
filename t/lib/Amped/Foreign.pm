# Amped::Foreign: runs HTTP clients of other projects.
#
# The clients see neither the user's settings nor a network: they can reach only
# the server under test.
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

# The first of these programs that is installed.
sub which_program {
	for my $name (@_) {
		for my $dir (split(/:/, $ENV{PATH})) {
			return $name if -f "$dir/$name" && -x _;
		}
	}
	return;
}

# Skips the test unless all of these programs are installed.
sub needs_program {
	for my $name (@_) {
		Test::More::plan(skip_all => "there is no $name")
		    unless which_program($name);
	}
}

# Runs a client to its end, within limits; status, output, errors.
sub foreign { return Amped::run_command(undef, @_) }

# Runs a client, as a test that it succeeds; output and errors.
sub foreign_ok {
	my ($what, @command) = @_;
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	my ($status, $out, $err) = foreign(@command);

	Test::More::is($status, 0, $what) or
	    Test::More::diag("@command\n$out$err");
	return ($out, $err);
}

# A page as a browser renders it, as text; undef without a browser.
sub browse {
	my ($url) = @_;
	my $browser = which_program(@browsers) // return;
	my ($page) = foreign_ok($browser, $browser, qw(--headless --no-sandbox
	    --disable-gpu --disable-dev-shm-usage --no-first-run --dump-dom),
	    '--user-data-dir=' . Amped::docroot(), $url);

	return $page;
}

# The SHA-256 of all files beneath a directory, by name.
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
