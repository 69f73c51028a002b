# Amped::Bench: servers side by side, and what they may have of a machine.
#
# Used by contrib/bench: amped from $AMPED_BUILD, and the others as they are
# installed, each with one process for its clients (Apache: as it comes), its
# access log off.  Must not leave a server or a group of processes behind.
package Amped::Bench;

use strict;
use warnings;

use Cwd qw(getcwd);
use Exporter qw(import);

use Amped qw(await docroot free_port write_file);
use Amped::Client;
use Amped::Process;

our @EXPORT_OK = qw(group_limit group_gone major_faults median of_rounds run
    servers start stop which);

$ENV{AMPED_BUILD} //= getcwd();

sub which {
	my ($name) = @_;

	for my $dir (split(/:/, $ENV{PATH}), '/usr/sbin', '/sbin') {
		return "$dir/$name" if -x "$dir/$name";
	}
	return undef;
}

sub run {
	system(@_) == 0 or die "@_ failed\n";
}

#
# Servers: a name, a program, its conf for a root and a port, its arguments
#

my $user = Amped::ordinary_user();

sub nginx_conf {
	my ($dir, $root, $port, $aio) = @_;

	return "user $user;\nworker_processes 1;\npid $dir/pid;\n" .
	    "error_log $dir/error.log;\nevents { worker_connections 1024; }\n" .
	    "http {\n\taccess_log off;\n\tsendfile on;\n$aio" .
	    "\tkeepalive_requests 100000000;\n" .
	    "\tclient_body_temp_path $dir/t1;\n\tproxy_temp_path $dir/t2;\n" .
	    "\tfastcgi_temp_path $dir/t3;\n\tuwsgi_temp_path $dir/t4;\n" .
	    "\tscgi_temp_path $dir/t5;\n" .
	    "\tserver {\n\t\tlisten 127.0.0.1:$port;\n\t\troot $root;\n" .
	    "\t\tautoindex on;\n\t}\n}\n";
}

sub apache_conf {
	my ($dir, $root, $port) = @_;
	my $modules = '/usr/lib/apache2/modules';

	return join('', map { "LoadModule ${_}_module $modules/mod_$_.so\n" }
	    qw(mpm_event authz_core autoindex)) .
	    "ServerName localhost\nListen 127.0.0.1:$port\nUser $user\n" .
	    "PidFile $dir/pid\nErrorLog $dir/error.log\nKeepAlive On\n" .
	    "MaxKeepAliveRequests 0\nDocumentRoot $root\n" .
	    "<Directory $root>\nRequire all granted\nOptions +Indexes\n" .
	    "</Directory>\n";
}

sub lighttpd_conf {
	my ($dir, $root, $port) = @_;

	return "server.document-root = \"$root\"\nserver.port = $port\n" .
	    "server.bind = \"127.0.0.1\"\nserver.username = \"$user\"\n" .
	    "server.max-keep-alive-requests = 60000\n" .
	    "dir-listing.activate = \"enable\"\n";
}

sub h2o_conf {
	my ($dir, $root, $port) = @_;

	return "user: $user\nnum-threads: 1\nerror-log: $dir/error.log\n" .
	    "file.dirlisting: ON\nhosts:\n  default:\n    listen:\n" .
	    "      host: 127.0.0.1\n      port: $port\n    paths:\n" .
	    "      /:\n        file.dir: $root\n";
}

sub caddy_conf {
	my ($dir, $root, $port) = @_;

	return "{\n\tadmin off\n\tauto_https off\n}\n" .
	    "http://localhost:$port, http://127.0.0.1:$port {\n" .
	    "\tbind 127.0.0.1\n\troot * $root\n\tfile_server browse\n}\n";
}

my @all = (
	{ name => 'amped' },
	{ name => 'nginx', program => 'nginx',
	    conf => sub { nginx_conf(@_, '') },
	    args => sub { ('-c', $_[0], '-g', 'daemon off;') } },
	{ name => 'nginx-threads', program => 'nginx',
	    conf => sub { nginx_conf(@_, "\taio threads;\n") },
	    args => sub { ('-c', $_[0], '-g', 'daemon off;') } },
	{ name => 'apache-event', program => 'apache2',
	    conf => \&apache_conf,
	    args => sub { ('-DFOREGROUND', '-f', $_[0]) } },
	{ name => 'lighttpd', program => 'lighttpd',
	    conf => \&lighttpd_conf, args => sub { ('-D', '-f', $_[0]) } },
	{ name => 'h2o', program => 'h2o',
	    conf => \&h2o_conf, args => sub { ('-c', $_[0]) } },
	{ name => 'caddy', program => 'caddy', conf => \&caddy_conf,
	    args => sub { ('run', '--adapter', 'caddyfile', '--config',
	    $_[0]) } },
);

# Those that are installed and wanted; without a name all are.
sub servers {
	my %wanted = map { $_ => 1 } @_;

	return grep { !%wanted || $wanted{$_->{name}} }
	    grep { !$_->{program} || which($_->{program}) } @all;
}

my $started;		# the last one, to be ended in any case
my $by = $$;		# not by what has been forked

# What runs: pid, ports; undef if it does not.  What amped says goes into more.
sub start {
	my ($server, $root, %more) = @_;
	my $dir = docroot('out' => '');

	return $started = Amped->start(root => $root, errors => 1,
	    log => "\taccess off\n\terror stderr notice\n",
	    site => "\tlisting html\n", %more) unless $server->{program};
	my $port = free_port();
	write_file("$dir/conf", $server->{conf}->($dir, $root, $port));
	$ENV{HOME} = $dir;
	my $pid = Amped::spawn([which($server->{program}),
	    $server->{args}->("$dir/conf")], "$dir/out", "$dir/out");
	$started = { pid => $pid, ports => [$port] };
	eval { await("$server->{name} to serve", sub {
		eval { Amped::Client->new(port => $port) };
	}, 10) } and return $started;
	print("$server->{name} does not start, and is left out:\n",
	    Amped::slurp("$dir/out"));
	stop($started);
	return undef;
}

sub stop {
	my ($running) = @_;

	Amped::Process::kill_session($running->{pid});
	waitpid($running->{pid}, 0);
	$running->{status} = 0;
	$started = undef;
	$running->discard if ref($running) eq 'Amped';
}

END {
	if ($$ == $by) {
		my $status = $?;

		stop($started) if $started && !defined($started->{status});
		eval { group_gone() };
		$? = $status;
	}
}

# Of all of its processes, so far.
sub major_faults {
	my ($session) = @_;
	my $n = 0;

	$n += (Amped::Process::stat_fields($_->{pid}))[12] // 0
	    for Amped::Process::of_session($session);
	return $n;
}

#
# A group of processes with little memory
#

my ($groups, $knob) = -d '/sys/fs/cgroup/memory' ?
    ('/sys/fs/cgroup/memory', 'memory.limit_in_bytes') :
    ('/sys/fs/cgroup', 'memory.max');
my $group = "$groups/amped-bench-$$";

# Puts all processes of a session into it; what they start later is in it too.
sub group_limit {
	my ($session, $bytes) = @_;

	mkdir($group);
	for my $pair ([$knob, $bytes], map { ['cgroup.procs', $_->{pid}] }
	    Amped::Process::of_session($session)) {
		open(my $fh, '>', "$group/$pair->[0]") or return 0;
		syswrite($fh, $pair->[1]) or return 0;
	}
	return 1;
}

# When they have ended.
sub group_gone {
	await('the group to be empty', sub { !-d $group || rmdir($group) });
}

#
# Figures
#

sub median {
	my @sorted = sort { $a <=> $b } @_;

	return $sorted[$#sorted / 2];
}

# The median of what each round says, or of a part of it.
sub of_rounds {
	my ($results, $which, $what) = @_;

	return median(map { $which ? $_->{$which}{$what} : $_->{$what} }
	    @$results);
}

1;
