# Amped::Git: git as a client of the server, with none of the user's settings.
package Amped::Git;

use strict;
use warnings;

use Exporter qw(import);
use Test::More ();

use Amped::Foreign qw(checksums foreign foreign_ok needs_program);

our @EXPORT_OK = qw(git head init_served same);

needs_program('git');
umask(022);

$ENV{GIT_CONFIG_NOSYSTEM} = 1;
$ENV{GIT_TERMINAL_PROMPT} = 0;
$ENV{"GIT_${_}_NAME"} = 'nobody' for qw(AUTHOR COMMITTER);
$ENV{"GIT_${_}_EMAIL"} = 'nobody@localhost' for qw(AUTHOR COMMITTER);
delete(@ENV{qw(GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE)});

# Runs git, as a test that it succeeds; output and errors.
sub git {
	my ($what, @command) = @_;
	local $Test::Builder::Level = $Test::Builder::Level + 1;

	return foreign_ok($what, 'git', @command);
}

# The commit that a repository is at.
sub head { return (foreign('git', '-C', $_[0], 'rev-parse', 'HEAD'))[1] }

# Makes a repository to serve, and one to work in.
sub init_served {
	my ($bare, $work) = @_;

	git('a repository to serve', 'init', '-q', '--bare', $bare);
	git('... with a main branch', '-C', $bare, 'symbolic-ref', 'HEAD',
	    'refs/heads/main');
	git('one to work in', 'init', '-q', $work);
}

sub work_tree {
	my $sums = checksums($_[0]);

	delete(@$sums{grep { m{^\.git/} } keys(%$sums)});
	return $sums;
}

# Tests that a clone has the commit and the files of the original.
sub same {
	my ($what, $clone, $work) = @_;
	local $Test::Builder::Level = $Test::Builder::Level + 1;

	Test::More::is(head($clone), head($work), "$what: the same commit");
	Test::More::is_deeply(work_tree($clone), work_tree($work),
	    '... and every file has its checksum');
	git('... and git finds nothing wrong', '-C', $clone, 'fsck',
	    '--full', '--strict');
}

1;
