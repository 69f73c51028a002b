#!/usr/bin/env perl
#
# package: the Debian package is made without autotools, the same by whoever
# and whenever, lintian has nothing against it, and all is in it.
#
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use Amped qw(docroot slurp write_file);
use Amped::Foreign qw(which_program);
use Amped::Package qw(command_ok deb_file locked make_deb plain_build tarball);
use File::Copy qw(copy);
use Test::More;

plain_build();
alarm(1700);

# Found before the real ones by whoever wants them.
my $shims = docroot(called => '');
for my $name (qw(aclocal autoconf autoheader automake autoreconf)) {
	write_file("$shims/$name", "#!/bin/sh\necho $name >> $shims/called\n" .
	    "exit 1\n");
	chmod(0755, "$shims/$name");
}

my $dir = make_deb();
my $deb = deb_file($dir, 'amped_*.deb');
my $changes = deb_file($dir, 'amped_*.changes');
ok(-s deb_file($dir, 'amped-dbgsym_*.deb'), 'there is amped-dbgsym');

my $contents = command_ok('its contents', 'dpkg-deb --contents "$1"', $deb);
my %mode = map { (split(' ', $_, 6))[5] => (split(' '))[0] }
    split(/\n/, $contents);
my @wanted = qw(etc/amped/amped.conf etc/amped/sites/ etc/init.d/amped
    etc/logrotate.d/amped
    etc/ufw/applications.d/amped lib/systemd/system/amped.service
    usr/lib/tmpfiles.d/amped.conf usr/libexec/amped/amped-helper
    usr/sbin/amped usr/sbin/ampedctl usr/share/amped/index.html
    usr/share/bash-completion/completions/ampedctl
    usr/share/bash-completion/completions/amped
    usr/share/fish/vendor_completions.d/amped.fish
    usr/share/fish/vendor_completions.d/ampedctl.fish
    usr/share/zsh/vendor-completions/_amped
    usr/share/zsh/vendor-completions/_ampedctl
    usr/share/doc/amped/README.Debian usr/share/doc/amped/changelog.gz
    usr/share/doc/amped/copyright usr/share/doc/amped/examples/amped.socket
    usr/share/doc/amped/examples/git/amped.conf
    usr/share/doc/amped/examples/php/amped.conf
    usr/share/doc/amped/examples/php-fpm/amped.conf
    usr/share/doc/amped/examples/programs.conf
    usr/share/doc/amped/examples/root.conf
    usr/share/vim/vimfiles/ftdetect/amped.vim
    usr/share/vim/vimfiles/syntax/amped.vim);
for my $page (glob(Amped::source_dir() . '/man/*.[1-9]')) {
	my ($name, $section) = $page =~ m{([^/]+\.(\d))\z};
	push(@wanted, "usr/share/man/man$section/$name.gz");
}
is_deeply([grep { !$mode{"./$_"} } @wanted], [], '... all that there must be');
is_deeply([grep { m{^\./(?:run|var/www|usr/local|tmp)/.} } keys(%mode)], [],
    '... and nothing where a package has no business');
like($mode{'./etc/init.d/amped'}, qr/^-rwxr-xr-x/, '... the init script runs');
my ($conf) = command_ok('its conf', 'dpkg-deb --fsys-tarfile "$1" | ' .
    'tar -xO ./etc/amped/amped.conf', $deb);
like($conf, qr{^\taccess /var/log/amped/access\.log}m, '... logs in /var/log');
my $fields = command_ok('its fields', 'dpkg-deb --field "$1"', $deb);
like($fields, qr/^Provides: httpd$/m, '... it is a httpd');
like($fields, qr/^Depends: .*\bmedia-types\b/m, '... knows media types');

# The version is that of the sources.
my ($version) = slurp(Amped::source_dir() . '/configure.ac') =~
    /^AC_INIT\(\[amped\], \[([^\]]+)\]/m;
like($fields, qr/^Version: \Q$version\E-/m, 'of the version that configure.ac has');
my ($said) = slurp(Amped::source_dir() . '/contrib/rpm/amped.spec') =~
    /^Version:\s*(\S+)/m;
is($said, $version, 'as has the spec');

SKIP: {
	skip('there is no lintian', 1) unless which_program('lintian');
	command_ok('lintian has no error and no warning', 'lintian ' .
	    ($> == 0 ? '--allow-root ' : '') . '--fail-on error,warning "$1"',
	    $changes);
}

SKIP: {
	skip('there is no blhc', 1) unless which_program('blhc');
	command_ok('every file is compiled hardened',
	    'blhc --all "$1"', "$dir/build.log");
}

# Somewhere else, some other day, by somebody else, without autotools.
my $again = docroot();
my $file = locked(sub {
	my ($made) = tarball();
	my ($name) = $made =~ m{([^/]+)\z};

	copy($made, "$again/$name") or die "$made: $!\n";
	return "$again/$name";
});
{
	local $ENV{PATH} = "$shims:$ENV{PATH}";
	command_ok('it is made again', 'umask 027; mkdir "$3/area"; ' .
	    'TMPDIR=$3/area TZ=Asia/Tokyo LC_ALL=C DEB_BUILD_OPTIONS=nocheck ' .
	    'sh "$1" "$2" "$3/deb"',
	    Amped::source_dir() . '/contrib/deb', $file, $again);
}
is(slurp("$shims/called"), '', '... without autotools');
for my $one ($deb, deb_file($dir, 'amped-dbgsym_*.deb'),
    deb_file($dir, 'amped_*.dsc')) {
	my ($name) = $one =~ m{([^/]+)\z};
	ok(slurp($one) eq slurp("$again/deb/$name"), "... $name is the same");
}

done_testing();
