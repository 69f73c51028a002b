# Amped::Calls: counts the system calls of a process, by strace.
package Amped::Calls;

use strict;
use warnings;

use Exporter qw(import);
use POSIX qw(WNOHANG);

use Amped qw(await docroot slurp write_file);
use Amped::Foreign qw(which_program);

our @EXPORT_OK = qw(count_calls);

# The calls of a process while something is done: name => number.  Undefined if
# there is no strace, or it may not look.  An option -f counts all threads.
sub count_calls {
	my ($pid, $do, @options) = @_;
	my $dir = docroot();
	my ($out, $said) = ("$dir/calls", "$dir/strace");

	return unless which_program('strace');
	write_file($said, '');
	my $strace = Amped::spawn(['strace', '-c', @options, '-o', $out, '-p',
	    $pid], $said, $said);
	my $end = sub { waitpid($strace, WNOHANG) == $strace };
	my $may = 0;

	await('strace', sub {
		$may = slurp($said) =~ /attached/;
		$may || $end->() });
	return unless $may;
	$do->();
	kill('INT', $strace);
	await('strace to end', $end);
	return { map { /^\s*[\d.]+(?:\s+[\d.]+){2}\s+(\d+)(?:\s+\d+)?\s+(\w+)$/ &&
	    $2 ne 'total' ? ($2 => $1) : () } split(/\n/, slurp($out)) };
}

1;
