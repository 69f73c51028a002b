#!/usr/bin/perl
# Paths with a directory of their own: root and alias, and that nothing
# outside of it comes out.
# arch: pair
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use Amped qw(docroot);
use Test::More;

my $secret = "the secret outside\n";
my $all = docroot(
	'www/index.html' => "home\n", 'www/img/a.png' => "hidden by alias\n",
	'www/imgs/a.png' => "another name\n", 'www/secret' => "public\n",
	'pictures/a.png' => "a picture\n", 'pictures/deep/b.png' => "deep\n",
	'pictures/index.html' => "pictures\n", 'pictures/.git/x' => $secret,
	'secret' => $secret, 'picturessecret' => $secret,
	'docs/doc/start.html' => "start\n", 'docs/doc/index.html' => "no\n",
	'docs/secret' => $secret,
);
symlink('../secret', "$all/pictures/out");
symlink('deep', "$all/pictures/within");
my $server = Amped->start(root => "$all/www", site => <<"END");
	path /img {
		alias $all/pictures
		header X-From alias
	}
	path /doc {
		root $all/docs
		index start.html
	}
	path /img/doc {
		alias $all/docs/doc
	}
END

# target, status, body or Location
my @cases = (
	['/', 200, "home\n"], ['/img/a.png', 200, "a picture\n"],
	['/img/deep/b.png', 200, "deep\n"], ['/img/', 200, "pictures\n"],
	['//img//a.png', 200, "a picture\n"],
	['/%69mg/a.png', 200, "a picture\n"],
	['/x/../img/a.png', 200, "a picture\n"],
	['/img/within/b.png', 200, "deep\n"],
	['/imgs/a.png', 200, "another name\n"],
	['/img', 301, '/img/'], ['/img?a=b', 301, '/img/?a=b'],
	['/img/deep', 301, '/img/deep/'], ['/img/deep/', 403],
	['/img/nothing', 404], ['/img/a.png/', 404],
	['/doc/', 200, "start\n"], ['/doc', 301, '/doc/'],
	['/doc/start.html', 200, "start\n"], ['/doc/doc/start.html', 404],
	['/img/doc/start.html', 200, "start\n"], ['/img/doc', 301, '/img/doc/'],
	['/img/out', 403], ['/img/.git/x', 403], ['/docs/secret', 404],
);
for my $case (@cases) {
	my ($target, $status, $what) = @$case;

	for my $time (1, 2) {
		my $answer = $server->get($target);
		is($answer->{status}, $status, "$target, time $time");
		is($status == 200 ? $answer->{body} :
		    $answer->{field}{location}, $what, 'what it is')
		    if defined($what);
	}
}
is($server->get('/img/a.png')->{field}{'x-from'}, 'alias', 'with its field');

# The mistakes that slashes make elsewhere, and every way up.
my @wrong;
for my $up ('..', '%2e%2e', '.%2e', '%2E%2E', '..%2f', '..%5c', '%252e%252e') {
	for my $way ("/img$up/secret", "/img/$up/secret", "/img$up/pictures/x",
	    "/img/$up/$up/secret", "/img/deep/$up/$up/secret",
	    "/img%2f$up/secret", "/img/%2f$up/secret", "/img//$up//secret",
	    "/doc/$up/secret", "/doc$up/secret", "/img/doc/$up/$up/$up/secret",
	    "/img/doc/$up/doc$up/secret", "/imgsecret", "/img.secret",
	    "/img%00/$up/secret") {
		my $answer = $server->get($way);
		# Up from a path is the site.
		push(@wrong, "$way: $answer->{status}") if
		    $answer->{body} =~ /secret outside/ ||
		    ($answer->{status} !~ /^40[034]$/ &&
		    $answer->{body} ne "public\n");
	}
}
is_deeply(\@wrong, [], 'nothing from outside');

$server->stop;
done_testing();
