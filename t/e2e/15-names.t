#!/usr/bin/perl
# From names to files: decoding, dots, what is refused, and that nothing
# outside of the root comes out, whatever the name.
# arch: pair
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use Amped qw(await content docroot slurp write_file);
use IO::Socket::UNIX;
use POSIX qw(mkfifo);
use Test::More;

my $secret = "the secret outside\n";
my $all = docroot('secret.txt' => $secret, 'outside/secret.txt' => $secret,
    'rootsecret/secret.txt' => $secret);
my $root = "$all/root";
my %files = (
	'index.html' => "root index\n",
	'a.txt' => "a\n",
	'with space.txt' => "space\n",
	'100%.txt' => "percent\n",
	'%41.txt' => "not A\n",
	'A.txt' => "A\n",
	"\xc3\xa9.txt" => "e acute\n",
	'a+b&c=d;e,f@g.txt' => "signs\n",
	'dir/index.html' => "dir index\n",
	'dir/b.txt' => "b\n",
	'dir/..c.txt' => "two dots, then a name\n",
	'dir/...' => "three dots\n",
	'second/index.htm' => "second name\n",
	'both/index.html' => "first name\n",
	'both/index.htm' => "second name\n",
	'none/file' => "no index here\n",
	'isdir/index.html/x' => "the index is a directory\n",
	'q?.txt' => "question\n",
	'.hidden' => "hidden\n",
	'.git/config' => "hidden\n",
	'dir/.htpasswd' => "hidden\n",
	'.well-known/security.txt' => "well known\n",
	'.well-known/.hidden' => "hidden\n",
	'dir/.well-known/x' => "hidden\n",
	'evil.example/index.html' => "evil\n",
	'unreadable.txt' => $secret,
	'closed/file.txt' => $secret,
	'large.bin' => content('large', 100_000),
	('d' x 200) . '/' . ('f' x 200) => "long\n",
);
write_file("$root/$_", $files{$_}) for keys(%files);
chmod(0, "$root/unreadable.txt", "$root/closed") == 2 or die;
symlink('a.txt', "$root/link.txt");
symlink('dir', "$root/linkdir");
symlink('../a.txt', "$root/dir/up.txt");
symlink('../secret.txt', "$root/out.txt");
symlink("$all/secret.txt", "$root/out-absolute.txt");
symlink('../outside', "$root/outdir");
symlink('../../secret.txt', "$root/dir/index2.html");
symlink('loop', "$root/loop");
symlink('nothing', "$root/dangling");
symlink('/proc/self/root/etc/passwd', "$root/magic");
mkfifo("$root/fifo", 0666) or die "mkfifo: $!\n";
chmod(0666, "$root/fifo");
my $listener = IO::Socket::UNIX->new(Local => "$root/socket", Listen => 1)
    or die "socket: $!\n";
chmod(0777, "$root/socket");

my $server = Amped->start(root => $root,
    site => "\tindex index.html index.htm\n");

# target, status, body
my @cases = (
	['/', 200, 'index.html'], ['/a.txt', 200, 'a.txt'],
	['/%61.txt', 200, 'a.txt'], ['/a%2etxt', 200, 'a.txt'],
	['/a%2Etxt', 200, 'a.txt'],
	['/with%20space.txt', 200, 'with space.txt'],
	['/100%25.txt', 200, '100%.txt'], ['/%2541.txt', 200, '%41.txt'],
	['/%41.txt', 200, 'A.txt'], ['/%c3%a9.txt', 200, "\xc3\xa9.txt"],
	['/%C3%A9.txt', 200, "\xc3\xa9.txt"],
	['/a+b&c=d;e,f@g.txt', 200, 'a+b&c=d;e,f@g.txt'],
	['/q%3F.txt', 200, 'q?.txt'], ['/a.txt?b#c', 400],
	['/a.txt?%zz&../..', 200, 'a.txt'], ['/?', 200, 'index.html'],
	['/a.txt%', 400], ['/a.txt%4', 400], ['/%zz', 400], ['/%4g', 400],
	['/a.txt%00', 404], ['/a.txt%00.html', 404], ['/%0a', 404],
	['/%7f', 404],
	['/dir/', 200, 'dir/index.html'], ['/dir//b.txt', 200, 'dir/b.txt'],
	['//dir/b.txt', 200, 'dir/b.txt'], ['/./a.txt', 200, 'a.txt'],
	['/dir/./b.txt', 200, 'dir/b.txt'], ['/dir/../a.txt', 200, 'a.txt'],
	['/dir/%2e%2e/a.txt', 200, 'a.txt'], ['/x/y/../../a.txt', 200, 'a.txt'],
	['/dir/.', 200, 'dir/index.html'], ['/dir/..', 200, 'index.html'],
	['/none/../.well-known/security.txt', 200, '.well-known/security.txt'],
	['/dir/..c.txt', 403], ['/dir/...', 403],
	['/nothing', 404], ['/nothing/', 404], ['/a.txt/', 404],
	['/a.txt/b', 404], ['/dir/nothing', 404], ['/A.TXT', 404],
	['/second/', 200, 'second/index.htm'],
	['/both/', 200, 'both/index.html'], ['/none/', 403],
	['/isdir/', 403],
	['/.hidden', 403], ['/.git/config', 403], ['/.git/', 403],
	['/%2ehidden', 403], ['/dir/.htpasswd', 403], ['/.nothing', 403],
	['/dir/../.hidden', 403],
	['/.well-known/security.txt', 200, '.well-known/security.txt'],
	['/.well-known/.hidden', 403], ['/dir/.well-known/x', 403],
	['/unreadable.txt', 403], ['/closed/file.txt', 403],
	['/closed/nothing', 403],
	['/link.txt', 200, 'a.txt'], ['/linkdir/', 200, 'dir/index.html'],
	['/linkdir/b.txt', 200, 'dir/b.txt'], ['/dir/up.txt', 200, 'a.txt'],
	['/loop', 403], ['/dangling', 404],
	['/socket', 403], ['/fifo', 403], ['/fifo', 403],
	['/' . ('d' x 200) . '/' . ('f' x 200), 200,
	    ('d' x 200) . '/' . ('f' x 200)],
	['/' . 'x' x 300, 404], ['/' . 'x/' x 1900, 404],
);
for my $case (@cases) {
	my ($target, $status, $name) = @$case;

	for my $method ('GET', 'HEAD') {
		my $answer = $server->get($target, method => $method);
		is($answer->{status}, $status,
		    "$method " . substr($target, 0, 60));
		is($answer->{body}, $files{$name}, 'its content')
		    if $method eq 'GET' && defined($name);
		unlike($answer->{body}, qr/secret|hidden/, 'nothing else')
		    if $status >= 400;
	}
}

# Every way out of the root; some are the grammar's fault, some the tree's.
my @ups = ('..', '%2e%2e', '.%2e', '%2e.', '%2E%2E', '%252e%252e', '..%00',
    '%c0%ae%c0%ae', '..;', '..%5c..', '..\\..', '%uff0e%uff0e');
my @ways = map { my $up = $_; ("/$up/secret.txt", "/dir/$up/$up/secret.txt",
    "/dir/$up%2f$up%2fsecret.txt", "//$up//secret.txt",
    "/$up/root/../secret.txt", "/a.txt/$up/$up/secret.txt",
    "/dir/x$up/../../../secret.txt", "/$up/rootsecret/secret.txt",
    "/dir/$up/$up") } @ups;
push(@ways, '/out.txt', '/out-absolute.txt', '/outdir/secret.txt', '/outdir/',
    '/outdir', '/linkdir/../../secret.txt', '/outdir/../secret.txt', '/magic',
    '/dir/index2.html', "/$all/secret.txt", '/..', '/../', '/../..',
    '/dir/../..', '/..%2fsecret.txt', '/%2e%2e%2fsecret.txt', '/%2fetc/passwd',
    '//etc/passwd', 'http://x/../secret.txt');
my @wrong;
for my $way (@ways) {
	my $answer = $server->get($way);

	# %u is no escape at all: bad grammar, whatever it is meant to be.
	my $right = $way =~ /%u/ ? qr/^400$/ : qr/^(403|404)$/;

	push(@wrong, "$way: $answer->{status}") if
	    $answer->{status} !~ $right ||
	    $answer->{body} =~ /secret|root:/;
}
is_deeply(\@wrong, [], scalar(@ways) . ' ways out of the root lead nowhere');
is($server->get($_)->{status}, 403, "$_ is forbidden")
    for '/out.txt', '/out-absolute.txt', '/outdir/secret.txt', '/magic';

# A directory without its slash: target, Location.
my @redirects = (['/dir', '/dir/'], ['/dir?a=b&c', '/dir/?a=b&c'],
    ['/dir/../dir', undef], ['/%64ir', undef], ['/linkdir', '/linkdir/'],
    ['/none', '/none/'], ['//evil.example', undef],
    ['///evil.example?x', undef], ['/.//evil.example', undef],
    ['/dir/..//evil.example', undef], ['/%2e//evil.example', undef],
    ['/\\evil.example/../dir', '/dir/'], ['/\\dir/../dir?\\', '/dir/?\\']);
for my $case (@redirects) {
	my ($target, $location) = @$case;
	my $answer = $server->get($target);

	is($answer->{status}, 301, "$target is redirected");
	my $to = $answer->{field}{location} // '';
	like($to, defined($location) ?
	    qr{\A(?:http://localhost)?\Q$location\E\z} :
	    qr{\A(?:http://localhost)?/(?![/\\])}, 'to its slash, here') or next;
	is($server->get($to =~ s{\Ahttp://localhost}{}r)->{status},
	    $target eq '/none' ? 403 : 200, 'and the way goes on');
}

# A FIFO is not opened: a writer of it stays blocked in its open().
pipe(my $from, my $to) or die;
my $writer = fork() // die "fork: $!\n";
if ($writer == 0) {
	syswrite($to, 'a');
	open(my $fifo, '>', "$root/fifo");
	syswrite($to, 'b');
	POSIX::_exit(0);
}
sysread($from, my $byte, 1);
await('the writer to block',
    sub { (Amped::Process::stat_fields($writer))[3] eq 'S' });
is($server->get('/fifo?again')->{status}, 403, 'a FIFO again');
is($server->get("//fifo")->{status}, 403, 'by another name');
ok(!IO::Select->new($from)->can_read(0), 'has not been opened');
kill('KILL', $writer);
waitpid($writer, 0);
$listener->blocking(0);
ok(!$listener->accept, 'nor has the socket been connected to');

SKIP: {
	skip('only root makes devices', 2) if $> != 0;
	skip('no device can be made here', 2)
	    if system('mknod', '-m', '666', "$root/null", 'c', '1', '3') != 0;
	symlink('null', "$root/tonull");
	is($server->get('/null')->{status}, 403, 'a device');
	is($server->get('/tonull')->{status}, 403, 'a link to it');
}

chmod(0755, "$root/closed");
$server->stop;
done_testing();
