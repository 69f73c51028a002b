# Amped::Proxy: a proxy of another project in front of a server.
#
# It runs in the foreground, so that it can be ended with all its processes.
package Amped::Proxy;

use strict;
use warnings;

use IO::Socket::INET;

use Amped qw(await docroot free_port slurp write_file);
use Amped::Client;
use Amped::Foreign;
use Amped::Process;

my @started;

# By program: a conf with %PORT, %SERVER (the address of the server) and %DIR,
# and the command that reads it.
#	http	tells in fields of requests who the client is
#	tcp	tells so by the PROXY protocol, of the version %VERSION
#	frame	what there must be around lines of the manual, %TEXT
my %kinds = (
	haproxy => {
		command => [qw(haproxy -q -db -f %CONF)],
		http => <<'END',
defaults
	mode http
	timeout connect 10s
	timeout client 30s
	timeout server 30s
listen front
	bind 127.0.0.1:%PORT
	option forwardfor
	http-request set-header X-Forwarded-Proto http
	server amped %SERVER
END
		tcp => <<'END',
defaults
	mode tcp
	timeout connect 10s
	timeout client 30s
	timeout server 30s
listen front
	bind 127.0.0.1:%PORT
	server amped %SERVER %VERSION
END
		frame => <<'END',
defaults
	timeout connect 10s
	timeout client 30s
	timeout server 30s
%TEXT
END
		versions => { 1 => 'send-proxy', 2 => 'send-proxy-v2' },
		unix => 'unix@',
	},
	nginx => {
		command => [qw(nginx -p %DIR -c %CONF -e %DIR/errors)],
		http => <<'END',
daemon off;
master_process off;
pid %DIR/pid;
events { }
http {
	access_log off;
	client_body_temp_path %DIR/body;
	proxy_temp_path %DIR/proxy;
	fastcgi_temp_path %DIR/fastcgi;
	uwsgi_temp_path %DIR/uwsgi;
	scgi_temp_path %DIR/scgi;
	upstream amped { server %SERVER; keepalive 4; }
	server {
		listen 127.0.0.1:%PORT;
		location / {
			proxy_pass http://amped;
			proxy_http_version 1.1;
			proxy_set_header Connection "";
			proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
			proxy_set_header X-Forwarded-Proto $scheme;
			proxy_set_header Host $http_host;
		}
	}
}
END
		frame => <<'END',
daemon off;
master_process off;
pid %DIR/pid;
events { }
http {
	access_log off;
	client_body_temp_path %DIR/body;
	proxy_temp_path %DIR/proxy;
	fastcgi_temp_path %DIR/fastcgi;
	uwsgi_temp_path %DIR/uwsgi;
	scgi_temp_path %DIR/scgi;
	%TEXT
}
END
		unix => 'unix:',
	},
	caddy => {
		command => [qw(caddy run --config %CONF --adapter caddyfile)],
		http => <<'END',
{
	admin off
	auto_https off
}
http://:%PORT {
	bind 127.0.0.1
	reverse_proxy %SERVER {
		header_down -Server
	}
}
END
		frame => <<'END',
{
	admin off
	auto_https off
}
%TEXT
END
		unix => 'unix/',
	},
	stunnel => {
		command => [qw(stunnel %CONF)],
		tcp => <<'END',
foreground = yes
pid =
syslog = no
debug = 3
[front]
accept = 127.0.0.1:%PORT
connect = %SERVER
cert = %DIR/both.pem
protocol = proxy
END
		versions => { 1 => '' },
	},
);

# Starts a proxy.
#	to	the server's address, or its socket as unix:/PATH
#	version	of the PROXY protocol; none: fields of requests
#	cert	a file with a certificate and its key, for stunnel
#	text	lines of its conf, with %PORT, in place of those above
sub start {
	my ($class, $program, %opt) = @_;
	my $kind = $kinds{$program};
	my $self = bless({ program => $program, dir => docroot(),
	    port => free_port() }, $class);
	my $server = ($opt{to} // '') =~ s{^unix:}{$kind->{unix}}r;
	my %value = (DIR => $self->{dir}, CONF => "$self->{dir}/conf",
	    PORT => $self->{port}, SERVER => $server,
	    VERSION => $kind->{versions}{$opt{version} // 0} // '',
	    TEXT => ($opt{text} // '') =~ s/%PORT/$self->{port}/gr);

	write_file("$self->{dir}/both.pem", slurp($opt{cert})) if $opt{cert};
	write_file("$self->{dir}/conf", fill($kind->{$opt{text} ? 'frame' :
	    $opt{version} ? 'tcp' : 'http'}, %value));
	$self->{pid} = Amped::spawn([map { fill($_, %value) }
	    @{$kind->{command}}], ("$self->{dir}/out") x 2);
	push(@started, $self);
	await("$program to listen", sub {
		die "$program has ended: " . slurp("$self->{dir}/out")
		    if waitpid($self->{pid}, 1) == $self->{pid};
		IO::Socket::INET->new(PeerAddr => '127.0.0.1',
		    PeerPort => $self->{port});
	});
	return $self;
}

sub fill {
	my ($text, %value) = @_;

	return $text =~ s/%([A-Z]+)/$value{$1} \/\/ "%$1"/ger;
}

sub port { return $_[0]{port} }

# The answer to a request, from an address of this host.
sub get {
	my ($self, $target, %opt) = @_;
	my $client = Amped::Client->new(port => $self->{port},
	    from => $opt{from} // '127.0.0.1');

	$client->send(join("\r\n", "GET $target HTTP/1.1",
	    'Host: ' . ($opt{host} // 'localhost'), @{$opt{fields} // []},
	    'Connection: close', '', ''));
	return $client->response;
}

sub stop {
	my ($self) = @_;

	Amped::Process::kill_session($self->{pid});
	waitpid($self->{pid}, 0);
	@started = grep { $_ != $self } @started;
}

END {
	my $status = $?;
	$_->stop for @started;
	$? = $status;
}

1;
