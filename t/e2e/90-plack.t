#!/usr/bin/perl
# Plack's own tests of servers, over CGI, FastCGI and SCGI, beneath a path and at
# the root of a site: each case of them is a test here, and a table has those
# that ask for what CGI leaves to the server.
# arch: one: the cases are about what a program gets and answers
# Debian: libplack-perl libfcgi-perl
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use Amped qw(await);
use Amped::Applications;
use Amped::Programs;
use Test::More;

alarm(20 * Amped::timeout());

plan(skip_all => 'there is no Plack::Test::Suite')
    unless eval { require Plack::Test::Suite };
plan(skip_all => 'there is no FCGI for Perl') unless eval { require FCGI };

my @cases = do { no warnings 'once'; @Plack::Test::Suite::TEST };
my $programs = Amped::Programs->new('run/' => '');
my $dir = $programs->dir;

# The application that has all cases.  An error in it is a response 500, which
# Plack leaves to each of its servers.
my $application = <<'END';
use Plack::Middleware::Lint;
use Plack::Test::Suite;
use Plack::Util;
my $checked = Plack::Middleware::Lint->wrap(
    Plack::Test::Suite->test_app_handler);
my $application = sub { Plack::Util::run_app($checked, $_[0]) };
END

my %file = (
	cgi => $programs->perl('cgi/plack', "use Plack::Handler::CGI;\n" .
	    "$application\nPlack::Handler::CGI->new->run(\$application);\n"),
	pool => $programs->perl('bin/pool', "use Plack::Handler::FCGI;\n" .
	    "$application\nPlack::Handler::FCGI->new->run(\$application);\n"),
	server => $programs->perl('bin/server', "use Plack::Handler::FCGI;\n" .
	    "$application\nPlack::Handler::FCGI->new(listen => " .
	    "['$dir/run/fcgi'],\n    manager => undef)" .
	    "->run(\$application);\n"),
	scgi => Amped::Applications::make($programs, 'scgi', 'scgi', <<'END'),
	# Plack has no server of SCGI: its one of CGI with other ends.
	our $application //= eval($ENV{PLACK_APPLICATION} .
	    ' use Plack::Handler::CGI; $application') // die $@;
	my $body = take_body();
	my $answer = '';
	local %ENV = %{$request{params}};
	local (*STDIN, *STDOUT);
	open(STDIN, '<', \$body);
	open(STDOUT, '>', \$answer);
	Plack::Handler::CGI->new->run($application);
	put($answer);
END
);
$ENV{PLACK_APPLICATION} = $application;
my $scgi = Amped::Applications->serve($file{scgi}, "unix:$dir/run/scgi");
my $fcgi = Amped::spawn([$file{server}], '/dev/null', '/dev/null');

END {
	if ($fcgi) {
		local $?;
		kill('TERM', $fcgi);
		waitpid($fcgi, 0);
	}
}

await('the server of FastCGI', sub { -S "$dir/run/fcgi" });
chmod(0666, "$dir/run/fcgi");

my %program = (
	cgi => "command $file{cgi}",
	pool => "fastcgi $file{pool}\n\tmost 2",
	server => "fastcgi unix:$dir/run/fcgi",
	scgi => "scgi unix:$dir/run/scgi",
);

# Cases with another outcome, by protocol: the rule, and what is to come.  Over
# FastCGI, Plack makes PATH_INFO of REQUEST_URI, so these are as it wants them.
my %others = map { $_ => { 'repeated slashes' => ['RFC 3875, 8.1: a server ' .
    'defines whether a path has empty segments', sub {
	my ($ask) = @_;

	is($ask->(HTTP::Request->new(GET => 'http://127.0.0.1//foo///bar/baz'))
	    ->content, '/foo/bar/baz', 'PATH_INFO has none');
    }] } } qw(cgi scgi);

for my $name (qw(server pool scgi cgi)) {
	my $server = Amped->start(root => $programs->www, errors => 1,
	    global => "program plack {\n\t$program{$name}\n" .
	    "\tauthorization pass\n}\n", site => "run plack\n" .
	    "path /deep/app { run plack }\n");
	try_cases($name, $server, $_) for '', '/deep/app';
	$server->stop;
}

sub try_cases {
	my ($name, $server, $prefix) = @_;
	my $client = Plack::LWPish->new(no_proxy => ['127.0.0.1']);

	local $ENV{PLACK_TEST_SCRIPT_NAME} = $prefix;
	for my $i (0 .. $#cases) {
		my ($what, $check) = @{$cases[$i]};
		my ($rule, $other) = @{$others{$name}{$what} // []};

		$what .= " ($rule)" if $rule;
		subtest("$name at '$prefix': $what", sub {
		    ($other // $check)->(sub {
			my ($request) = @_;

			$request->uri->port($server->port);
			$request->uri->path($prefix . $request->uri->path);
			$request->header('X-Plack-Test' => $i);
			return $client->request($request);
		}) });
	}
}

done_testing();
