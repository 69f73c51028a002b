#!/usr/bin/perl
# The error log as JSON: an object a line, before and after a reload.
# arch: one: the error logger is the same in all
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use Amped qw(await docroot slurp write_file);
use JSON::PP qw(decode_json);
use Test::More;

my $server = Amped->start(files => { a => "a\n" },
    log => "\taccess off\n\terror %D/error.log info format json");

sub objects { return map { decode_json($_) } slurp($server->{error}) =~ /.+/g }

is($server->get('/"no\\')->{status}, 404, 'a refusal');
my $line = await('its line', sub {
	my ($found) = grep { $_->{message} =~ /404 for/ } objects();
	return $found;
});
is($line->{level}, 'info', 'has a level');
is($line->{process}, 'main', 'a process');
like($line->{pid}, qr/\A\d+\z/, 'its number');
like($line->{time}, qr/\A20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d[+-]\d{4}\z/, 'a time');
like($line->{message}, qr{\A404 for /"no\\ on default from 127},
    'and all of its text');

# The other form, and back.
for my $format ('plain', 'json') {
	$server->{log} = "\taccess off\n\terror %D/error.log info " .
	    "format $format";
	write_file("$server->{dir}/amped.conf", $server->conf_text);
	my $before = slurp($server->{error});

	kill('HUP', $server->{pid});
	await('in force', sub { substr(slurp($server->{error}),
	    length($before)) =~ /is in force/ });
	is($server->get('/none')->{status}, 404, $format);
	await('its line', sub { substr(slurp($server->{error}),
	    length($before)) =~ m{404 for /none} });
	my ($last) = substr(slurp($server->{error}), length($before)) =~
	    /^(.*404 for.*)$/m;
	is(substr($last, 0, 1) eq '{', $format eq 'json', 'the form');
}
$server->stop;
ok(eval { decode_json((slurp($server->{error}) =~ /(.+)\n\z/)[0]) },
    'so is the last line');
done_testing();
