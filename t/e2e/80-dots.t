#!/usr/bin/perl
# Directories whose names have "..": programs of all kinds get names without,
# and a link on the way leads to where the system says.
# arch: one: the conf is the same in all
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use Amped qw(run_amped write_file);
use Amped::Applications;
use Amped::Programs;
use Test::More;

my $programs = Amped::Programs->new('deep/etc/' => '', 'deep/er/' => '',
    'deep/www/a.fast' => '', 'deep/www/a.scgi' => '', 'deep/www/a.cgi' => '',
    'deep/www/x.shtml' => '<!--#echo var="DOCUMENT_URI" -->', 'run/' => '',
    'deep/a.example/a.cgi' => '', 'bin/' => '');
my $dir = $programs->dir;
symlink("$dir/deep/er", "$dir/way") or die "symlink: $!\n";
symlink("$dir/cgi", "$dir/deep/cgi") or die "symlink: $!\n";

my %file = map { $_ => Amped::Applications::make($programs, $_, $_,
    'put_all();') } qw(fastcgi scgi);
my $scgi = Amped::Applications::place('unix', "$dir/run", 's');
my $fast = Amped::Applications::place('unix', "$dir/run", 'f');
my @servers = (Amped::Applications->serve($file{scgi}, $scgi),
    Amped::Applications->serve($file{fastcgi}, $fast));

my $run = join('; ', 'run fast for *.fast', 'run cgi for *.cgi',
    'run scgi for *.scgi', 'run kept for *.kept', 'chain page for *.shtml');
write_file("$dir/deep/www/a.kept", '');
write_file("$dir/deep/etc/site.conf", <<"END");
site default {
	listen 127.0.0.1:0
	root ../www
	$run
	path /cgi { cgi ../cgi }
	path /own { run own }
	path /beside { alias ../etc/.././er/../www; $run }
	path /linked { alias $dir/way/../www; $run }
}
site a.example {
	listen 127.0.0.1:0
	root ../%host
	$run
}
program own { directory ../cgi; nice 0 }
END
my $server = $programs->{server} = Amped->start(root => $programs->www, sites => <<"END");
include $dir/deep/etc/site.conf
program fast { fastcgi $fast }
program scgi { scgi $scgi }
program kept { fastcgi $file{fastcgi}; nice 0 }
program cgi { command $dir/cgi/env; nice 0 }
program ssi { filter ssi }
chain page { filters ssi }
END

sub variables {
	my ($target, @options) = @_;
	my $answer = $programs->get($target, @options);

	is($answer->{status}, 200, $target);
	return Amped::Programs::variables($answer);
}

for my $prefix ('', '/beside', '/linked') {
	for my $kind (qw(fast scgi kept cgi)) {
		my $got = variables("$prefix/a.$kind");
		is($got->{SCRIPT_FILENAME}, "$dir/deep/www/a.$kind",
		    '... its file');
		is($got->{DOCUMENT_ROOT}, "$dir/deep/www", '... its root');
	}
	is($programs->get("$prefix/x.shtml")->{body}, "$prefix/x.shtml",
	    "a filter's $prefix");
}
is(variables('/cgi/env')->{SCRIPT_FILENAME}, "$dir/deep/cgi/env", '... cgi');
is(variables('/own/env')->{SCRIPT_FILENAME}, "$dir/deep/cgi/env",
    '... directory');
is(variables('/a.cgi', host => 'a.example')->{DOCUMENT_ROOT},
    "$dir/deep/a.example", '... of a host');

# What is not there is named as the conf names it.
my (undef, undef, $err) = run_amped('-t', '-f', do {
	write_file("$dir/deep/etc/wrong.conf",
	    "site default { listen 127.0.0.1:0; root ../none/../www }\n");
	"$dir/deep/etc/wrong.conf" });
like($err, qr{etc/\.\./none/\.\./www: No such file}, 'what is not there');

done_testing();
