#!/usr/bin/perl
# A root that the server's user may not come to: which directory is in the way
# is said at the start, when the conf is read again, and by -t.
# arch: pair
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use Amped qw(docroot);
use Test::More;

plan(skip_all => 'who is not root reads the conf as who serves') if $> != 0;

my $dir = docroot('open/a' => 'a', 'closed/deep/b' => 'b', 'itself/c' => 'c',
    'alias/d' => 'd');

chmod(0700, "$dir/closed", "$dir/itself") == 2 or die "chmod: $!\n";
my $server = Amped->start(root => "$dir/open", site =>
    "\tpath /b {\n\t\troot $dir/closed/deep\n\t}\n" .
    "\tpath /b2 {\n\t\talias $dir/closed/deep\n\t}\n" .
    "\tpath /c {\n\t\talias $dir/itself\n\t}\n" .
    "\tpath /d {\n\t\talias $dir/alias\n\t}\n");
my ($status, undef, $checked) = Amped::run_amped('-t', '-f',
    "$server->{dir}/amped.conf");
is($status, 0, '-t: the conf is fine');
like($checked, qr/^amped: .* is fine: 1 site on 127\.0\.0\.1:0$/m,
    '-t says so');
my @warned = $checked =~ /user \S+ may not enter (\S+), so nothing of (\S+)/g;
is_deeply(\@warned, ["$dir/closed", "$dir/closed/deep", "$dir/itself", 'it'],
    '-t warns, too') or diag($checked);
my @said = $server->errors =~ /warn: (user .* may not enter .*)/g;
is(@said, 2, 'each directory in the way is told of, once') or diag(@said);
like(join("\n", @said), qr{may\ not\ enter\ \Q$dir\E/closed,\ so\ nothing\ of
    \ \Q$dir\E/closed/deep\ can\ be\ served:\ .*chmod}x, 'that above a root');
like(join("\n", @said), qr{may not enter \Q$dir\E/itself,}, 'that itself');
is($server->get('/a')->{body}, 'a', 'all else is served');
is($server->get('/c/c')->{status}, 403, 'that is not');
chmod(0755, "$dir/closed") or die "chmod: $!\n";
kill('HUP', $server->{pid});
$server->wait_line(qr/has been read again/);
@said = $server->errors =~ /warn: user .* may not enter (\S+),/g;
is($said[-1], "$dir/itself", 'HUP: the one that is left');
is(@said, 3, 'and no other');
chmod(0755, "$dir/itself") or die "chmod: $!\n";
is($server->get('/c/c')->{body}, 'c', 'opened: it serves');
$server->stop;

done_testing();
