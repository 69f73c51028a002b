#!/usr/bin/perl
# Files beside files, in languages that the client names in Accept-Language.
# arch: pair
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use Amped qw(await docroot write_file);
use Test::More;
use Time::HiRes qw(sleep utime);

Amped::one_main();

my $root = docroot();

sub put {
	my ($name, $time) = @_;

	write_file("$root/$name", "the bytes of $name\n");
	utime($time // 86400, $time // 86400, "$root/$name");
}

put($_) for qw(a.html a.html.fr a.pt-BR.html a.de.html.gz index.html
    index.de.html about.html about.html.de one/a.html one/a.de.html
    one/a.it.html off/a.html off/a.de.html b.html b.en.html README README.de
    p.png p.de.png p.png.avif p.de.png.avif only.de.html alone.html
    prog.html prog.de.html text.html text.html.avif);
# A translation counts however old it is; a compressed file does not.
put('a.de.html', 80000);
put('a.html.gz', 80000);
chmod(0755, "$root/prog.de.html");
my $server = Amped->start(root => $root, site => <<'END_OF_SITE',
	languages de fr pt-BR en default en
	precompressed gzip
	formats avif
	try .html
	files README { header Content-Language sv }
	path /one { languages it; header X-Content-Language nn }
	path /off { languages off }
END_OF_SITE
    global => "cache { paths 1000 revalidate 50ms negative 50ms }\n");

sub get {
	my ($target, $accept, @fields) = @_;

	push(@fields, "Accept-Language: $accept") if defined($accept);
	return $server->get($target, fields => \@fields);
}

# Target, Accept-Language, the file that is sent, its language, Vary.
my $encoding = 'Accept-Encoding, Accept-Language';
my $own = 'Accept-Language';
my @many = map { "x$_" } 1 .. 99;
my @cases = (
	['/a.html', 'de', 'a.de.html', 'de', $encoding],
	['/a.html', 'fr', 'a.html.fr', 'fr', $own],
	['/a.html', 'DE-at, en;q=0.5', 'a.de.html', 'de', $encoding],
	['/a.html', 'en-GB, de;q=0.9', 'a.html', 'en', $own],
	['/a.html', undef, 'a.html', 'en', $own],
	['/a.html', '*', 'a.html', 'en', $own],
	['/a.html', 'es', 'a.html', 'en', $own],
	['/a.html', 'es, fr;q=0.1', 'a.html.fr', 'fr', $own],
	['/a.html', 'fr;q=0.1, de;q=0.2', 'a.de.html', 'de', $encoding],
	['/a.html', 'de-AT, de;q=0', 'a.html', 'en', $own],
	['/a.html', 'pt', 'a.html', 'en', $own],
	['/a.html', 'pt-br', 'a.pt-BR.html', 'pt-BR', $own],
	['/a.html', ', ;q=1, d e, fr;q=7, de;q=0.5;', 'a.de.html', 'de',
	    $encoding],
	['/a.html', join(',', @many, 'fr'), 'a.html.fr', 'fr', $own],
	['/a.html', join(',', @many, 'x', 'fr'), 'a.html', 'en', $own],
	['/', 'de', 'index.de.html', 'de', $own],
	['/', 'fr', 'index.html', 'en', $own],
	['/about', 'de', 'about.html.de', 'de', $own],
	['/b.html', 'en', 'b.en.html', 'en', $own],
	['/b.html', 'fr', 'b.html', 'en', $own],
	['/README', 'de', 'README.de', 'sv', $own],	# by the conf
	['/one/a.html', 'de', 'one/a.html', undef, $own],
	['/one/a.html', 'it', 'one/a.it.html', 'it', $own],
	['/off/a.html', 'de', 'off/a.html', undef, undef],
	['/alone.html', 'de', 'alone.html', 'en', undef],
	['/a.de.html', 'fr', 'a.de.html', 'de', 'Accept-Encoding'],
	['/about.html.de', 'fr', 'about.html.de', 'de', undef],
	['/only.de', 'fr', 'only.de.html', 'de', undef],
	['/a.de.html?.fr', undef, 'a.de.html', 'de', 'Accept-Encoding'],
	['/one/a.de.html', undef, 'one/a.de.html', undef, undef],
	['/p.png', 'de', 'p.de.png', 'de', 'Accept, Accept-Language'],
);
for my $case (@cases, @cases) {
	my ($target, $accept, $file, $language, $vary) = @$case;
	my $answer = get($target, $accept);
	my $what = "$target, Accept-Language: " .
	    substr($accept // 'none', 0, 40);

	is($answer->{body}, "the bytes of $file\n", $what);
	is($answer->{field}{'content-language'}, $language, '... language');
	is($answer->{field}{vary}, $vary, '... Vary');
}
is(get('/a.html', 'fr')->{field}{'content-type'}, 'text/html; charset=utf-8',
    'the type is that of the file beside it');
is(get('/only.html', 'de')->{status}, 404, 'there must be a file itself');

# Codings and formats of a file in a language.
my $gzip = 'Accept-Encoding: gzip';
my $answer = get('/a.html', 'de', $gzip);
is($answer->{body}, "the bytes of a.de.html.gz\n", 'a coding');
is(join(' ', map { $answer->{field}{$_} // '' }
    qw(content-language content-encoding vary)), "de gzip $encoding",
    '... its fields');
is(get('/a.html', 'fr', $gzip)->{body}, "the bytes of a.html.fr\n",
    '... which others lack');
is(get('/p.png', 'de', 'Accept: image/avif')->{body},
    "the bytes of p.de.png.avif\n", 'a format');
is(get('/p.png', 'fr', 'Accept: image/avif')->{field}{vary},
    'Accept, Accept-Language', '... says that there are languages');

# Tags, conditions, ranges and HEAD are of the file that is sent.
my $tag = get('/a.html', 'fr')->{field}{etag};
isnt($tag, get('/a.html')->{field}{etag}, 'each has a tag of its own');
$answer = get('/a.html', 'fr', "If-None-Match: $tag");
is("$answer->{status} $answer->{field}{vary}", "304 $own", 'not modified');
is(get('/a.html', 'en', "If-None-Match: $tag")->{status}, 200,
    '... not for another one');
$answer = get('/a.html', 'fr', 'Range: bytes=13-');
is("$answer->{status} $answer->{body}", "206 a.html.fr\n", 'a range');
is($answer->{field}{'content-language'}, 'fr', '... its language');
$answer = $server->get('/a.html', method => 'HEAD',
    fields => ['Accept-Language: fr']);
is($answer->{field}{'content-language'}, 'fr', 'HEAD');
is($server->get('/a.html', fields => ['Accept-Language: es',
    'Accept-Language: fr'])->{body}, "the bytes of a.html.fr\n",
    'two lines are one list');

# What comes and goes beside a file.
put('alone.de.html');
ok(eval { await('a language that comes', sub {
	get('/alone.html', 'de')->{body} =~ /de/ }) }, 'a language comes');
unlink("$root/alone.de.html");
ok(eval { await('a language that goes', sub {
	get('/alone.html', 'de')->{body} eq "the bytes of alone.html\n" }) },
    '... and goes');
# Looked up again, and not changed, a text has no formats.
sleep(2.1);		# no change has the time of the last one any more
for (1 .. 4) {
	$answer = get('/text.html', undef, 'Accept: image/avif');
	is($answer->{body}, "the bytes of text.html\n", 'no picture');
	is($answer->{field}{vary}, undef, '... Vary');
	sleep(0.1);
}
put('a.html.fr', 90000);
ok(eval { await('a change', sub {
	get('/a.html', 'fr')->{field}{etag} ne $tag }) }, '... or changes');
$server->stop;

# A program is no translation; a field of the conf's own replaces amped's.
$server = Amped->start(root => $root, global => "program p { command /bin/sh }\n",
    site => <<'END_OF_SITE');
	languages de default en
	header Content-Language nn
	run p for *.de.html
END_OF_SITE
$answer = get('/prog.html', 'de');
is($answer->{body}, "the bytes of prog.html\n", 'a program');
is($answer->{field}{'content-language'}, 'nn', 'a field of the conf');
$server->stop;

done_testing();
