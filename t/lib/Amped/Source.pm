# Amped::Source: the sources and documents as the tests of their rules read
# them.
package Amped::Source;

use strict;
use warnings;

use Exporter qw(import);
use File::Find qw(find);
use Test::More ();

our @EXPORT_OK = qw(comments documents find_files find_sources fine functions
    read_code slurp);

# A string or character (1), or a comment.
my $token = qr{("(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)+')|/\*.*?\*/|//[^\n]*}s;

sub find_files {
	my ($name, @directories) = @_;
	my @found;

	find({ no_chdir => 1, wanted => sub { push(@found, $_) if /$name/ } },
	    @directories);
	return sort @found;
}

# The sources, without those of the tests.
sub find_sources {
	return find_files(qr/\.(?:c|h|tbl)\z/, 'src', 'helpers');
}

# The documents: what a reader finds beside the code, and the manual.
sub documents {
	return (qw(ARCHITECTURE HACKING README.md contrib/bench/README),
	    find_files(qr{/README\z}, 'src', 'helpers', 't'),
	    glob('man/*.[1-9]'));
}

sub slurp {
	my ($file) = @_;

	open(my $fh, '<', $file) or die "$file: $!\n";
	local $/;
	return scalar(<$fh>) // '';
}

# includes: what a file includes; text: as it is; bare: its lines without
# comments and the insides of strings.
sub read_code {
	my ($file) = @_;
	my $text = slurp($file);
	my $bare = $text =~
	    s{$token}{defined($1) ? '""' : ($& =~ s/[^\n]//gr)}ger;
	my @includes = $text =~ /^#\s*include\s+(["<][^">]+)/mg;

	return { text => $text, bare => $bare, includes => \@includes };
}

# The comments of a file: first line, and words in one line each.
sub comments {
	my ($text) = @_;
	my ($line, $at, @found) = (1, 0);

	while ($text =~ /$token/g) {
		next if defined($1);
		my $words = $&;
		$line += substr($text, $at, $-[0] - $at) =~ tr/\n//;
		$at = $-[0];
		$words =~ s{\A/[/*]+|\*/\z}{}g;
		$words =~ s/\s*\n[\s*]*/ /g;
		$words =~ s/\s+\\(?= )//g;	# of a macro's lines
		$words =~ s/\A\s+|\s+\z//g;
		push(@found, [$line, $words]);
	}
	return @found;
}

# The functions of bare code: name, whether it is public, first line, length,
# deepest nesting.  In KNF the name and the closing brace stand in the first
# column, and the type on the line before.
sub functions {
	my ($bare) = @_;
	my @lines = split(/\n/, $bare);
	my ($f, $deepest, @found);

	for my $i (0 .. $#lines) {
		if ($lines[$i] =~ /^(\w+)\(/) {
			$f = { name => $1, line => $i + 1 };
			$f->{public} = $i > 0 &&
			    $lines[$i - 1] !~ /\bstatic\b/;
			$deepest = 0;
		} elsif (defined($f) && $lines[$i] =~ /^}/) {
			$f->{length} = $i + 2 - $f->{line};
			$f->{depth} = $deepest - 1;
			push(@found, $f);
			undef $f;
		} elsif (defined($f) && $lines[$i] =~ /^(\t+)(?! {4})\S/) {
			$deepest = length($1) if length($1) > $deepest;
		}
	}
	return @found;
}

sub fine {
	my ($what, @wrong) = @_;
	my $builder = Test::More->builder;

	local $Test::Builder::Level = $Test::Builder::Level + 1;
	$builder->ok(!@wrong, $what) or
	    $builder->diag(map { "$_\n" } @wrong);
}

1;
