#!/usr/bin/env perl
#
# install: make install puts everything where configure said, with the paths in
# it that hold there, and make uninstall takes it away again.
#
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use Amped qw(docroot slurp);
use Amped::Package qw(build_dir command_ok plain_build);
use File::Find qw(find);
use Test::More;

plain_build();
alarm(300);

my $build = build_dir();
my $dest = docroot();

# Of this very build, as configured elsewhere: make lets itself be told.
my @places = ('prefix=/opt/a', 'sysconfdir=/opt/a/etc', 'localstatedir=/srv/v',
    'runstatedir=/srv/r', 'systemdsystemunitdir=/opt/a/units');

sub make_ok {
	my ($what, @arguments) = @_;

	return command_ok($what, 'unset MAKEFLAGS; exec make -C "$@"', $build,
	    @arguments);
}

# What there is, without DESTDIR.
sub there {
	my @found;

	find({ no_chdir => 1, wanted => sub {
		push(@found, substr($_, length($dest))) unless -d;
	} }, $dest);
	return sort @found;
}

make_ok('make install', 'install', "DESTDIR=$dest", @places);
my %there = map { $_ => 1 } there();
for my $file (qw(/opt/a/sbin/amped /opt/a/sbin/ampedctl
    /opt/a/libexec/amped/amped-helper
    /opt/a/etc/amped/amped.conf /opt/a/units/amped.service
    /opt/a/lib/tmpfiles.d/amped.conf /opt/a/share/man/man8/amped.8
    /opt/a/share/man/man8/ampedctl.8
    /opt/a/share/bash-completion/completions/amped
    /opt/a/share/bash-completion/completions/ampedctl
    /opt/a/share/zsh/site-functions/_amped
    /opt/a/share/zsh/site-functions/_ampedctl
    /opt/a/share/fish/vendor_completions.d/amped.fish
    /opt/a/share/fish/vendor_completions.d/ampedctl.fish
    /opt/a/share/vim/vimfiles/syntax/amped.vim)) {
	ok($there{$file}, $file);
}
ok(-d "$dest/srv/v/log/amped", 'a directory for the logs');
is_deeply([grep { !m{^/(?:opt/a|srv)/} } keys(%there)], [],
    'nothing anywhere else');

# A place that a file is made for is known to make when it is made: those of
# the unit and the like stay the build's.
my $conf = slurp("$dest/opt/a/etc/amped/amped.conf");
like($conf, qr{^\taccess /srv/v/log/amped/access\.log }m,
    'the conf logs to localstatedir');
unlike($conf, qr{/var/(?:log|cache|lib)}, '... and nowhere else');

# The manual names the real places, too.
for my $page (qw(man5/amped.conf.5 man7/amped-recipes.7 man8/amped.8
    man8/ampedctl.8)) {
	my $text = slurp("$dest/opt/a/share/man/$page");
	like($text, qr{/opt/a/etc/amped}, "$page has sysconfdir");
	unlike($text, qr{(?<!/opt/a)/etc/amped|/var/log/amped},
	    '... and no usual place');
}

# An administrator's conf is kept by both.
open(my $fh, '>>', "$dest/opt/a/etc/amped/amped.conf") or die "conf: $!\n";
print $fh "# mine\n";
close($fh);
make_ok('make install again', 'install', "DESTDIR=$dest", @places);
like(slurp("$dest/opt/a/etc/amped/amped.conf"), qr/^# mine$/m,
    'a conf that is there is kept');
make_ok('make uninstall', 'uninstall', "DESTDIR=$dest", @places);
is_deeply([there()], ['/opt/a/etc/amped/amped.conf'],
    '... leaves a conf that is somebody\'s');
unlink("$dest/opt/a/etc/amped/amped.conf");
make_ok('make install once more', 'install', "DESTDIR=$dest", @places);
make_ok('make uninstall', 'uninstall', "DESTDIR=$dest", @places);
is_deeply([there()], [], '... and nothing of its own');

# What says where it is has the places of the build.
my %value = slurp("$build/Makefile") =~ /^(\w+) = (.*)$/mg;

sub value {
	my ($name) = @_;

	return $value{$name} =~ s/\$[\{(](\w+)[\})]/value($1)/ger;
}
my $unit = slurp("$build/contrib/systemd/amped.service");
my ($sbin, $log) = (value('sbindir'), value('localstatedir') . '/log/amped');
like($unit, qr{^ExecStart=\Q$sbin\E/amped -D$}m, 'the unit starts it there');
like($unit, qr{^ReadWritePaths=-\Q$log\E }m, '... and lets it log there');
like(slurp("$build/contrib/systemd/amped.conf"), qr{^d \Q$log\E }m,
    'which tmpfiles makes');
like(join('', Amped::run_amped('-D', '-t')), qr{\Q@{[value('sysconfdir')]}\E/},
    'amped itself looks for its conf there') unless -e value('sysconfdir') .
    '/amped/amped.conf';

done_testing();
