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
use FindBin;
use Test::More;

use lib "$FindBin::Bin/lib";
use Amped::Source qw(find_files find_sources fine functions read_code slurp);

my $src = $ENV{AMPED_SRC} // dirname(__FILE__) . '/..';
chdir($src) or die "$src: $!\n";

# The folders, from the bottom up, and what each may include beside its own
# files and lib: folders that stand before it, or single headers of these.
# contracts are wait.h, task.h, backend.h and filter.h, main is main.c.
my @folders = (
	lib	=> [],
	proto	=> [],
	helpers	=> [qw(proto/cgi_head.h proto/fastcgi.h)],
	conf	=> [qw(helpers/filters/coding.h helpers/job.h)],
	stats	=> [qw(helpers/job.h)],
	cache	=> [qw(helpers/job.h)],
	shared	=> [qw(conf helpers/job.h)],
	contracts => [qw(helpers/job.h)],
	http	=> [qw(cache contracts proto conf/chain.h conf/conf.h
		    conf/log_fields.tbl conf/log_format.h conf/rules.h
		    conf/strategies.h conf/variants.h conf/where.h
		    helpers/filters/coding.h helpers/job.h helpers/notify.h shared/addresses.h
		    stats/chain_stats.h stats/program_stats.h stats/report.h
		    stats/scoreboard.h stats/stats.h stats/stats.tbl)],
	loop	=> [qw(contracts shared conf/program.h helpers/wire.h
		    http/machine.h proto/fastcgi.h proto/scgi.h
		    stats/program_stats.h stats/scoreboard.h stats/stats.h)],
	disk	=> [qw(contracts stats conf/conf.h helpers/job.h
		    helpers/perform.h helpers/wire.h loop/clients.h
		    loop/evloop.h loop/mailbox.h shared/channel.h
		    shared/helper_slots.h shared/main_env.h shared/mounts.h)],
	admin	=> [qw(conf contracts helpers/beneath.h helpers/explain_path.h
		    helpers/htpasswd.h helpers/job.h
		    helpers/perform.h helpers/root.h http/caches.h http/explain.h http/machine.h
		    http/preload.h http/purge.h loop/backends.h loop/clients.h
		    loop/evloop.h proto/uri.h shared/control.h shared/hot_list.h stats/report.h
		    stats/stats.h)],
	arch	=> [qw(conf contracts disk loop shared stats admin/hot_names.h
		    admin/requests.h admin/warm.h helpers/notify.h http/caches.h http/machine.h)],
	programs => [qw(conf helpers/beneath.h helpers/file_version.h loop/evloop.h
		    shared/error_lines.h shared/program_message.h
		    shared/unix_socket.h stats/program_stats.h)],
	monitor	=> [qw(conf shared admin/explain_url.h admin/needs.h admin/walk.h
		    arch/arch.h helpers/anon_file.h
		    helpers/fds.h helpers/job.h helpers/store/renewal.h
		    programs/manager.h
		    stats/chain_stats.h stats/program_stats.h stats/report.h
		    stats/rows.h stats/scoreboard.h stats/stats.h)],
	main	=> [qw(conf monitor admin/directory.h admin/explain_url.h admin/needs.h
		    arch/arch.h
		    arch/budget.h shared/listener.h stats/rows.h)],
	ampedctl => [qw(conf/conf.h conf/errors.h conf/log_format.h
		    proto/char_class.h
		    shared/commands.tbl shared/control.h)],
);
my %may_include = @folders;
my @order = map { $folders[2 * $_] } 0 .. $#folders / 2;
my %place = map { $order[$_] => $_ } 0 .. $#order;
$_ = ['lib', @$_] for @may_include{grep { $_ ne 'lib' } @order};

# Headers of the system that only these files may include.
my %door = (
	'event'		=> { files => [qw(src/loop/evloop.c)] },
	'zlib\.h'	=> { most => 1 },
	'brotli/'	=> { files => [qw(helpers/filters/coding_br.c)] },
	'zstd\.h'	=> { files => [qw(helpers/filters/coding_zstd.c)] },
	'cmark\.h'	=> { files => [qw(helpers/filters/markdown.c)] },
	'crypt\.h'	=> { files => [qw(helpers/verify.c)] },
	'pthread\.h'	=> { most => 4 },
	'check\.h'	=> { files => [] },
	'malloc\.h'	=> { files => ['src/lib/mem.c'] },
	'seccomp\.h'	=> { files => [qw(src/lib/syscall_filter.c)] },
	# Foreign code is loaded into a process of its own alone.
	'dlfcn\.h'	=> { files => [qw(helpers/filters/module.c)] },
);

# What nothing in these calls: it may wait for a disk, for a name server, or for
# the time to pass.
my @never_block = qw(cache http proto);
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

my %forks = map { $_ => 1 } qw(src/lib/proc.c src/monitor/child.c
    src/programs/reaper.c);

my %budget = (file => 800, header => 120, contract => 200, function => 60,
    columns => 80, nesting => 3, files => 60);
# conn.h is the contract between the steps.
my %contract = map { $_ => 1 } qw(src/conf/conf.h src/http/conn.h
    src/backend.h src/proto/parse.h src/task.h src/wait.h helpers/job.h);

my @sources = find_sources();
my %code = map { $_ => read_code($_) } @sources;

sub layer {
	my ($file) = @_;

	return $1 if $file =~ m{^src/(\w+)/};
	return 'helpers' if $file =~ m{^helpers/};
	return $file eq 'src/main.c' ? 'main' : 'contracts';
}

# The source that an include in quotes means: from src, or from the top.
sub included {
	my ($name) = @_;

	for my $path ("src/$name", $name) {
		return $path if $code{$path};
	}
	return;
}

sub may_include {
	my ($file, $other) = @_;

	return 1 if layer($other) eq layer($file);
	return scalar(grep { $_ eq layer($other) ||
	    $other =~ m{^(?:src/)?\Q$_\E\z} } @{$may_include{layer($file)}});
}

# The functions that a file calls: names before a parenthesis that are no
# members of a struct.
sub calls {
	my ($file) = @_;
	my %called = map { $_ => 1 }
	    $code{$file}{bare} =~ /(?<![\w>.])(\w+)\s*\(/g;

	return \%called;
}

cmp_ok(scalar(@sources), '>', 40, 'the sources are there');

# Else folders could include each other in a circle.
fine('what a folder may include stands before it',
    map { goes_up($_) } @order);

sub goes_up {
	my ($layer) = @_;
	my @wrong;

	for my $allowed (@{$may_include{$layer}}) {
		my ($folder) = $allowed =~ m{^([^/]+)};
		push(@wrong, "$layer may include $allowed") if
		    ($place{$folder} // @order) >= $place{$layer};
		push(@wrong, "there is no $allowed") if
		    $allowed =~ m{/} && !defined(included($allowed));
	}
	return @wrong;
}

for my $layer (@order) {
	my @mine = grep { layer($_) eq $layer } @sources;
	ok(scalar(@mine), "there are files in $layer");
	fine("$layer includes only @{$may_include{$layer}}",
	    map { wrong_includes($_) } @mine);
}
fine('no folder is missing here',
    grep { !defined($place{layer($_)}) } @sources);

sub wrong_includes {
	my ($file) = @_;
	my @wrong;

	for my $name (quoted($file)) {
		my $other = included($name);
		if (!defined($other)) {
			push(@wrong, "$file includes $name: where is it?");
		} elsif (!may_include($file, $other)) {
			push(@wrong, "$file includes $other");
		}
	}
	return @wrong;
}

sub quoted {
	my ($file) = @_;

	return grep { $_ ne 'config.h' } map { /^"(.*)/ ? $1 : () }
	    @{$code{$file}{includes}};
}

fine('every include names its folder, those of tests as well',
    map { bare_includes($_) } @sources, find_files(qr/\.[ch]\z/, 't'));

sub bare_includes {
	my ($file) = @_;

	$code{$file} //= read_code($file);
	return map { "$file includes $_" } grep { !m{/} &&
	    !/^(?:backend|filter|wait|task)\.h\z/ } quoted($file);
}

# So it links nothing from above: the linker takes what is called.
fine('a unit test includes nothing that stands above its folder',
    map { upward_includes($_) } find_files(qr/\.[ch]\z/, 't/unit'));

sub upward_includes {
	my ($file) = @_;
	my ($folder) = $file =~ m{^t/unit/(\w+)/} or return;
	my %knowingly = (
		'proto conf' => 'compares two lists of status codes',
		'cache shared' => 'its threads count addresses, too',
	);

	return map { "$file includes $_" } grep {
	    $place{layer($_)} > $place{$folder} &&
	    !$knowingly{"$folder " . layer($_)} }
	    grep { defined && m{^(?:src|helpers)/} } map { included($_) } quoted($file);
}

my %in_folder;
push(@{$in_folder{dirname($_)}}, $_) for @sources;
fine("no folder has more than $budget{files} files",
    map { "$_ has " . @{$in_folder{$_}} }
    grep { @{$in_folder{$_}} > $budget{files} } sort keys %in_folder);
# A reader of these folders needs more: the request, the memory, the life of the
# server.
my %long_readme = map { $_ => 120 } qw(src/http src/cache src/monitor);
fine('each has a README of 20 to 60 lines, and behind them "How it works"',
    map { readme($_) } grep { m{^(?:src/\w+|helpers)\z} }
    sort keys %in_folder);

sub readme {
	my ($folder) = @_;

	return "$folder has none" unless -e "$folder/README";
	my $text = slurp("$folder/README");
	my $lines = $text =~ tr/\n//;
	my $before = ($text =~ s/^How it works\n.*//msr) =~ tr/\n//;
	return "$folder has one of $before" if $before < 20 || $before > 60;
	return $lines > ($long_readme{$folder} // 80) ?
	    "$folder has one of $lines in all" : ();
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

for my $layer (@never_block) {
	fine("nothing in $layer calls what may block", map { blocking($_) }
	    grep { layer($_) eq $layer } @sources);
}

fine('dlopen() is called by helpers/filters/module.c alone',
    grep { $_ ne 'helpers/filters/module.c' &&
	grep { /^dlm?open$/ } keys %{calls($_)} } @sources);

sub blocking {
	my ($file) = @_;
	my $calls = calls($file);
	my $known = $blocks_knowingly{$file} // {};
	my @found = grep { $calls->{$_} } @blocking;

	return (map({ "$file calls $_" } grep { !$known->{$_} } @found),
	    map { "$file no longer calls $_: no exception needed" }
	    grep { !$calls->{$_} } sort keys %$known);
}

# A driver performs the operations of clients; http asks for them.
my @net = qw(accept accept4 ioctl recv recvfrom recvmsg send sendfile sendmsg
    sendto setsockopt shutdown splice);
fine('nothing in http calls a socket', map { net_calls($_) }
    grep { layer($_) eq 'http' } @sources);
fine('the socket of a client is called by loop/net.c only',
    map { net_calls($_) } grep { layer($_) eq 'loop' &&
    !m{^src/loop/(?:net|acceptor)\.c\z} } @sources);

sub net_calls {
	my ($file) = @_;
	my $calls = calls($file);

	return map { "$file calls $_" } grep { $calls->{$_} } @net;
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

my %functions = map { $_ => [functions($code{$_}{bare})] }
    grep { /\.c\z/ } @sources;
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

# A public name is the name of its file and a verb; in conf, conf comes first.
# The list below is of files that have other names yet: it only gets shorter.
my %other_names;
while (my $line = <DATA>) {
	my ($file, @prefixes) = split(' ', $line);
	$other_names{$file}{$_} = 1 for @prefixes;
}
fine('a public name begins with the name of its file',
    map { foreign_names($_) } sort keys %functions);
fine('no other name is allowed that is not there',
    map { my $file = $_; map { "$file $_" } unused_names($file) }
    sort keys %other_names);

# The longest name that the file's own functions begin with.
sub own_name {
	my ($file) = @_;
	my ($folder, $name) = $file =~ m{([^/]+)/(\w+)\.c\z};

	return ($folder // '') eq 'conf' && $name ne 'conf' ? "conf_$name" :
	    $name // '';
}

sub public_names {
	my ($file) = @_;

	return grep { $_ ne 'main' && /^[a-z]/ } map { $_->{name} }
	    grep { $_->{public} } @{$functions{$file}};
}

sub foreign_names {
	my ($file) = @_;
	my $own = own_name($file);
	my @others = sort keys %{$other_names{$file} // {}};

	return map { "$file has $_" } grep { my $name = $_;
	    !grep { $name =~ /^\Q$_\E(?:_|\z)/ } $own, @others }
	    public_names($file);
}

sub unused_names {
	my ($file) = @_;
	my $own = own_name($file);
	my @names = grep { !/^\Q$own\E(?:_|\z)/ }
	    $functions{$file} ? public_names($file) : ();

	return grep { my $other = $_;
	    !grep { /^\Q$other\E(?:_|\z)/ } @names }
	    sort keys %{$other_names{$file}};
}

# What is not listed is not built, and a test that is not built fails nothing.
my %listed = map { $_ => 1 } map { split(' ', slurp($_)) } 'Makefile.am',
    find_files(qr{/local\.mk\z}, 'src', 'helpers', 't');
fine('the makefiles list every source, unit test and fuzz target',
    grep { !$listed{$_} && !$listed{s/\.c\z//r} } @sources,
    find_files(qr/\.[ch]\z/, 't/unit'), glob('t/fuzz/*.c'));
fine('every fuzz target has seeds',
    grep { !$listed{$_} && !-d s{fuzz/(.*)\.c}{fuzz/seeds/$1}r }
    glob('t/fuzz/*.c'));

done_testing();

__DATA__
helpers/append.c job
helpers/perform.c job
src/conf/divide.c conf_workers
src/conf/errors.c conf_error
src/conf/find.c conf_disabled conf_helpers_share conf_listener conf_user
src/conf/names.c conf_name
src/conf/object.c conf_block conf_member conf_origin conf_row conf_pos
src/http/finish.c close_step
src/http/limits/verification.c http
src/http/recv.c discard_step linger_step parse_step
src/stats/report_plot.c report
src/stats/report_units.c report
