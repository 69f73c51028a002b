#!/usr/bin/perl
# A browser loads a page of thirty objects without a failed request.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use Amped qw(docroot patience slurp);
use Test::More;

my ($browser) = grep { system("command -v $_ >/dev/null 2>&1") == 0 }
    qw(chromium chromium-browser google-chrome);
plan(skip_all => 'there is no chromium') unless defined($browser);

# Each object leaves its mark on the page, so that the page shows what was
# used, not only what was asked for.
my %files = ('favicon.ico' => '');
my $body = '';
for my $n (1 .. 10) {
	$files{"s/$n.js"} = "document.title += 'j';\n";
	$files{"s/$n.css"} = "#p$n { width: 7px }\n";
	$files{"i/$n.svg"} = '<svg xmlns="http://www.w3.org/2000/svg" ' .
	    "width=\"1$n\" height=\"1\"></svg>\n";
	$body .= "<link rel=stylesheet href=s/$n.css><div id=p$n></div>" .
	    "<img src=i/$n.svg><script src=s/$n.js></script>\n";
}
$files{'index.html'} = "<!DOCTYPE html><title></title><body>$body" . <<'END';
<script>
onload = function () {
	var good = 0;
	for (var i = 0; i < document.images.length; i++)
		good += document.images[i].naturalWidth > 0;
	for (var n = 1; n <= 10; n++)
		good += document.getElementById('p' + n).offsetWidth == 7;
	document.body.dataset.good = good + document.title.length;
};
</script>
END
my $server = Amped->start(files => \%files);
my $home = docroot();
my $page = `timeout @{[patience()]} $browser --headless --no-sandbox \\
    --disable-gpu --disable-dev-shm-usage --no-first-run \\
    --user-data-dir=$home --dump-dom \\
    http://127.0.0.1:@{[$server->port]}/ 2>$server->{dir}/browser.log`;
is($?, 0, "$browser") or diag(slurp("$server->{dir}/browser.log"));
like($page, qr/data-good="30"/, 'thirty objects work');

my @lines = $server->wait_lines(31);
my %asked;
for my $line (@lines) {
	my ($target, $status) = $line =~ /"GET (\S+) HTTP[^"]*" (\d+)/;
	$asked{$target} = $status;
}
is_deeply([grep { ($asked{"/$_"} // 0) != 200 } grep { m{/} } keys(%files)],
    [], 'each was asked for and sent');
is_deeply([grep { !/" (200|304) / } @lines], [], 'no request failed');

$server->stop;
done_testing();
