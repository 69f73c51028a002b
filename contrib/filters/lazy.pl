#!/usr/bin/perl
#
# lazy: has browsers load the pictures of a page as these come into view.
#
# A filter of amped by FastCGI, whose process stays: see amped-filters(7).
#
use strict;
use warnings;

use FCGI;
use IO::Handle;

my ($in, $out, $err) = map { IO::Handle->new } 1 .. 3;
my $request = FCGI::Request($in, $out, $err, \my %variables);

while ($request->Accept >= 0) {
	# Standard input is empty, but must be read to its end before the page.
	read($in, my $page, 1);
	$request->StartFilterData;
	read($in, $page, $variables{FCGI_DATA_LENGTH});

	$page =~ s/<img (?![^>]*\bloading=)/<img loading="lazy" /gi;

	# The length shows the server whether all has come.
	print $out "Content-Type: text/html\r\n",
	    'Content-Length: ', length($page), "\r\n\r\n", $page;
}
