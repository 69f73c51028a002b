#!/usr/bin/env perl
#
# default-conf: the conf that comes with amped has every directive: what it does
# not set is there behind a #, with the default that is in force.
#
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use Amped qw(docroot run_amped slurp write_file);
use Test::More;

my $text = slurp(Amped::source_dir() . '/conf/amped.conf');
my $dir = docroot('www/' => '', 'log/' => '', 'mime.types' => '');

my ($status, $list) = run_amped('-L');
my @rows = grep { $_->[0] ne 'any' && $_->[3] ne 'block' }
    map { [split(/\t/, $_, -1)] } split(/\n/, $list);
cmp_ok(scalar(@rows), '>', 50, 'there are directives');

# The first row of a directive: whether it has a default.
my %default;
$default{"$_->[0] $_->[1]"} //= $_->[4] for @rows;

# Statements, with their block, and whether they are behind a #.  "# " begins a
# remark; "Examples" those that stand for themselves.
my (@statements, @in, $examples);
for my $line (split(/\n/, $text)) {
	$examples = 1 if $line =~ /^\s*# Examples/;
	next unless $line =~ /^(#?)(\s*)(\w+|\})(.*)/ && "$1$2" !~ /^# /;
	my ($off, $word, $rest) = ($1, $3, $4);
	$rest =~ s/(?:^|\s)#.*//;
	if ($word eq '}') {
		pop(@in);
	} else {
		push(@statements, { block => $in[-1] // 'top', word => $word,
		    rest => $rest, off => $off, line => $line,
		    example => $examples });
		push(@in, $word) if $rest =~ /\{\s*\z/;
	}
}
is_deeply(\@in, [], 'what is opened is closed');

# What a path has as its site has it, or files, need not be shown twice.
sub said {
	my ($block, $word, $part) = @_;
	my %as = (site => 'site|path', path => 'site|path',
	    files => 'site|path|files');
	my $places = $as{$block} // $block;

	return grep { $_->{block} =~ /^(?:$places)\z/ &&
	    $_->{word} eq $word && (!length($part) ||
	    " $_->{rest} " =~ /\s\Q$part\E\s/) } @statements;
}

is_deeply([map { "$_->[0]: $_->[1] $_->[2]" }
    grep { !said(@$_[0 .. 2]) } @rows], [],
    'every directive and every part is there');

# The conf itself, and with all defaults said: both are the same.
sub in_force {
	my ($what, $conf) = @_;

	$conf =~ s{/var/www/html}{$dir/www}g;
	$conf =~ s{/var/log/amped}{$dir/log}g;
	$conf =~ s{/etc/mime.types}{$dir/mime.types} if !-e '/etc/mime.types';
	write_file("$dir/amped.conf", $conf);
	my ($status, $out, $err) = run_amped('-T', '-f', "$dir/amped.conf");
	is($status, 0, "$what is a conf") or diag($err);
	return $out;
}

my $all = $text;
for my $one (grep { $_->{off} && !$_->{example} } @statements) {
	my $said = substr($one->{line}, 1);
	next unless length($default{"$one->{block} $one->{word}"} // '');
	$all =~ s/^\Q$one->{line}\E$/$said/m;
}
isnt($all, $text, 'there are defaults to say');
my ($first, $second) = (in_force('it', $text), in_force('all of it', $all));
is_deeply([split(/\n/, $second =~ s/[ \t]*# .*//mgr)],
    [split(/\n/, $first =~ s/[ \t]*# .*//mgr)],
    'what it says to be the default is the default');
my %example = map { $_->{word} => 1 } grep { $_->{example} || ($_->{off} &&
    !length($default{"$_->{block} $_->{word}"} // '')) } @statements;
is_deeply([grep { /^\s*(\w+).*# default$/ && !$example{$1} }
    split(/\n/, $second)], [], '... and no default is missing');

# With the examples, too, only files are missing that nobody has, and the group
# of a proxy that need not be installed.
my $whole = $text =~ s/^#(\t*(?:\w|\}))/$1/mgr;
write_file("$dir/whole.conf", $whole);
(undef, my $out, my $err) = run_amped('-t', '-f', "$dir/whole.conf");
my @complaints = grep { /^\Q$dir\E\S*:\d+:\d+: / } split(/\n/, $out . $err);
cmp_ok(scalar(@complaints), '>', 0, 'examples name files that are not there');
is_deeply([grep { !/No such file|there is no group "haproxy"/ }
    @complaints], [],
    '... and nothing else is wrong with them') or diag($out, $err);

done_testing();
