# Bench::Gateways: the servers with programs behind them, for each way to reach
# these, and the processes that a server has beside it for that.
package Bench::Gateways;

use strict;
use warnings;

use Amped qw(write_file);
use Bench::Server;

use constant {
	WRAPPERS => 64,		# of fcgiwrap, none of which does more than one
				# thing at a time
	STAYING => 64,		# programs of FastCGI: as many as clients, as
				# one that keeps its connection is nobody else's
	PHP => 8,		# processes of PHP-FPM
};

# Who is compared, by mark of a conf.
our %names = (
	cgi => [qw(amped before lighttpd apache fcgiwrap)],
	fastcgi => [qw(amped before nginx lighttpd apache fcgid)],
	php => [qw(amped before nginx lighttpd apache)],
);

# What says hello there.
our %hello = (cgi => '/cgi-bin/hello', fastcgi => '/app', php => '/hello.php');

# Servers by another way, and so with another name.
my $fcgid = { name => 'fcgid', program => 'apache2', or => 'httpd',
    conf => 'apache', peer => 1,
    args => sub { ('-DFOREGROUND', '-DFCGID', '-f', $_[0]) } };
my $fcgiwrap = { name => 'fcgiwrap', program => 'nginx', conf => 'nginx',
    peer => 1, args => sub { ('-c', $_[0]) } };

# A command of the shell, as the user that the server becomes.
sub as_user {
	my ($command) = @_;

	return ($> == 0 ? 'setpriv --reuid=' . Amped::ordinary_user() .
	    ' --clear-groups ' : '') . $command;
}

# The beginning of a command that starts another one first.
sub beside {
	my ($command) = @_;

	return ('/bin/sh', '-c', as_user($command) . ' & exec "$@"', 'sh');
}

sub start_wrappers {
	my ($server) = @_;

	return beside("'" . Bench::Server::which('fcgiwrap') . "' -c " .
	    WRAPPERS . " -s 'unix:$server->{dir}/fcgiwrap'");
}

sub start_app {
	my ($server) = @_;

	return beside("'$server->{app}' '$server->{dir}/app' " . STAYING);
}

sub php_fpm {
	return Bench::Server::which('php-fpm', map { "php-fpm$_" }
	    qw(8.4 8.3 8.2 8.1 8.0 7.4));
}

# Starts a PHP-FPM with its socket php and its log fpm.log in a directory.  What
# runs may end when it is told to.
sub php_command {
	my ($dir) = @_;

	write_file("$dir/fpm.conf", "[global]\nerror_log = $dir/fpm.log\n" .
	    "daemonize = no\nprocess_control_timeout = 10s\n[www]\n" .
	    "listen = $dir/php\nlisten.mode = 0666\npm = static\n" .
	    'pm.max_children = ' . PHP . "\n");
	return as_user("'" . php_fpm() . "' -n -F -y '$dir/fpm.conf'");
}

sub start_php {
	my ($server) = @_;

	return ('/bin/sh', '-c', php_command($server->{dir}) .
	    ' & exec "$@"', 'sh');
}

# What is started beside each.
my %beside = (
	cgi => { fcgiwrap => \&start_wrappers },
	fastcgi => { map { $_ => \&start_app } qw(nginx apache relay) },
	php => { map { $_ => \&start_php } @{$names{php}} },
);

# Why one cannot be had; '' if it can.
sub missing {
	my ($kind, $server) = @_;
	my $path = eval { Bench::Server::program($server) };

	return $@ =~ s/\s+\z//r if $@;
	return 'there is no fcgiwrap' if $server->{name} eq 'fcgiwrap' &&
	    !Bench::Server::which('fcgiwrap');
	return 'there is no mod_fcgid' if $server->{name} eq 'fcgid' &&
	    !-e Bench::Server::MODULES . '/mod_fcgid.so';
	return 'there is no php-fpm' if $kind eq 'php' && !php_fpm();
	return $path ? '' : 'there is no ' . ($server->{program} //
	    '$AMPED_BEFORE');
}

# Those that are there, of these names, if there are any; why the others are
# not is told.
sub installed {
	my ($kind, $tell, @wanted) = @_;
	my %known = map { $_->{name} => $_ } $fcgid, $fcgiwrap,
	    Bench::Server::of_names(map { @$_ } values(%names));
	my %here = map { $_ => 1 } @{$names{$kind}};
	my @there;

	$known{$_} or die "there is no server $_\n" for @wanted;
	@wanted = grep { $_ ne 'before' || $ENV{AMPED_BEFORE} }
	    @{$names{$kind}} unless @wanted;
	for my $name (grep { $here{$_} } @wanted) {
		my $why = missing($kind, $known{$name});

		push(@there, { %{$known{$name}}, kind => $kind,
		    beside => $beside{$kind}{$name} }) unless $why;
		$tell->("$name is left out: $why") if $why;
	}
	return @there;
}

# The ceiling of FastCGI.
sub relay {
	my ($path) = @_;

	return { name => 'relay', path => $path, kind => 'fastcgi',
	    beside => $beside{fastcgi}{relay}, command => sub {
		my ($server) = @_;
		return ($server->{port}, "$server->{dir}/app", STAYING);
	    } };
}

# How a server of a kind is told of its programs: options of Bench::Server.
sub told {
	my ($kind, $app) = @_;

	return ($kind => 1, app => $app, processes =>
	    $kind eq 'php' ? PHP : STAYING);
}

1;
