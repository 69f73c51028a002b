#!/usr/bin/perl
# apt-get updates from a repository that amped serves, and gets its packages;
# all that it reads and writes is in a directory of the test.
# arch: pair
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use Amped qw(content docroot slurp write_file);
use Amped::Foreign qw(checksums foreign_ok needs_program);
use Digest::SHA qw(sha256_hex);
use POSIX qw(strftime);
use Test::More;

needs_program('apt-get', 'dpkg-deb');
umask(022);

my $past = time - 86400;
my $root = docroot();
my %packages;		# their paragraphs in Packages
my @names = ('large', map { "small$_" } 1 .. 20);

sub package_file { return "$_[0]_1.0_all.deb" }

sub make_package {
	my ($name) = @_;
	my $control = "Package: $name\nVersion: 1.0\nArchitecture: all\n" .
	    "Maintainer: nobody <nobody\@localhost>\nDescription: $name\n";
	my $size = $name eq 'large' ? 3_000_000 : 5000;
	my $tree = docroot('DEBIAN/control' => $control,
	    "usr/share/$name" => content($name, $size));
	my $file = package_file($name);

	foreign_ok("package $name", 'dpkg-deb', '-Znone',
	    '--root-owner-group', '--build', $tree, "$root/$file");
	utime($past, $past, "$root/$file");
	my $bytes = slurp("$root/$file");
	$packages{$name} = $control . "Filename: ./$file\nSize: " .
	    length($bytes) . "\nSHA256: " . sha256_hex($bytes) . "\n";
}

# The two files that describe a flat repository, the first by its hash too.
# With each package they are a second younger.
sub make_index {
	my $index = join("\n", map { $packages{$_} } sort(keys(%packages)));
	my $hash = sha256_hex($index);
	my $made = $past + keys(%packages);

	write_file("$root/$_", $index) for 'Packages', "by-hash/SHA256/$hash";
	write_file("$root/Release", 'Date: ' .
	    strftime('%a, %d %b %Y %H:%M:%S UTC', gmtime($made)) .
	    "\nAcquire-By-Hash: yes\nSHA256:\n $hash " . length($index) .
	    " Packages\n");
	utime($made, $made, "$root/Packages", "$root/Release");
}

make_package($_) for @names;
make_index();
# What has changed is to be seen at once.
my $server = Amped->start(root => $root,
    global => "cache {\n\tpaths 1000 revalidate 0s stale 0s\n}");

my $home = docroot('status' => '', 'etc/apt.conf.d/' => '',
    'etc/preferences.d/' => '', 'etc/trusted.gpg.d/' => '',
    'etc/sources.list' => "deb [trusted=yes] @{[$server->url]} ./\n",
    'state/lists/partial/' => '', 'cache/archives/partial/' => '',
    'log/' => '', 'got/' => '');
write_file("$home/apt.conf", <<"END");
Dir "$home";
Dir::Etc "$home/etc";
Dir::State "$home/state";
Dir::State::status "$home/status";
Dir::Cache "$home/cache";
Dir::Log "$home/log";
APT::Architecture "amd64";
APT::Architectures { "amd64"; };
APT::Sandbox::User "@{[(getpwuid($>))[0]]}";
APT::Get::Assume-Yes "true";
Acquire::http::Proxy "DIRECT";
Acquire::http::Pipeline-Depth "10";
Acquire::Languages "none";
Acquire::Retries "0";
END
$ENV{APT_CONFIG} = "$home/apt.conf";

# What the server has logged since the last time: method, target, status.
my $seen = 0;
sub logged {
	$server->get("/?seen$seen");
	$server->wait_line(qr{/\?seen$seen }, $server->{access});
	my @lines = $server->wait_lines(1);
	my @new = map { /"(\S+) (\S+) [^"]*" (\d+)/ ? "$1 $2 $3" : $_ }
	    grep { !m{/\?seen} } @lines[$seen .. $#lines];

	$seen = @lines;
	return @new;
}

sub lists_are_right {
	my ($what) = @_;
	my ($list) = glob("$home/state/lists/*_Packages");

	is(sha256_hex(slurp($list)), sha256_hex(slurp("$root/Packages")),
	    $what);
}

foreign_ok('apt-get update', 'apt-get', 'update');
lists_are_right('... has the list of packages');
my $hash = sha256_hex(slurp("$root/Packages"));
my @first = logged();
ok((grep { m{^GET /\./by-hash/SHA256/$hash 200\z} } @first),
    '... by its hash') or diag(join("\n", @first));

foreign_ok('apt-get update once more', 'apt-get', 'update');
lists_are_right('... has it still');
my @again = logged();
is_deeply([grep { / (?:200|206)\z/ } @again], [],
    '... and nothing was sent again');
ok((grep { / 304\z/ } @again), '... for it was asked for as such');

# All packages, with many requests on the way at once.
my ($out, $err) = foreign_ok('apt-get download', 'sh', '-c',
    'cd "$0" && exec apt-get -o Debug::Acquire::http=true download "$@"',
    "$home/got", @names);
my %want = map { $_ => sha256_hex(slurp("$root/$_")) }
    map { package_file($_) } @names;
is_deeply(checksums("$home/got"), \%want, '... has every package');
my ($ahead, $most) = (0, 0);
for ("$out$err" =~ /^(GET|Answer for)/mg) {
	$ahead += $_ eq 'GET' ? 1 : -1;
	$most = $ahead if $ahead > $most;
}
cmp_ok($most, '>', 1, '... asked before it had the answer to the last');
is(scalar(grep { /^GET .* 200\z/ } logged()), scalar(@names),
    '... with a request for each');

# Half a package is completed.
my $large = package_file('large');
my $half = "$home/cache/archives/partial/$large";
write_file($half, substr(slurp("$root/$large"), 0, 1_000_000));
utime($past, $past, $half);
foreign_ok('apt-get install --download-only', 'apt-get', '--download-only',
    'install', 'large', 'small1');
is(sha256_hex(slurp("$home/cache/archives/$large")), $want{$large},
    '... completes what there is');
is_deeply([grep { /large/ } logged()], ["GET /./$large 206"],
    '... and gets no more than it lacks');

# The repository gets a package more.
make_package('new');
make_index();
logged();
my ($told) = foreign_ok('apt-get update of a changed repository', 'apt-get',
    'update');
lists_are_right('... has the new list') or
    diag($told, map { "$_\n" } logged());
foreign_ok('apt-get install of what is new', 'apt-get', '--download-only',
    'install', 'new');
my $new = package_file('new');
is(sha256_hex(slurp("$home/cache/archives/$new")),
    sha256_hex(slurp("$root/$new")), '... has it');

$server->stop;
done_testing();
