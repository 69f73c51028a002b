#!/usr/bin/env perl
#
# prose: the rules of HACKING about comments and documents, as far as a program
# can tell; and that documents name nothing that is not there.
#
# An exception is written down here, with its reason, and fails when it is no
# longer needed.
#
use strict;
use warnings;

use File::Basename qw(basename dirname);
use FindBin;
use Test::More;

use lib "$FindBin::Bin/lib";
use Amped::Source qw(comments documents find_files find_sources fine read_code
    slurp);

my $src = $ENV{AMPED_SRC} // dirname(__FILE__) . '/..';
chdir($src) or die "$src: $!\n";

# Openers without a noun.  "One byte a message" has one, and so has "This file".
my $verb = qr{(?:is|are|was|were|has|have|had|may|might|must|can|could|cannot|
    does|do|did|will|would|should|says?|goes|go|comes?|makes?|takes?|gets?|
    keeps?|needs?|waits?|ends?|costs?|means?)\b}x;
my $opener = qr{\A(?:(?:what|whatever|who|whoever|whom|whose|nobody|somebody|
    someone|it|they|that|those)\b|
    (?:this|these)\s+(?:one\b|$verb)|(?:this|these)\s*[,.;:]|
    one\s+(?:of|that|who|which|$verb)|one\s*[,.;:])}xi;

# History, and riddles.
my @banned = (
	qr/\bat first\b/i, qr/\bfirst plan\b/i, qr/\bwe did not\b/i,
	qr/(?<!\bis )(?<!\bare )(?<!\bbe )(?<!\bwas )\bused to\b/i,
	qr/\boriginally\b/i, qr/\bformerly\b/i,
	qr/\bwhom?ever\b/i, qr/\bnobody\b[^.;:]*\bbut\b/i,
);

# file, words: reason
my %allowed = (
);

# What a document may call by its name though no file of the tree has it: made
# by a build, or the system's.
my %elsewhere = map { $_ => 1 } qw(config.h crypt.h queue.h);

my @sources = find_sources();
my @documents = documents();
my %used;

# The words of a paragraph without what is quoted.
sub unquote {
	my ($words) = @_;

	return $words =~ s/"[^"]*"|`[^`]*`/""/gr;
}

sub allowed {
	my ($file, $words) = @_;

	for my $known (keys %{$allowed{$file} // {}}) {
		next if index($words, $known) == -1;
		$used{$file}{$known} = 1;
		return 1;
	}
	return 0;
}

# The paragraphs of a document: first line, words in one line each.
sub paragraphs {
	my ($file) = @_;

	return $file =~ /\.[1-9]\z/ ? of_manual($file) : of_text($file);
}

sub of_text {
	my ($file) = @_;
	my ($line, @found) = (1);

	for my $part (split(/(\n[ \t]*\n+)/, slurp($file))) {
		my $words = $part;
		# Tables, and headings: alone, or above an indented text.
		$words = '' if $words =~ /\A {4}/;
		$words = $1 if $words =~ /\A(?:\d+\. )?[^\n.:]+(?:\n(\t.*))?\z/s;
		$words = ($words // '') =~ s/\s+/ /gr;
		$words =~ s/\A(?: |- |\d+\. )+//;
		push(@found, [$line, $words]) if $words ne '';
		$line += $part =~ tr/\n//;
	}
	return @found;
}

# A paragraph of a page begins behind a macro that breaks the text.
sub of_manual {
	my ($file) = @_;
	my ($literal, $n, @found) = (0, 0);

	for my $line (split(/\n/, slurp($file))) {
		$n++;
		$literal = 1 if $line =~ /\A\.Bd .*-(?:literal|unfilled)/;
		$literal = 0 if $line =~ /\A\.Ed/;
		next if $literal || $line =~ /\A\.\\"/;
		if ($line =~ /\A\.(?:Pp|S[hsx]|It|B[dl]|E[dl]|D[1l]|Nd|Nm)\b/) {
			push(@found, [$n + 1, '']);
		} elsif (@found) {
			$line =~ s/\A\.(?:[A-Z][a-z0-9] )+//;
			$found[-1][1] .= ($found[-1][1] eq '' ? '' : ' ') .
			    $line;
		}
	}
	return grep { $_->[1] ne '' } @found;
}

sub first_words {
	my ($words) = @_;

	return length($words) > 50 ? substr($words, 0, 47) . '...' : $words;
}

sub bad_openers {
	my ($file, @texts) = @_;

	return map { "$file:$_->[0]: " . first_words($_->[1]) }
	    grep { $_->[1] =~ $opener && !allowed($file, $_->[1]) } @texts;
}

sub banned_words {
	my ($file, @texts) = @_;
	my @wrong;

	for my $text (@texts) {
		my $words = unquote($text->[1]);
		next if allowed($file, $text->[1]);
		for my $one (@banned) {
			push(@wrong, "$file:$text->[0]: \"$&\"")
			    if $words =~ $one;
		}
	}
	return @wrong;
}

cmp_ok(scalar(@sources), '>', 40, 'the sources are there');
cmp_ok(scalar(@documents), '>', 15, 'so are the documents');

my %text = (
	(map { $_ => [comments(slurp($_))] } @sources),
	(map { $_ => [paragraphs($_)] } @documents));
cmp_ok(scalar(map { @$_ } values %text), '>', 2000, 'they have words');

fine('a comment begins with a noun or a verb',
    map { bad_openers($_, @{$text{$_}}) } @sources);
fine('so does a paragraph',
    map { bad_openers($_, @{$text{$_}}) } @documents);
fine('no comment has a banned word',
    map { banned_words($_, @{$text{$_}}) } @sources);
fine('nor has a document',
    map { banned_words($_, @{$text{$_}}) } @documents);
fine('no exception is there in vain', map { my $file = $_;
    map { "$file: $_" } grep { !$used{$file}{$_} }
    sort keys %{$allowed{$file}} } sort keys %allowed);

# It is to be read in one evening, with what it leads to.
cmp_ok(-s 'ARCHITECTURE', '<=', 12 * 1024, 'ARCHITECTURE has 12 KB at most');

# The words that codespell takes for others: Test::More's, mdoc's, parse.c's, a
# mistake in a conf, a word in bytes, a field of HTTP.
my @known_words = qw(isnt nd upto indx caf te);
SKIP: {
	skip('there is no codespell', 1)
	    if system('command -v codespell > /dev/null 2>&1') != 0;
	my @files = (@sources, @documents, qw(NEWS contrib/bench/decisions),
	    find_files(qr/\.(?:t|pm|scn)\z/, 't'));
	open(my $spell, '-|', 'codespell', '-q', '3',
	    '-L', join(',', @known_words), @files)
	    or die "codespell: $!\n";
	my @wrong = <$spell>;
	close($spell);
	chomp(@wrong);
	fine('every word is spelt as codespell has it', @wrong);
}

# Names in documents: those of the manual are its own test's.
my @plain = (grep({ !/\.[1-9]\z/ } @documents), 'contrib/bench/decisions',
    grep { -e } 'src/arch/pipelined/README');
my @files = find_files(qr/./, qw(src helpers t man conf contrib examples));
push(@files, grep { -f } glob('* .ci/*'));
my %is_file = map { $_ => 1 } @files;
my %by_name;
push(@{$by_name{basename($_)}}, $_) for @files;
my %is_called = map { $_ => 1 } map { read_code($_)->{bare} =~ /(\w+)\s*\(/g }
    @sources, find_files(qr/\.[ch]\z/, 't', 'contrib/bench');

fine('every function that a document names is there',
    map { lost_functions($_) } @plain);

sub lost_functions {
	my ($file) = @_;

	return map { "$file: $_()" } grep { !$is_called{$_} }
	    slurp($file) =~ /(?<![\w\/])([a-z]\w+)\(\)/g;
}

my $name = qr{[\w+*-][\w.+*-]*};
my $suffix = qr{(?:[ch]|tbl|t|pm|scn|mk|ac|am|md)};
fine('every file that a document names is there',
    map { lost_files($_) } @plain);

sub lost_files {
	my ($file) = @_;
	my $text = slurp($file);
	my @named = $text =~ m{(?<![\w/.~\$-])((?:$name/)*$name\.$suffix|
	    (?:src|helpers|t|man|conf|contrib|http|cache|disk|loop|monitor|
	    shared|stats|lib|proto|arch|admin)/(?:$name/)*$name)(?![\w/-])}xg;

	return map { "$file: $_" } grep { !is_there($file, $_) }
	    map { s/\.+\z//r } @named;
}

# In a folder, "What is here" is of that folder.
fine('the list in a README is of its folder', map { strangers($_) }
    grep { m{/README\z} } @plain);

sub strangers {
	my ($file) = @_;
	my ($list) = slurp($file) =~ /^What is here\n((?:\t.*\n)+)/m;
	my $folder = dirname($file);

	return map { "$file: $_" } grep { !$elsewhere{$_} && !-e "$folder/$_" &&
	    !grep { m{\A\Q$folder\E/} } @{$by_name{$_} // []} }
	    ($list // '') =~ m{(?<![\w/.])([\w/]+\.$suffix)\b}g;
}

# FILE and the like are for the reader to fill in.
sub is_there {
	my ($document, $named) = @_;
	my $folder = dirname($document);

	return 1 if $elsewhere{$named} ||
	    $named =~ /\b(?:NN|NAME|FILE|FOLDER|KIND|TARGET|PATTERN)/;
	for my $at ('', 'src/', 't/', 'contrib/bench/', 'contrib/bench/lib/',
	    "$folder/") {
		my @found = $named =~ /\*/ ? glob("$at$named") :
		    ("$at$named", "$at$named.c");	# or built of it
		return 1 if grep { -e } @found;
	}
	return $by_name{$named} || -e "t/unit/$named.c";
}

fine('links of README.md lead somewhere', grep { !m{\Ahttps?://} &&
    !-e s/#.*//r } slurp('README.md') =~ /\]\(([^)\s]+)\)/g);
fine('a document refers to sections that it has',
    map { lost_sections($_) } @plain);

# The life of a generation stands in both, so that a reader finds it whole.
is_deeply([map { s/ +/ /gr } slurp('src/monitor/README') =~
    /^\t([A-Z]+ +[A-Z]+ +[A-Z]+ +\w+)$/mg],
    [map { s/,\s+/ /gr } slurp('src/monitor/life.tbl') =~ /^X\((.*)\)$/mg],
    'the README of the monitor has the table of life.tbl');

sub lost_sections {
	my ($file) = @_;
	my $text = slurp($file);

	return map { "$file: \"$_\"" } grep { $text !~ /^(?:[#\d. ]*)\Q$_\E$/m }
	    map { s/\s+/ /gr } $text =~ /\bsee\s+"([^"]+)"/g;
}

done_testing();
