#!/usr/bin/perl
# A browser loads a page of a hundred objects, each once, over connections that
# it keeps open.
# arch: pair
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use Amped qw(content);
use Amped::Foreign qw(browse);
use Test::More;

# Each object leaves its mark on the page, so that the page shows what was
# used, not only what was asked for.
my %files = ('favicon.ico' => '');
my $body = '';
for my $n (1 .. 40) {
	my $filler = content("filler$n", $n * 997);

	$files{"i/$n.svg"} = '<svg xmlns="http://www.w3.org/2000/svg" ' .
	    "width=\"1$n\" height=\"1\"></svg><!-- $filler -->\n";
	$body .= "<img src=i/$n.svg>\n";
	next if $n > 30;
	$files{"s/$n.js"} = "document.title += 'j'; // $filler\n";
	$files{"s/$n.css"} = "#p$n { width: 7px } /* $filler */\n";
	$body .= "<link rel=stylesheet href=s/$n.css><div id=p$n></div>" .
	    "<script src=s/$n.js></script>\n";
}
$files{'index.html'} = "<!DOCTYPE html><title></title><body>$body" . <<'END';
<script>
onload = function () {
	var good = document.title.length, reused = 0;
	for (var i = 0; i < document.images.length; i++)
		good += document.images[i].naturalWidth > 0;
	for (var n = 1; n <= 30; n++)
		good += document.getElementById('p' + n).offsetWidth == 7;
	for (var e of performance.getEntriesByType('resource'))
		reused += e.connectStart == e.connectEnd;
	document.body.dataset.good = good;
	document.body.dataset.reused = reused;
};
</script>
END
my $server = Amped->start(files => \%files);
my $page = browse($server->url);
plan(skip_all => 'there is no chromium') unless defined($page);
like($page, qr/data-good="100"/, 'a hundred objects work');
my ($reused) = $page =~ /data-reused="(\d+)"/;
cmp_ok($reused // 0, '>=', 90, 'most came over a connection kept open');

# Lines are in the order of the requests: with this one, all are there.
$server->get('/?last');
$server->wait_line(qr{/\?last }, $server->{access});
my @lines = $server->wait_lines(102);
my %asked;
for my $line (@lines) {
	my ($target, $status) = $line =~ /"GET (\S+) HTTP[^"]*" (\d+)/;
	$asked{$target} .= $status;
}
is_deeply([grep { ($asked{"/$_"} // '') ne '200' } grep { m{/} }
    keys(%files)], [], 'each was asked for once, and sent');
is_deeply([grep { !/" (200|304) / } @lines], [], 'no request failed');

$server->stop;
done_testing();
