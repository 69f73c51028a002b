# Bench::Codings: compression on the fly by amped and by other servers, of the
# same documents and at the same levels.
package Bench::Codings;

use strict;
use warnings;

use Time::HiRes qw(time);

use Amped qw(await docroot free_port slurp write_file);
use Amped::Coding qw(decoded has_codings);
use Bench::Server;

my @sets = ({ gzip => 1, br => 1, zstd => 1 },
    { gzip => 6, br => 5, zstd => 3 }, { gzip => 9, br => 9, zstd => 9 });

# codings: what the server can do; fixed: those without a level in its conf
# (with one, lighttpd 1.4.69 dies of a request for br).  module: the file without which it cannot.
my @peers = (
	{ name => 'nginx', program => 'nginx', codings => ['gzip'],
	    args => sub { ('-c', $_[0]) }, conf => <<'END' },
%MODULE
%USER
daemon off;
worker_processes 1;
pid %DIR/pid;
error_log %DIR/log;
events { }
http {
	access_log off;
	default_type text/plain;
	client_body_temp_path %DIR/t1;
	proxy_temp_path %DIR/t2;
	fastcgi_temp_path %DIR/t3;
	uwsgi_temp_path %DIR/t4;
	scgi_temp_path %DIR/t5;
	gzip on;
	gzip_types text/plain;
	gzip_comp_level %GZIP;
	%BROTLI
	server { listen 127.0.0.1:%PORT; root %ROOT; }
}
END
	{ name => 'lighttpd', program => 'lighttpd',
	    codings => [qw(gzip br zstd)],
	    fixed => { gzip => 1, br => 1, zstd => 1 },
	    module => '/usr/lib*/lighttpd/mod_deflate.so',
	    args => sub { ('-D', '-f', $_[0]) }, conf => <<'END' },
server.document-root = "%ROOT"
server.bind = "127.0.0.1"
server.port = %PORT
server.errorlog = "%DIR/log"
server.modules = ( "mod_deflate" )
mimetype.assign = ( "" => "text/plain" )
deflate.mimetypes = ( "text/" )
deflate.allowed-encodings = ( "gzip", "br", "zstd" )
END
	{ name => 'caddy', program => 'caddy', codings => [qw(gzip zstd)],
	    fixed => { zstd => 1 }, args => sub { ('run', '--adapter',
	    'caddyfile', '--config', $_[0]) }, conf => <<'END' },
{
	admin off
	auto_https off
}
http://localhost:%PORT {
	bind 127.0.0.1
	root * %ROOT
	header Content-Type text/plain
	encode {
		gzip %GZIP
		zstd
	}
	file_server
}
END
);

my @running;

END {
	local $?;

	kill('TERM', @running);
	waitpid($_, 0) for @running;
}

# What brotli needs in nginx's conf; undef: it is not there.
sub find_brotli {
	my ($module) = map { glob("$_/ngx_http_brotli_filter_module.so") }
	    '/usr/lib*/nginx/modules', '/usr/local/lib*/nginx/modules';

	return $module;
}

# The peers that are installed; tells of the others.
sub find_peers {
	my @found;

	for my $peer (@peers) {
		$peer->{path} = Bench::Server::which($peer->{program});
		if (!$peer->{path} || ($peer->{module} &&
		    !glob($peer->{module}))) {
			print "codings: $peer->{name} is left out: there is " .
			    'no ', $peer->{path} ? $peer->{module} :
			    $peer->{program}, "\n";
			next;
		}
		push(@found, $peer);
		next unless $peer->{name} eq 'nginx';
		if (find_brotli()) {
			push(@{$peer->{codings}}, 'br');
		} else {
			print "codings: nginx has no module of brotli here\n";
		}
	}
	return @found;
}

# Starts a peer; its port.
sub start_peer {
	my ($peer, $root, $levels) = @_;
	my $dir = docroot(log => '');
	my $module = find_brotli();
	my %value = (ROOT => $root, PORT => free_port(), DIR => $dir,
	    USER => $> == 0 ? 'user ' . Amped::ordinary_user() . ';' : '',
	    MODULE => $module ? "load_module $module;" : '',
	    BROTLI => $module ? "brotli on;\n\tbrotli_types text/plain;\n\t" .
	    "brotli_comp_level $levels->{br};" : '',
	    map { uc($_) => $levels->{$_} } keys(%$levels));

	chmod(0777, $dir);
	write_file("$dir/conf", $peer->{conf} =~ s/%([A-Z]+)/$value{$1}/gr);
	local $ENV{HOME} = $dir;
	my $pid = Amped::spawn([$peer->{path}, $peer->{args}->("$dir/conf")],
	    "$dir/log", "$dir/log");
	push(@running, $pid);
	await("$peer->{name} to listen: see $dir/log", sub {
		die slurp("$dir/log") if waitpid($pid, 1) > 0;
		return IO::Socket::INET->new(PeerAddr => '127.0.0.1',
		    PeerPort => $value{PORT});
	});
	return $value{PORT};
}

sub ask {
	my ($port, $name, $coding) = @_;
	my $client = Amped::Client->new(port => $port, relayed => 1);

	$client->send("GET /$name HTTP/1.1\r\nHost: localhost:$port\r\n" .
	    "Accept-Encoding: $coding\r\nConnection: close\r\n\r\n");
	return $client->response('GET');
}

# Bytes of all documents, ms of all requests for the first time and again, and
# how many bodies were not those of the documents.
sub measure {
	my ($port, $coding, $documents) = @_;
	my %sum = (bytes => 0, first => 0, again => 0, wrong => 0);

	for my $round (qw(first again)) {
		for my $name (sort(keys(%$documents))) {
			my $before = time();
			my $answer = ask($port, $name, $coding);

			$sum{$round} += (time() - $before) * 1000;
			$sum{bytes} += length($answer->{body})
			    if $round eq 'first';
			$sum{wrong}++ unless ($answer->{field}
			    {'content-encoding'} // '') eq $coding &&
			    (eval { decoded($answer) } // '') eq
			    $documents->{$name};
		}
	}
	return \%sum;
}

sub say_row {
	my ($name, $coding, $level, $sum, $documents) = @_;

	printf("codings: %-8s %-4s %5s: %7d bytes, %6.1f ms, again %6.1f ms" .
	    "; wrong %d\n", $name, $coding, $level, @{$sum}{qw(bytes first
	    again wrong)});
	return $sum->{wrong};
}

sub count_compressions {
	my ($server) = @_;
	my ($n) = $server->get('/status?json')->{body} =~
	    /"compressions":\s*(\d+)/;

	return $n;
}

# Compares amped with the peers; whether a body was wrong, or amped has
# compressed a version more than once.
sub compare {
	my $source = Amped::source_dir();
	my $root = docroot();
	my %documents = map { m{([^/]+)\z}; $1 => slurp($_) }
	    glob("$source/man/*.[1-9]"), "$source/ChangeLog";
	my @codings = has_codings() ? qw(gzip br zstd) : 'gzip';
	my @peers = find_peers();
	my ($wrong, $plain) = (0, 0);

	for my $name (keys(%documents)) {
		write_file("$root/$name", $documents{$name});
		# Old enough for a version that is kept.
		utime(time() - 100, time() - 100, "$root/$name");
		$plain += length($documents{$name});
	}
	printf("codings: %d documents, %d bytes\n", scalar(keys(%documents)),
	    $plain);
	for my $levels (@sets) {
		my $server = Amped->start(root => $root, global => 'limits { ' .
		    'compress ' . join(' ', map { "$_ $levels->{$_}" }
		    @codings) . " }\n", log => "\taccess off\n\terror " .
		    "stderr notice\n", site => "\tcompress " .
		    join(' ', @codings) . "\n\tcharset utf-8\n" .
		    "\tfiles * { type text/plain }\n" .
		    "\tpath /status { status on }\n");
		# A version that is not settled is compressed again.
		await("$_ to settle", sub { $server->get("/$_")->{field}{etag}
		    =~ /^"/ }) for keys(%documents);
		my %port = map { $_->{name} => start_peer($_, $root, $levels) }
		    @peers;

		for my $coding (@codings) {
			$wrong += say_row('amped', $coding, $levels->{$coding},
			    measure($server->port, $coding, \%documents));
			for my $peer (grep { grep({ $_ eq $coding }
			    @{$_->{codings}}) } @peers) {
				$wrong += say_row($peer->{name}, $coding,
				    $peer->{fixed}{$coding} ? 'fixed' :
				    $levels->{$coding}, measure(
				    $port{$peer->{name}}, $coding,
				    \%documents));
			}
		}
		my $n = count_compressions($server);
		my $want = @codings * keys(%documents);
		printf("codings: amped has compressed %d times: %s\n", $n,
		    $n == $want ? 'once for each version and coding' :
		    "MISSED ($want)");
		$wrong += $n != $want;
		$server->stop;
		kill('TERM', @running);
		waitpid($_, 0) for splice(@running);
	}
	return $wrong;
}

1;
