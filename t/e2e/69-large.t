#!/usr/bin/perl
# Large files that are asked for again and again, which are sent in another way
# than those that are not: the bytes are the same.
# arch: all
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use Amped qw(await content docroot slurp write_file);
use Test::More;

Amped::one_main_for_all();

# Larger than what a socket takes; of about one chunk; between.
my %files = (big => content('big', 9_000_001), one => content('one', 65_537),
    some => content('some', 400_000), tiny => content('tiny', 3));
my $root = docroot(%files, going => content('going', 9_000_001));
my $server = Amped->start(root => $root, errors => 1);
my $client = $server->connect;

sub send_request {
	my ($to, $name, $range) = @_;

	$to->send("GET /$name HTTP/1.1\r\nHost: x\r\n" .
	    (defined($range) ? "Range: bytes=$range\r\n" : '') . "\r\n");
}

sub whole {
	my ($name) = @_;

	send_request($client, $name);
	return $client->response->{body} eq $files{$name};
}

# Whether a response has these bytes, each from, to.
sub has {
	my ($answer, $name, @ranges) = @_;
	my @parts = map { substr($files{$name}, $_->[0],
	    $_->[1] - $_->[0] + 1) } @ranges;

	return $answer->{body} eq $parts[0] if @parts == 1;
	my ($boundary) = $answer->{field}{'content-type'} =~ /boundary=(\w+)/;
	my @got = map { s/\A.*?\r\n\r\n//sr }
	    split(/\r?\n?--$boundary(?:--)?\r\n/, $answer->{body});
	shift(@got);
	return join('|', @got) eq join('|', @parts);
}

my $wrong = 0;
for my $round (1 .. 40) {
	$wrong += !whole($_) for sort(keys(%files));
	select(undef, undef, undef, 0.02);	# so that none is the same use
}
is($wrong, 0, 'again and again: all answers are right');

my @ranges = ([0, 131_071], [1, 200_000], [65_535, 399_999], [65_536, 196_608],
    [300_000, 8_999_999], [8_800_000, 9_000_000]);
for my $range (@ranges) {
	my $text = join('-', @$range);

	send_request($client, 'big', $text);
	ok(has($client->response, 'big', $range), "range $text");
}

# Several responses behind each other, small and large.
send_request($client, $_) for qw(tiny big tiny one some tiny big);
$wrong = grep { $client->response->{body} ne $files{$_} }
    qw(tiny big tiny one some tiny big);
is($wrong, 0, 'pipelined');

# Clients that take little at once, and late.
my $several = [[5, 300_004], [1_000_000, 1_000_009], [2_000_000, 5_999_999]];
my %slow = map { ($_ => $server->connect(window => 4096)) } 0 .. 3;
send_request($slow{$_}, 'big') for 0, 1;
send_request($slow{$_}, 'big', join(',', map { join('-', @$_) } @$several))
    for 2, 3;
for my $bytes (1000, 100_000, 400_000, 1_000_000) {
	$_->want($bytes) for values %slow;
	whole('big');
}
is(grep({ $slow{$_}->response->{body} ne $files{big} } 0, 1), 0,
    'taken slowly');
is(grep({ !has($slow{$_}->response, 'big', @$several) } 2, 3), 0,
    'several ranges, taken slowly');

# A file that ends before its length, on the way.
$files{going} = slurp("$root/going");
for my $round (1 .. 20) {
	whole('going');
	select(undef, undef, undef, 0.02);
}
my $late = $server->connect(window => 4096);
my @mains = sort($server->role('main'));
send_request($late, 'going');
$late->want(1000);
truncate("$root/going", 1_000_000) or die "truncate: $!\n";
my $answer = $late->response;
ok($answer->{short}, 'a file that shrinks: the response is cut short');
ok($server->wait_line(qr/closing a connection: its file has changed while it was being sent/),
    '... and the log says so');
my $prefix = substr($answer->{body}, 0, 900_000);
ok($prefix eq substr($files{going}, 0, length($prefix)),
    '... with nothing else in place of what was there');
$files{going} = slurp("$root/going");
await('the file as it is now',
    sub { $server->get('/going')->{body} eq $files{going} });
is_deeply([sort($server->role('main'))], \@mains, 'main is the same');
$server->stop;

done_testing();
