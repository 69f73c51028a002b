#!/usr/bin/env perl
#
# ports: what is there for systems that we cannot try here is at least correct:
# the spec file for rpm, the scripts for rc.d and init.d, the packages that
# bootstrap installs.
#
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use Amped qw(docroot slurp write_file);
use Amped::Foreign qw(which_program);
use Test::More;

my $src = Amped::source_dir();
my $spec = "$src/contrib/rpm/amped.spec";

sub run { return Amped::run_command(undef, @_) }

my $init = "$src/contrib/debian/amped.init";
for my $script (glob("$src/contrib/rc.d/amped.*"), $init) {
	my ($name) = $script =~ m{([^/]+)\z};
	my ($status, $out, $err) = run('/bin/sh', '-n', $script);
	is($status, 0, "$name is a script") or diag($err);
}
SKIP: {
	skip('there is no shellcheck', 1) unless which_program('shellcheck');
	# Files of the system, and options that are several words.
	my ($status, $out) = run('shellcheck', '-e', 'SC1091,SC2086', $init);
	is($status, 0, 'shellcheck has nothing against that for /etc/init.d') or
	    diag($out);
}

# FreeBSD's, by rc.subr's word: every command that it offers, with a program
# in the place of amped that notes how it is called.
my $dir = docroot('conf' => '', 'amped' => "#!/bin/sh\necho amped \"\$@\"\n",
    'rc.subr' => <<'END');
load_rc_config() { :; }
run_rc_command()
{
	rc_pid=$PID
	eval "cmd=\${${1}_cmd:-} pre=\${${1}_precmd:-}"
	[ -z "$pre" ] || $pre || return 1
	case $1 in
	start)	"$command" $command_args ;;
	*)	$cmd ;;
	esac
}
END
chmod(0755, "$dir/amped");
my $freebsd = slurp("$src/contrib/rc.d/amped.freebsd");
$freebsd =~ s{/etc/rc\.subr}{$dir/rc.subr};
$freebsd =~ s{^command=.*}{command=$dir/amped}m;
write_file("$dir/rc", $freebsd);
my ($extra) = $freebsd =~ /^extra_commands="(.*)"/m;
is_deeply([grep { $_ ne 'reload' && $freebsd !~ /^${_}_cmd=/m }
    split(' ', $extra)], [], 'every extra command is there');
{
	local $ENV{amped_conf} = "$dir/conf";
	my (undef, $out) = run('/bin/sh', "$dir/rc", 'start');
	is($out, "amped -t -f $dir/conf\namped -f $dir/conf\n",
	    'start: the conf is checked first');
	local $SIG{QUIT} = 'DEFAULT';	# it may be ignored by us
	my %signal = (reopen => 'USR1', upgrade => 'USR2', drain => 'QUIT');
	for my $command (sort(keys(%signal))) {
		my ($status) = run('/bin/sh', '-c', 'PID=$$; export PID; ' .
		    'trap "exit 7" ' . $signal{$command} . '; /bin/sh "$0" ' .
		    '"$1"; :', "$dir/rc", $command);
		is($status >> 8, 7, "$command: $signal{$command}");
	}
}

SKIP: {
	skip('there is no rpmspec', 2) unless which_program('rpmspec');
	my ($status, $out, $err) = run('rpmspec', '-P', $spec);
	is($status, 0, 'the spec is one') or diag($err);
	like($out, qr{\./configure\s.*--sysconfdir=/etc}s, '... that configures');
}
SKIP: {
	skip('there is no rpmlint', 1) unless which_program('rpmlint');
	my ($status, $out, $err) = run('rpmlint', $spec);
	like($out . $err, qr/\b0 errors/, 'rpmlint finds no error');
}

# All that make install installs is in some line of %files, but for what is
# for others.
my ($files) = slurp($spec) =~ /^%files\n(.*?)^%changelog/ms;
for my $part (qw(_sbindir _libexecdir _unitdir _tmpfilesdir _mandir
    bash-completion zsh/site-functions fish/vendor_completions.d
    vim/vimfiles/syntax vim/vimfiles/ftdetect /log/amped)) {
	like($files, qr/\Q$part\E/, "%files has $part");
}

# Each of bootstrap's tables: all rows have the columns of their header.
my $bootstrap = slurp("$src/bootstrap");
my %rows;

for my $table (qw(needs plan)) {
	my ($head, @rows) = $bootstrap =~ /^$table\(\) \{\n.*?<<'END'\n(.*?)^END\n/ms
	    ? split(/\n/, $1) : ();
	my $columns = sub { split(' ', $_[0] =~ s/ : .*/ :/r) };
	my $n = () = $columns->($head // '');

	$n-- if $table eq 'plan';	# its last column are several words
	$rows{$table} = [map { [$columns->($_)] } @rows];
	cmp_ok(scalar(@rows), '>', 5, "bootstrap's table $table");
	is_deeply([grep { my $has = () = $columns->($_);
	    $table eq 'plan' ? $has <= $n : $has != $n || !/ : \w/ } @rows],
	    [], '... has whole rows');
}

# What the heads of end-to-end tests say is believed only if check runs them.
for my $check (qw(gate all)) {
	my @places = map { $_->[0] eq $check ? [@$_[4 .. 6]] : () }
	    @{$rows{plan}};
	my %in = map { $_ => 1 } map { split(/,/, $_->[2]) } @places;

	ok($in{every} || !(grep { !$in{$_} } qw(amped sped mp mt pipelined)),
	    "check, $check: tests about waiting run in every architecture");
}

done_testing();
