#!/usr/bin/perl
# The examples of amped-filters(7): each conf is one, and does what the page
# says.  The module of contrib/filters is built as the page says.
# arch: one: what a filter makes has nothing to do with who waits for it
# Debian: imagemagick source-highlight
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use Amped qw(docroot slurp write_file);
use Test::More;

my $source = Amped::source_dir();
my $page = slurp("$source/man/amped-filters.7");
my %conf;
while ($page =~ /^\.\\" conf: (\w+)\n\.Bd -literal[^\n]*\n(.*?)^\.Ed$/msg) {
	$conf{$1} = $2 =~ s/\\e/\\/gr =~ s/\\&//gr;
}
is(join(' ', sort(keys(%conf))), 'highlight lazy minify pictures ssi',
    'all examples are tried');

my $dir = docroot('www/' => '');
my $www = "$dir/www";

# Starts a server by an example, with its directories here.
sub start {
	my ($name) = @_;
	my ($global, $site) = $conf{$name} =~
	    /\A(.*)^site default \{\n(.*)^\}\n\z/ms;

	s{/var/www/html}{$www}g, s{/usr/local/lib/amped}{$dir}g
	    for $global, $site;
	$site =~ s/^\t(?:listen|root) .*\n//mg;
	return Amped->start(root => $www, global => $global, site => $site,
	    errors => 1);
}

# Whether the program that an example needs is there; else skips n tests.
sub needs {
	my ($file, $n) = @_;

	skip("there is no $file", $n) unless -x $file;
}

write_file("$www/index.shtml", 'a <!--#include virtual="/part.html" -->');
write_file("$www/part.html", 'part');
my $server = start('ssi');
is($server->get('/')->{body}, 'a part', 'a page with parts');
$server->finish;

SKIP: {
	needs('/usr/bin/convert', 5);
	write_file("$www/pictures/a.png", '');
	system('/usr/bin/convert', '-size', '100x50', 'xc:red',
	    "$www/pictures/a.png") == 0 or die "convert\n";
	$server = start('pictures');
	my $whole = $server->get('/pictures/a.png');
	my $small = $server->get('/pictures/a.png?w=20');
	is($small->{status}, 200, 'a picture');
	is($small->{field}{'content-type'}, 'image/png', 'of its type');
	my ($width, $height) = unpack('x16 N N', $small->{body});
	is("${width}x$height", '20x10', 'as large as is asked for');
	is($server->get('/pictures/a.png')->{body}, $whole->{body},
	    'without a query as it is');
	is($server->get('/pictures/a.png?w=99999')->{status}, 400,
	    'no larger than may be');
	$server->finish;
}

SKIP: {
	needs('/usr/bin/source-highlight', 2);
	write_file("$www/source/a.c", "int main(void) { return 0; }\n");
	$server = start('highlight');
	my $answer = $server->get('/source/a.c');
	like($answer->{body}, qr{<b>.*main}, 'a program with colours');
	like($answer->{field}{'content-type'}, qr{^text/html}, 'as a page');
	$server->finish;
}

SKIP: {
	skip('there is no module FCGI of Perl', 3) unless eval { require FCGI };
	write_file("$dir/lazy.pl", slurp("$source/contrib/filters/lazy.pl"));
	chmod(0755, "$dir/lazy.pl");
	write_file("$www/p.html", '<IMG src="a"> <img loading="eager"> <b>' .
	    "\xc3\xa4</b>");
	write_file("$www/none.html", '');
	$server = start('lazy');
	is($server->get('/p.html')->{body}, '<img loading="lazy" src="a"> ' .
	    "<img loading=\"eager\"> <b>\xc3\xa4</b>", 'a program that stays');
	is($server->get('/none.html')->{body}, '', 'an empty page');
	unlike(slurp($server->{err}), qr/ warn: /, '... without a complaint');
	$server->finish;
}

SKIP: {
	skip('there is no cc', 4) if system('command -v cc > /dev/null');
	system('cc', '-shared', '-fPIC', '-O2', '-Wall', '-Werror',
	    "-I$source/helpers/filters", '-o', "$dir/minify.so",
	    "$source/contrib/filters/minify.c") == 0 or die "cc\n";
	chmod(0755, "$dir/minify.so");
	write_file("$www/m.html", "<p>\n  one   <b> two</b>\n\n<!-- no -->" .
	    "<pre>\n  kept  \n</pre>\n<!--[if IE]>x<![endif]-->\n</p>\n");
	$server = start('minify');
	is($server->get('/m.html')->{body}, '<p> one <b> two</b> ' .
	    "<pre>\n  kept  \n</pre> <!--[if IE]>x<![endif]--> </p> ",
	    'a smaller page');
	write_file("$www/e.html", '');
	is($server->get('/e.html')->{body}, '', 'an empty one');
	write_file("$dir/minify.so", 'no module');
	Amped::await('the page as it is', sub {
		$server->get('/m.html')->{body} eq slurp("$www/m.html") });
	$server->wait_line(qr/warn: minify\[\d+\]: .*minify\.so: /);
	pass('a module that is none costs nothing but itself');
	$server->finish;
}
done_testing();
