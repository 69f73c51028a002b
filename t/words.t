#!/usr/bin/env perl
#
# words: each thing has one word, that of HACKING; the old ones stay out of
# names, comments, messages, tests and documents, and a static function says
# what it does to what.
#
# An exception is written down here, with its reason, and fails when it is no
# longer needed.
#
use strict;
use warnings;

use File::Basename qw(dirname);
use FindBin;
use Test::More;

use lib "$FindBin::Bin/lib";
use Amped::Source qw(documents find_files find_sources fine functions read_code
    slurp);

my $src = $ENV{AMPED_SRC} // dirname(__FILE__) . '/..';
chdir($src) or die "$src: $!\n";

# A verb alone says nothing in a debugger, a profile or a grep.
my @bare_verbs = qw(accept add allow answer append apply ask begin check choose
    clear close collect copy count do done drop eat end enter expect fail feed
    fill find finish flush forget get give go grow hear init insert join keep
    leave lend link list load lock look make mark match measure move need next
    obey open pack parse part perform place pop prepare print push put read
    receive refuse release remove replace report reset ring run save say scan
    send serve set share show shut sort speak split start stay stop store take
    tell test try unlock update wait wake watch welcome write);
my %called_by_verb;

# kind, word, its successor.  everywhere: in sources, tests and documents; these
# words have no other meaning.  Of sources only: name: a part of a name between
# underscores; end: a name ends so; struct: a tag (that of a public function is
# its file's name, as t/layers.t checks).
#
# but WORD FILE REASON is an exception, verb NAME FILE REASON one for a verb.
my (@old, %but);
while (my $line = <DATA>) {
	next if $line =~ /\A(?:#|\s*\z)/;
	chomp($line);
	my ($kind, $word, @rest) = split(' ', $line);
	if ($kind eq 'but') {
		my ($file, @reason) = @rest;
		$but{$word}{$file} = "@reason";
	} elsif ($kind eq 'verb') {
		my ($file, @reason) = @rest;
		$called_by_verb{$file}{$word} = "@reason";
	} else {
		push(@old, { kind => $kind, word => $word, new => "@rest" });
	}
}

my @sources = find_sources();
my @tests = (find_files(qr/\.(?:c|h|t|pm|scn|mk)\z/, 't'), 't/run');
my @others = (documents(), find_files(qr/\.mk\z/, 'src', 'helpers'),
    grep({ -T } find_files(qr/[^~]\z/, 'conf')), qw(NEWS bootstrap),
    'contrib/bench/decisions');
my %is_mine = map { $_ => 1 } qw(t/words.t);
my @all = grep { !$is_mine{$_} } @sources, @tests, @others;
my %code = map { $_ => read_code($_) } grep { /\.(?:c|h|tbl)\z/ } @all;
my %text = map { $_ => $code{$_} ? $code{$_}{text} : slurp($_) } @all;
# The names of a source, and how often.
my %names = map { $_ => names_of($_) } @sources;
my %needed;

sub names_of {
	my ($file) = @_;
	my %names;

	$names{$_}++ for $code{$file}{bare} =~ /\b([A-Za-z_]\w*)/g;
	return \%names;
}

my %pattern = (
	everywhere => sub { qr/(?<![A-Za-z])\Q$_[0]\E(?:e?s)?(?![A-Za-z])/i },
	name => sub { qr/(?:\A|_)\Q$_[0]\Es?(?:_|\z)/ },
	end => sub { qr/\Q$_[0]\E\z/ },
	struct => sub { qr/\b(?:struct|enum|union)\s+$_[0]\b/ },
);

# Where an old word stands: file, and line or name.
sub places {
	my ($old) = @_;
	my $pattern = $pattern{$old->{kind}}->($old->{word});
	my @places;

	for my $file ($old->{kind} eq 'everywhere' ? @all : @sources) {
		my @found = $old->{kind} eq 'everywhere' ?
		    lines_with($text{$file}, $pattern) :
		    $old->{kind} eq 'struct' ?
		    lines_with($code{$file}{bare}, $pattern) :
		    grep { $_ =~ $pattern } sort keys %{$names{$file}};
		push(@places, map { [$file, $_] } @found);
	}
	return @places;
}

sub lines_with {
	my ($text, $pattern) = @_;
	my ($n, @lines) = (0);

	return () if $text !~ $pattern;
	for my $line (split(/\n/, $text)) {
		$n++;
		push(@lines, $n) if $line =~ $pattern;
	}
	return @lines;
}

sub wrong_places {
	my ($old) = @_;
	my $known = $but{$old->{word}} // {};
	my @wrong;

	for my $place (places($old)) {
		my ($file, $where) = @$place;
		if (defined($known->{$file})) {
			$needed{$old->{word}}{$file} = 1;
		} else {
			push(@wrong, "$file: $where");
		}
	}
	return @wrong;
}

cmp_ok(scalar(@sources), '>', 40, 'the sources are there');
cmp_ok(scalar(@tests), '>', 100, 'so are the tests');
cmp_ok(scalar(map { keys %$_ } values %names), '>', 5000,
    'the names are found');

fine("$_->{word}: $_->{new}", wrong_places($_)) for @old;

my %is_old = map { $_->{word} => 1 } @old;
fine('no exception is there in vain', map { my $word = $_;
    map { "$word in $_" } grep { !$is_old{$word} || !$needed{$word}{$_} }
    sort keys %{$but{$word}} } sort keys %but);

my %is_bare = map { $_ => 1 } @bare_verbs;
my %static;
for my $file (grep { /\.[ch]\z/ } @sources) {
	$static{$file} = [grep { !$_->{public} } functions($code{$file}{bare})];
}
cmp_ok(scalar(map { @$_ } values %static), '>', 1000,
    'the static functions are found');
fine('a static function is a verb and what it acts upon', map { my $file = $_;
    map { "$file:$_->{line}: $_->{name}()" } grep { $is_bare{$_->{name}} &&
    !defined($called_by_verb{$file}{$_->{name}}) } @{$static{$file}} }
    sort keys %static);
fine('no verb is allowed that is not there', map { my $file = $_;
    map { my $verb = $_; grep({ $_->{name} eq $verb }
    @{$static{$file} // []}) ? () : "$file: $verb()" }
    sort keys %{$called_by_verb{$file}} } sort keys %called_by_verb);

done_testing();

__DATA__
# Disk work
everywhere errand	task
everywhere crew		helper pool
everywhere lane		fs queue
everywhere porter	disk thread
everywhere ledger	helper slots
everywhere outlet	log sink
struct leftover(?:s)?	orphan
struct backlog		task_queue
struct (?:order|trip)	wire_request, item
struct (?:names|repeats)	rdns, repeat_filter
struct (?:sight|place)	stat_info, sync
name leisure		background
name deserted		abandoned

# Connections and the event loop
everywhere patience	timeout
everywhere clapper	write_fd
struct peer		session; in the field a peer is a remote address
struct (?:turns|team|member|post)	accept_token, threads, loop_thread, inbox
struct (?:queue|queued|note)	mailbox, mail, flag_msg
struct (?:burst|call)	batch, operation
struct (?:logger|bell)	access_log, wakeup
struct (?:askeds?|question|bringing)	admin_request, explain_request
name door		listen_sock, acceptor
name turn		iteration, slice, send quota
name knock		accept
name hush		reset
name bell		wakeup
name keeper		holder of the accept token
name lacks		limitations
name world		main_env

# The monitor
everywhere scribe	error logger
everywhere clerk	control child
everywhere reign	generation
everywhere heritage	inherited
struct (?:fence|pulse|programs?)	roots, watchdog, piped_log
struct (?:board|part)	scoreboard, slot
struct ctl\w*		control
name ears		sources
name bury		cleanup
name bolt		block_new
name bolted		blocked
name successor		new monitor
name predecessor	old monitor

# HTTP
struct (?:stores?|wholes?|quota|crowd)	caches, client_limits
struct (?:looks?|closing|text|decide\w*)	lookup, deferred_close, cond_
struct parts		multipart
name rotten		expired
name afresh		refresh
name beside		siblings, namespace
name instead		page, internal redirect
name portion		window, divide
name together		batch

# Caches
everywhere ragged	unaligned
struct (?:answer|grant\w*|ahead)	path_info, auth_entry, prefetch
struct descriptor	open_file
name doubted		assumed_absent
name anew		no_reuse

# Tools, conf, all
struct (?:pool|bucket|passed|notify)	slab, token_bucket, listen_fd, sd_notify
name grade		level
name overhear		capture
name RARE		COLD
name APART		NOINLINE
name tally		counter
end _MOST		_MAX
end _LEAST		_MIN
