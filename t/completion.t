#!/usr/bin/env perl
#
# completion: bash, zsh and fish complete every option of the programs, and what
# stands behind one.
#
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use Amped qw(docroot slurp);
use Amped::Foreign qw(which_program);
use Test::More;

my $build = $ENV{AMPED_BUILD} // Amped::source_dir();
my $made = "$build/contrib/completion";
my $dir = docroot('one file.conf' => '', 'one.txt' => '', 'one dir/' => '',
    'two/' => '');
my $home = docroot();

plan(skip_all => 'not made here') unless -e "$made/amped";

# The options that -h explains.
sub options {
	my ($program) = @_;
	my (undef, $out) = Amped::run_command(undef, "$build/$program", '-h');

	return sort(map { /^  (-\w)(?:, (--\w+))?/ ? ($1, $2 // ()) : () }
	    split(/\n/, $out));
}

my (undef, $list) = Amped::run_command(undef, "$build/ampedctl", '-L');
my @commands = sort(map { (split(/\t/))[0] } split(/\n/, $list));
cmp_ok(scalar(@commands), '>', 5, 'ampedctl has commands');
my @options = options('amped');
cmp_ok(scalar(@options), '>', 10, 'amped has options');
my @architectures = qw(amped mp mt pipelined sped);

# Words, and what each shell offers for the last of them; behind that, what zsh
# offers if that is less.
my @cases = (
	[[qw(amped -)], \@options],
	[[qw(amped -t -)], \@options,
	    [grep { $_ ne '-t' } @options]],
	[[qw(amped -t -f one)], ['one dir', 'one file.conf', 'one.txt']],
	[['amped', '-f', 'one f'], ['one file.conf']],
	[['amped', ''], ['one dir', 'two']],
	[['amped', '-A', ''], \@architectures],
	[[qw(amped -A s)], ['sped']],
	[['amped', '-u', ''], []],
	[['ampedctl', ''], \@commands],
	[[qw(ampedctl -s /run/x re)], [grep { /^re/ } @commands]],
	[[qw(ampedctl -)], [options('ampedctl')]],
	[[qw(ampedctl -f one)], ['one dir', 'one file.conf', 'one.txt']],
	[[qw(ampedctl -i one)], ['one dir', 'one file.conf', 'one.txt']],
	[['ampedctl', 'purge', ''], []],
	[['ampedctl', 'program', ''], []],
	[['ampedctl', 'program', 'php', ''], [qw(restart status)]],
	[[qw(ampedctl -s /run/x program php r)], ['restart']],
	[['ampedctl', 'policy', ''], [qw(auto gdsf lfu lru s3fifo sieve)]],
	[[qw(ampedctl -s /run/x policy s)], [qw(s3fifo sieve)]],
	[['ampedctl', 'policy', 'lru', ''], []],
	[['ampedctl', 'purge', '/a', ''], []],
);

# What bash offers for the last of these words, in the directory of the test.
sub complete {
	my (@words) = @_;
	my $program = $words[0];
	my ($status, $out, $err) = Amped::run_command(undef, 'bash', '--norc',
	    '-c', 'set -u; cd "$1"; source "$2" || exit; shift 2; ' .
	    'COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)); ' .
	    'f=$(complete -p "$1" | sed "s/.*-F \\([^ ]*\\).*/\\1/"); ' .
	    '$f "$1" "${@: -1}" "${@: -2:1}"; printf "%s\n" "${COMPREPLY[@]}"',
	    'bash', $dir, "$made/$program", @words);

	is($status, 0, "@words") or diag($err);
	is($err, '', '... without a complaint');
	return [grep { length } sort(split(/\n/, $out))];
}


# Words for a command line, with blanks escaped.
sub typed {
	return join(' ', map { s/ /\\ /gr } @_);
}

# As complete(), of fish, which says what each word is for.
sub complete_fish {
	my (@words) = @_;
	my ($status, $out, $err) = Amped::run_command(undef, 'env',
	    "HOME=$home", 'fish', '--no-config', '-c', 'cd $argv[1]; source $argv[2]; ' .
	    'complete -C $argv[3]', $dir, "$made/$words[0].fish",
	    typed(@words));

	is($status, 0, "fish: @words") or diag($err);
	is($err, '', '... without a complaint');
	my @rows = map { [split(/\t/)] } split(/\n/, $out);
	my @bare = grep { !defined($_->[1]) } @rows;
	is(scalar(grep { $_->[0] =~ /^-/ } @bare), 0, '... says what for')
	    if $words[-1] =~ /^-/;
	return [sort(map { $_->[0] =~ s{/\z}{}r } @rows)];
}

# As complete(), of zsh, which completes in a terminal only: another zsh types.
# compadd, which gets all that is offered, writes it down.
my $zsh = <<'END';
zmodload zsh/zpty
zpty -b inner zsh -f -i
zpty -w inner "cd ${(q)1}; fpath=(${(q)3} \$fpath); PROMPT=; RPROMPT="
zpty -w inner "autoload -Uz compinit; compinit -u -d ${(q)2}/dump"
zpty -w inner "source ${(q)2}/inner ${(q)2}/out"
zpty -w -n inner "$4"$'\t\x18d'
for ((i = 0; i < 300; i++)); do
	zpty -r -t inner text
	[[ -e $2/out.end ]] && break
	sleep 0.05
done
zpty -d inner
END
my $inner = <<'END';
out=$1
compadd() {
	local -a found
	if [[ ${@[1,(i)(-|--)]} == *-[OAD]\ * ]]; then
		builtin compadd "$@"
		return
	fi
	builtin compadd -O found "$@"
	print -rl -- $found >> $out
	builtin compadd "$@"
}
note_end() { : > $out.end }
zle -N note_end
bindkey '^Xd' note_end
bindkey '^I' complete-word
END

sub complete_zsh {
	my (@words) = @_;

	Amped::write_file("$home/inner", $inner);
	unlink("$home/out", "$home/out.end");
	my ($status, $out, $err) = Amped::run_command(undef, 'zsh', '-f', '-c',
	    $zsh, 'zsh', $dir, $home, $made, typed(@words));
	is($status, 0, "zsh: @words") or diag($err);
	ok(-e "$home/out.end", '... comes to an end');
	my %found = map { s/\\ / /gr => 1 } grep { length } split(/\n/,
	    -e "$home/out" ? slurp("$home/out") : '');
	return [sort(keys(%found))];
}

my %shells = (bash => \&complete, zsh => \&complete_zsh,
    fish => \&complete_fish);
for my $shell (sort(keys(%shells))) {
	SKIP: {
		skip("there is no $shell", 1) unless which_program($shell);
		for my $case (@cases) {
			my ($words, $all, $fewer) = @$case;
			my $expected = $shell eq 'zsh' ? $fewer // $all : $all;
			is_deeply($shells{$shell}->(@$words), $expected,
			    "$shell: @$words");
		}
	}
}

done_testing();
