# Amped::Coding: decodes bodies of responses, not by amped's own code.
package Amped::Coding;

use strict;
use warnings;

use Exporter qw(import);
use IO::Uncompress::Gunzip qw(gunzip $GunzipError);

use Amped;

our @EXPORT_OK = qw(decoded has_codings);

# Whether amped was built with br and zstd.
sub has_codings {
	my $program = Amped::program();

	return `'$program' -V` !~ /without (?:brotli|zstd)/;
}

# The body of a response without its coding; dies of a body that is not of it.
sub decoded {
	my ($answer) = @_;
	my $coding = $answer->{field}{'content-encoding'};
	my $dir = Amped::docroot();
	my $bytes;

	return $answer->{body} unless defined($coding);
	if ($coding eq 'gzip') {
		gunzip(\$answer->{body} => \$bytes, MultiStream => 0,
		    TrailingData => my $rest) or die "$GunzipError\n";
		die "bytes behind a body of gzip\n" if length($rest // '') > 0;
		return $bytes;
	}
	my $decode = ($ENV{AMPED_BUILD} // Amped::source_dir()) . '/t/decode';
	Amped::write_file("$dir/body", $answer->{body});
	$bytes = `'$decode' $coding < '$dir/body'`;
	die "a body that is not of $coding\n" if $? != 0;
	return $bytes;
}

1;
