#!/usr/bin/env perl
#
# layers: the rules of ARCHITECTURE about who may include, call and be as
# large as what, by reading the sources.
#
# An exception is written down here, with its reason, and fails when it is no
# longer needed.
#
use strict;
use warnings;

use File::Basename qw(dirname);
use File::Find qw(find);
use Test::More;

my $src = $ENV{AMPED_SRC} // dirname(__FILE__) . '/..';
chdir($src) or die "$src: $!\n";

# What the files of a layer may include: layers and single headers.
my %may_include = (
	lib	=> [qw(lib)],
	helpers	=> [qw(helpers lib)],
	cache	=> [qw(cache lib helpers/job.h)],
	conf	=> [qw(conf lib helpers/job.h)],
	http	=> [qw(http cache lib conf wait.h report.h stats.h stats.tbl
		    helpers/job.h)],
	arch	=> [qw(arch cache lib conf wait.h stats/scoreboard.h shared/channel.h shared/control.h
	    shared/commands.tbl report.h stats.h http/preload.h http/purge.h
		    helpers/explain_path.h helpers/job.h helpers/perform.h
		    helpers/wire.h http/explain.h http/machine.h http/caches.h)],
	ampedctl => [qw(ampedctl lib conf shared/control.h shared/commands.tbl)],
	main	=> [qw(arch conf lib shared/channel.h monitor.h stats.h stats.tbl
		    helpers/job.h helpers/fds.h)],
);

# Headers of the system that only these files may include.
my %door = (
	'event'		=> { files => [qw(src/loop/evloop.c)] },
	'zlib\.h'	=> { most => 1 },
	'crypt\.h'	=> { files => [qw(helpers/verify.c)] },
	'pthread\.h'	=> { most => 3 },
	'check\.h'	=> { files => [] },
	'malloc\.h'	=> { files => ['src/lib/mem.c'] },
	'seccomp\.h'	=> { files => [qw(src/lib/syscall_filter.c)] },
);

# What nothing under src/http and src/cache calls: it may wait for a disk, for
# a name server, or for the time to pass.
my @blocking = qw(access chdir chmod chown closedir connect creat execv execve
    execvp fdopen fdopendir fgetc fgets fopen fork fread freopen fscanf fstat
    fstatat fsync getaddrinfo getc getgrnam gethostbyname getline getnameinfo
    getpwnam getpwuid glob link lstat mkdir mkstemp nanosleep open openat
    opendir pclose poll popen readdir readlink readlinkat realpath rename rmdir
    scandir select sleep stat statfs statvfs statx symlink syslog system
    unlink usleep wait waitpid);
my %blocks_knowingly = (
	'src/proto/mime.c' => {
		fdopen => 'reads mime.types once, before there are clients',
		getline => 'the same',
	},
);

my %forks = map { $_ => 1 } qw(src/lib/proc.c src/monitor/spawn.c);

my %budget = (file => 800, header => 120, contract => 200, function => 60,
    columns => 80, nesting => 3);
# conn.h is the contract between the steps.
my %contract = map { $_ => 1 } qw(src/conf/conf.h src/http/conn.h src/proto/parse.h
    src/wait.h helpers/job.h);

my @sources = find_sources();
my %code = map { $_ => read_code($_) } @sources;

# The sources, without those of the tests.
sub find_sources {
	return find_files(qr/\.(?:c|h|tbl)\z/, 'src', 'helpers', 'ampedctl');
}

sub find_files {
	my ($name, @directories) = @_;
	my @found;

	find({ no_chdir => 1, wanted => sub { push(@found, $_) if /$name/ } },
	    @directories);
	return sort @found;
}

sub slurp {
	my ($file) = @_;

	open(my $fh, '<', $file) or die "$file: $!\n";
	local $/;
	return scalar(<$fh>);
}

# includes: what a file includes; text: as it is; bare: its lines without
# comments and the insides of strings.
sub read_code {
	my ($file) = @_;

	my $text = slurp($file);
	my $bare = $text;
	$bare =~ s{("(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)+')|/\*.*?\*/|//[^\n]*}
	    {defined($1) ? '""' : ($& =~ s/[^\n]//gr)}gse;
	my @includes = $text =~ /^#\s*include\s+(["<][^">]+)/mg;
	return { text => $text, bare => $bare, includes => \@includes };
}

sub layer {
	my ($file) = @_;

	return $1 if $file =~ m{^src/(\w+)/};
	return $1 if $file =~ m{^(helpers|ampedctl)/};
	return 'conf' if $file =~ m{^src/conf[^/]*\z};
	return 'main';
}

# The source that an include in quotes means, as the compiler finds it.
sub included {
	my ($file, $name) = @_;

	for my $path (dirname($file) . "/$name", "src/$name", $name) {
		return $path if $code{$path};
	}
	return;
}

sub may_include {
	my ($file, $other) = @_;

	for my $allowed (@{$may_include{layer($file)}}) {
		return 1 if $allowed eq layer($other) ||
		    $other =~ m{^(?:src/)?\Q$allowed\E\z};
	}
	return layer($file) eq 'main' && layer($other) eq 'main';
}

# The functions that a file calls: names before a parenthesis that are no
# members of a struct.
sub calls {
	my ($file) = @_;
	my %called = map { $_ => 1 }
	    $code{$file}{bare} =~ /(?<![\w>.])(\w+)\s*\(/g;

	return \%called;
}

# The functions of a file: name, first line, length, deepest nesting.  In
# KNF the name and the closing brace stand in the first column.
sub functions {
	my ($file) = @_;
	my @lines = split(/\n/, $code{$file}{bare});
	my ($name, $first, $deepest, @found);

	for my $i (0 .. $#lines) {
		if ($lines[$i] =~ /^(\w+)\(/) {
			($name, $first, $deepest) = ($1, $i, 0);
		} elsif (defined($name) && $lines[$i] =~ /^}/) {
			push(@found, { name => $name, line => $first + 1,
			    length => $i - $first + 1, depth => $deepest - 1 });
			undef $name;
		} elsif (defined($name) && $lines[$i] =~ /^(\t+)(?! {4})\S/) {
			$deepest = length($1) if length($1) > $deepest;
		}
	}
	return @found;
}

sub fine {
	my ($what, @wrong) = @_;

	ok(!@wrong, $what) or diag(map { "$_\n" } @wrong);
}

cmp_ok(scalar(@sources), '>', 40, 'the sources are there');

for my $layer (sort keys %may_include) {
	fine("$layer includes only @{$may_include{$layer}}",
	    map { wrong_includes($_) } grep { layer($_) eq $layer } @sources);
}

sub wrong_includes {
	my ($file) = @_;
	my @wrong;

	for my $include (@{$code{$file}{includes}}) {
		my ($quoted, $name) = $include =~ /^(["<])(.*)/;
		next if $quoted eq '<' || $name eq 'config.h';
		my $other = included($file, $name);
		if (!defined($other)) {
			push(@wrong, "$file includes $name: where is it?");
		} elsif (!may_include($file, $other)) {
			push(@wrong, "$file includes $other");
		}
	}
	return @wrong;
}

for my $header (sort keys %door) {
	my @in = grep { grep { /^<$header/ } @{$code{$_}{includes}} } @sources;
	my $only = $door{$header}{files};

	if ($only) {
		my %allowed = map { $_ => 1 } @$only;
		fine("<$header> is for " . (join(' ', @$only) || 'tests'),
		    grep { !$allowed{$_} } @in);
	} else {
		my $most = $door{$header}{most};
		fine("<$header> is in no more than $most",
		    @in > $most ? @in : ());
	}
}

for my $layer (qw(http cache)) {
	fine("nothing in $layer calls what may block", map { blocking($_) }
	    grep { layer($_) eq $layer } @sources);
}

sub blocking {
	my ($file) = @_;
	my $calls = calls($file);
	my $known = $blocks_knowingly{$file} // {};
	my @found = grep { $calls->{$_} } @blocking;

	return (map({ "$file calls $_" } grep { !$known->{$_} } @found),
	    map { "$file no longer calls $_: no exception needed" }
	    grep { !$calls->{$_} } sort keys %$known);
}

fine('only ' . join(' and ', sort keys %forks) . ' fork',
    grep { !$forks{$_} && grep({ $_ =~ /^(?:v?fork|posix_spawnp?|daemon)\z/ }
    keys %{calls($_)}) } @sources);

fine("no file has more than $budget{file} lines, no header more than " .
    "$budget{header}, no contract more than $budget{contract}",
    map { too_long($_) } @sources);

sub too_long {
	my ($file) = @_;
	my $lines = ($code{$file}{text} =~ tr/\n//);
	my $most = $contract{$file} ? $budget{contract} :
	    $file =~ /\.h\z/ ? $budget{header} : $budget{file};

	return $lines > $most ? "$file has $lines lines" : ();
}

my @tests = find_files(qr/\.(?:c|h|t|pm)\z/, 't');
cmp_ok(scalar(@tests), '>', 100, 'the tests are there');
fine("no test has more than $budget{file} lines", grep {
    (slurp($_) =~ tr/\n//) > $budget{file} } @tests);

my %functions = map { $_ => [functions($_)] } grep { /\.c\z/ } @sources;
my @all = map { @$_ } values %functions;

cmp_ok(scalar(@all), '>', 100, 'the functions are found');
fine("no function has more than $budget{function} lines",
    map { long_functions($_) } sort keys %functions);
fine("no function nests deeper than $budget{nesting}",
    map { deep_functions($_) } sort keys %functions);

sub long_functions {
	my ($file) = @_;

	return map { "$file:$_->{line}: $_->{name} has $_->{length} lines" }
	    grep { $_->{length} > $budget{function} } @{$functions{$file}};
}

sub deep_functions {
	my ($file) = @_;

	return map { "$file:$_->{line}: $_->{name} nests $_->{depth} deep" }
	    grep { $_->{depth} > $budget{nesting} } @{$functions{$file}};
}

fine("no line of code is wider than $budget{columns} columns",
    map { wide_lines($_) } grep { !/\.tbl\z/ } @sources);

sub wide_lines {
	my ($file) = @_;
	my ($n, @wide) = (0);

	for my $line (split(/\n/, $code{$file}{text})) {
		$n++;
		1 while $line =~ s/^([^\t]*)\t/$1 . ' ' x (8 - length($1) % 8)/e;
		push(@wide, "$file:$n") if length($line) > $budget{columns};
	}
	return @wide;
}

fine('every file says first what it is for',
    grep { $code{$_}{text} !~ m{\A/\*} } @sources);

# What is not listed is not built, and a test that is not built fails nothing.
open(my $makefile, '<', 'Makefile.am') or die "Makefile.am: $!\n";
my %listed = map { $_ => 1 } map { split(' ') } <$makefile>;
fine('Makefile.am lists every source, unit test and fuzz target',
    grep { !$listed{$_} && !$listed{s/\.c\z//r} } @sources,
    find_files(qr/\.[ch]\z/, 't/unit'), glob('t/fuzz/*.c'));
fine('every fuzz target has seeds',
    grep { !$listed{$_} && !-d s{fuzz/(.*)\.c}{fuzz/seeds/$1}r }
    glob('t/fuzz/*.c'));

done_testing();
