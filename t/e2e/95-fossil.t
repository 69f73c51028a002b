#!/usr/bin/perl
# Fossil as a CGI program: clones of a repository send it their commits, and get
# those of others; a visitor reads its pages.
# arch: one: an application sees requests alone
# Debian: fossil
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use Amped qw(content docroot slurp write_file);
use Amped::Foreign qw(foreign foreign_ok needs_program);
use Amped::Visitor;
use Test::More;

needs_program('fossil');

my $top = docroot('repositories/' => '', 'www/z' => "z\n", 'home/' => '');
my $served = "$top/repositories/project.fossil";
my $script = "$top/fossil.cgi";

$ENV{HOME} = $ENV{FOSSIL_HOME} = "$top/home";
$ENV{USER} = 'joe';

# Runs fossil in a directory, as a test that it succeeds; output and errors.
sub fossil {
	my ($what, $in, @command) = @_;
	local $Test::Builder::Level = $Test::Builder::Level + 1;

	return foreign_ok($what, 'sh', '-c', 'cd "$0" && exec fossil "$@"',
	    $in, @command);
}

fossil('a repository', $top, 'new', '-A', 'joe', $served);
fossil('... with a password', $top, 'user', 'password', 'joe', 'secret', '-R',
    $served);
write_file($script, "#!/usr/bin/fossil\nrepository: $served\n");
chmod(0755, $script);
if ($> == 0) {
	system('chown', '-R', Amped::ordinary_user(), "$top/repositories")
	    == 0 or die "chown\n";
}
my $server = Amped->start(root => "$top/www", errors => 1,
    global => "program fossil {\n\tcommand $script\n\tnice 0\n}\n",
    site => "\tpath /fossil { run fossil; body 32M }\n");
my $url = $server->url('/fossil') =~ s{//}{//joe:secret\@}r;

# Makes a clone and a directory to work in.
sub work {
	my ($name) = @_;
	my $dir = docroot('work/' => '');

	fossil("$name: fossil clone", $dir, 'clone', '--once', $url,
	    "$dir/own.fossil");
	fossil("$name: fossil open", "$dir/work", 'open', "$dir/own.fossil");
	fossil("$name: ... which waits for fossil push", "$dir/work",
	    'settings', 'autosync', 'off');
	return "$dir/work";
}

my ($one, $other) = map { work($_) } qw(one other);
my %files = ('README' => "Some words\n", 'sub/large' => content('large',
    8_000_000), 'with space' => "odd\n", "caf\xc3\xa9" => "odd, too\n");
write_file("$one/$_", $files{$_}) for keys(%files);
fossil('fossil add', $one, 'add', '.');
fossil('fossil commit', $one, 'commit', '--no-warnings', '-m',
    'Begin the project');
fossil('fossil push', $one, 'push', '--once', $url);
fossil('fossil pull', $other, 'pull', '--once', $url);
fossil('fossil update', $other, 'update', 'trunk');
is_deeply({ map { $_ => -e "$other/$_" ? slurp("$other/$_") eq $files{$_} :
    'missing' } keys(%files) }, { map { $_ => 1 } keys(%files) },
    '... gets each file as it is');
write_file("$other/README", "Some words\nand more\n");
fossil('a commit of the other', $other, 'commit', '--no-warnings', '-m',
    'Add a line');
fossil('fossil sync', $other, 'sync', '--once', $url);
fossil('fossil sync', $one, 'sync', '--once', $url);
fossil('fossil update', $one, 'update');
is(slurp("$one/README"), "Some words\nand more\n", '... gets it');
my ($status) = foreign('sh', '-c', 'cd "$0" && exec fossil clone "$@"', $top,
    '--once', $server->url('/fossil') =~ s{//}{//joe:wrong\@}r,
    "$top/none.fossil");
isnt($status, 0, 'a wrong password');

# A visitor.
my $reader = Amped::Visitor->new($server);
my $page = $reader->sees('the start page leads on', '/fossil', 200);
cmp_ok($page->{redirects}, '>=', 1, '... by a redirect');
for my $link ($page->{body} =~ /<link rel="stylesheet" href="([^"]*)"/g) {
	$reader->sees('its style', Amped::Visitor::plain($link), 200, qr/\{/);
}
$reader->sees('timeline', '/fossil/timeline', 200, qr/Add a line/,
    qr/Begin the project/);
$reader->sees('files', '/fossil/dir?ci=tip', 200, qr/README/, qr/with space/);
is($reader->visit('/fossil/raw/README?ci=tip')->{body},
    "Some words\nand more\n", 'a file');
is($reader->visit('/fossil/doc/tip/with%20space')->{body}, "odd\n",
    '... with a space');
is($reader->visit('/fossil/doc/tip/caf%C3%A9')->{body}, "odd, too\n",
    '... with other letters');
ok($reader->visit('/fossil/raw/sub/large?ci=tip')->{body} eq
    $files{'sub/large'}, '... of 8 MB');
$page = $reader->sees('an archive', '/fossil/tarball/tip/project.tar.gz', 200,
    qr/\A\x1f\x8b/);
write_file("$top/archive", $page->{body});
like((foreign('tar', '-tzf', "$top/archive"))[1], qr{^project/with space$}m,
    '... has its files');
$reader->sees('a feed', '/fossil/timeline.rss', 200, qr/<rss/,
    qr/Add a line/);
$reader->sees('nothing', '/fossil/doc/tip/none', 404);

# Logs in, writes a page.
$page = $reader->sees('the form for a password', '/fossil/login', 200,
    qr/name="u"/);
$page = $reader->post('/fossil/login', Amped::Visitor::hidden($page, 'p'),
    u => 'joe', p => 'secret', in => 'Login');
Amped::Visitor::shows('logged in', $page, 200, qr/[Ll]ogout/);
is_deeply([grep { /" 5\d\d / } $server->wait_lines(1)], [],
    'no request has failed');

$server->stop;
done_testing();
