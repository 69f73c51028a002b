#!/usr/bin/env perl
#
# vim: the syntax file knows every directive where it may stand, nothing where
# it may not, and the conf that comes with amped.
#
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use Amped qw(docroot slurp write_file);
use Amped::Foreign qw(needs_program);
use Test::More;

my $build = $ENV{AMPED_BUILD} // Amped::source_dir();
my $src = Amped::source_dir();

plan(skip_all => 'not made here') unless -e "$build/contrib/vim/amped.vim";
needs_program('vim');

my $dir = docroot('syntax/amped.vim' => slurp("$build/contrib/vim/amped.vim"),
    'ftdetect/amped.vim' => slurp("$src/contrib/vim/ftdetect/amped.vim"),
    # Where each stretch of a group begins, and which it is.
    'groups.vim' => <<'END');
let s:all = []
for s:line in range(1, line('$'))
	let s:last = ''
	for s:column in range(1, len(getline(s:line)))
		let s:group = synIDattr(synID(s:line, s:column, 1), 'name')
		if s:group != s:last && s:group != ''
			call add(s:all, s:line . ' ' . s:column . ' ' . s:group)
		endif
		let s:last = s:group
	endfor
endfor
call add(s:all, 'filetype ' . &filetype)
call writefile(s:all, $AMPED_GROUPS)
END

# What Vim takes the parts of a conf for: group by "line column".
sub groups {
	my ($name, $text) = @_;

	write_file("$dir/$name", $text);
	local $ENV{AMPED_GROUPS} = "$dir/groups";
	unlink("$dir/groups");
	my ($status, $out, $err) = Amped::run_command(undef, 'vim', '-N', '-u',
	    'NONE', '-i', 'NONE', '-n', '-es', '-c',
	    "set rtp=$dir,\$VIMRUNTIME", '-c', 'filetype on', '-c',
	    'syntax on', '-c', "edit $dir/$name", '-c',
	    "source $dir/groups.vim", '-c', 'qa!');
	is($status, 0, "Vim reads $name") or diag($out, $err);
	return map { /^filetype (.*)/ ? (filetype => $1) :
	    /^(\d+ \d+) (\w+)/ ? ($1 => $2) : () }
	    split(/\n/, -e "$dir/groups" ? slurp("$dir/groups") : '');
}

open(my $list, '-|', "$build/amped", '-L') or die "amped: $!\n";
my @rows = map { chomp; [split(/\t/, $_, -1)] } <$list>;
close($list) or die "amped -L: $?\n";

# One line for each row, in its block; where each word is, and what it is.
my (%inside, %lines);
for my $row (@rows) {
	my ($block, $word, $part, $type) = @$row;
	$inside{$word} = $block if $type eq 'block';
	push(@{$lines{$block}}, $row) if $type ne 'block' && $block ne 'any';
}
my (@text, %want);

sub group_of { return 'amped' . ucfirst($_[0]) . $_[1] }

sub add_line {
	my ($depth, $line, $group) = @_;

	push(@text, "\t" x $depth . $line);
	$want{@text . ' ' . ($depth + 1)} = $group;
}

sub add_block {
	my ($block, $depth) = @_;

	for my $row (@{$lines{$block}}) {
		my ($word, $part) = @$row[1, 2];
		add_line($depth, "$word $part x", group_of($block, 'Word'));
		$want{@text . ' ' . ($depth + 2 + length($word))} =
		    group_of($block, 'Part') if length($part);
	}
	add_line($depth, 'include x', group_of($block, 'Word'));
	add_line($depth, 'nonsense x', group_of($block, 'Error'));
	for my $inner (grep { $inside{$_} eq $block } sort(keys(%inside))) {
		add_line($depth, "$inner x {", group_of($inner, 'Block'));
		add_block($inner, $depth + 1);
		add_line($depth, '}', 'ampedBrace');
	}
}

add_block('top', 0);
cmp_ok(scalar(keys(%want)), '>', 150, 'there is much to know');
my %got = groups('amped.conf', join("\n", @text) . "\n");
is($got{filetype}, 'amped', 'amped.conf is known by its name');
is_deeply([map { my ($n) = split(' '); "$_ $want{$_} is " .
    ($got{$_} // 'nothing') . ": $text[$n - 1]" }
    grep { ($got{$_} // '') ne $want{$_} } sort(keys(%want))], [],
    'each directive is known where it may stand');
is(scalar(grep { /Error\z/ } values(%got)),
    scalar(grep { /Error\z/ } values(%want)), '... and nothing else is wrong');

# One word in the block of another, and values.
%got = groups('sites/amped.conf', "cache {\n\tlisten *:80\n}\n" .
    "limits { idle 30s; head 20s }\nsite a b {\n" .
    "\theader X \"a { # b\" # c\n\tlisting off\n\tindex off.html\n}\n");
is($got{'2 2'}, 'ampedCacheError', 'a word of another block is wrong');
is($got{'4 10'}, 'ampedLimitsWord', 'a statement behind a brace');
is($got{'4 15'}, 'ampedNumber', '... its number');
is($got{'4 20'}, 'ampedLimitsWord', '... one behind a semicolon');
is($got{'5 6'}, 'ampedSiteNames', 'the names of a site');
is($got{'6 11'}, 'ampedString', 'a string');
is($got{'6 21'}, 'ampedComment', '... and a comment behind it');
is($got{'7 10'}, 'ampedSiteChoice', 'a choice');
ok(!defined($got{'8 8'}), '... which is none in a name');
is($got{'9 1'}, 'ampedBrace', 'the end of the site');

%got = groups('default/amped.conf', slurp("$src/conf/amped.conf"));
is_deeply([grep { $got{$_} =~ /Error/ } keys(%got)], [],
    'nothing is wrong in the conf that comes with amped');

done_testing();
