#!/usr/bin/perl
# The recipes of amped-recipes(7): each conf is one, and does what the page says.
# arch: pair
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use Amped qw(await docroot free_port run_amped slurp write_file);
use MIME::Base64 qw(encode_base64);
use Test::More;

Amped::one_main();

my $page = slurp(Amped::source_dir() . '/man/amped-recipes.7');
my $library = Amped::copy_for_all('t/lib/passwd.so');
plan(skip_all => 'there is no passwd.so: make tests') unless $library;
my $root_starts = $> == 0;
my $joe = $root_starts ? 20001 : $>;
my $password = crypt('secret', '$6$abcdefgh$');

# Each display with a name in front of it, as the page shows it.
sub confs {
	my %conf;

	while ($page =~ /^\.\\" conf (\w+)\n\.Bd -literal[^\n]*\n(.*?)^\.Ed$/msg) {
		my ($name, $text) = ($1, $2);
		die "two are called $name\n" if $conf{$name};
		$conf{$name} = $text =~ s/\\e/\\/gr =~ s/\\&//gr;
	}
	return \%conf;
}

# What a recipe serves, below a directory of the test, and requests: target,
# status, and what the head or body must match; with fields of the request
# before these.
my %recipes = (
	nginx => { host => 'www.example.org', files => {
	    'srv/www/example.org/sub/a.bak' => "no\n",
	    'srv/www/example.org/404.html' => "own 404\n",
	    'srv/www/pictures/a.png' => "png\n" }, ask => [
		['/sub/', 200, 'a\.bak'], ['/sub/a.bak', 403],
		['/none', 404, 'own 404'],
		['/images/a.png', 200, 'cache-control: max-age=2592000'],
		['/old/x?y', 301, 'location: /new/x\?y$'] ] },
	apache => { host => 'example.org', files => {
	    'srv/www/example.org/start.html' => "start\n",
	    'srv/www/example.org/members/start.html' => "members\n",
	    'srv/www/manual/index.html' => "manual\n" }, ask => [
		['/', 200, '^start'], ['/manual/', 200, '^manual'],
		['/members/', 401, 'www-authenticate: .*"Members only"'],
		[Authorization => '/members/', 200, '^members'] ] },
	hsts => { host => 'example.org', files => {
	    'srv/www/example.org/index.html' => "page\n" }, ask => [
		['/', 200, 'strict-transport-security: max-age=31536000$'],
		['/none', 404] ], second => [
		['/a?b', 301, 'location: https://example\.org/a\?b$'] ] },
	cors => { host => 'static.example.org', files => {
	    'srv/www/static/fonts/a.woff2' => "font\n",
	    'srv/www/static/data/a.json' => "{}\n",
	    'srv/www/static/a.html' => "page\n" }, ask => [
		['/fonts/a.woff2', 200, 'access-control-allow-origin: \*$'],
		['/data/a.json', 200,
		    'access-control-allow-origin: https://example\.org$'],
		['/data/a.json', 200, 'vary: Origin$'],
		['/a.html', 200, '(?!.*access-control)\A'] ] },
	spa => { host => 'app.example.org', files => {
	    'srv/www/app/index.html' => "app\n",
	    'srv/www/app/assets/a.1.js' => "js\n" }, ask => [
		['/', 200, '^app'], ['/some/view', 200, '^app'],
		['/some/view', 200, 'cache-control: no-cache$'],
		['/assets/a.1.js', 200,
		    'cache-control: max-age=31536000, immutable$'],
		['/assets/none.js', 404], ['/api/x', 404] ] },
	proxy => { host => 'example.org', files => {
	    'srv/www/example.org/a' => "a\n",
	    'srv/www/example.org/dir/index.html' => "dir\n",
	    'srv/www/example.org/staff/a' => "staff's\n" }, ask => [
		['/a', 200, '^a'], ['/staff/a', 403],
		['X-Forwarded-For' => '/staff/a', 200, "^staff's"],
		['X-Forwarded-Proto' => '/dir', 301,
		    'location: https://example\.org/dir/$'] ] },
	caddy => { host => 'example.org', files => {
	    'srv/www/example.org/sub/a' => "a\n",
	    'srv/www/example.org/members/p' => "p\n",
	    'srv/www/pictures/a.png' => "png\n" }, ask => [
		['/sub/', 200, 'href="a"'], ['/none', 404, 'x-frame-options: deny$'],
		['/images/a.png', 200, '^png'],
		['/old', 301, 'location: /new$'], ['/members/p', 401],
		[Authorization => '/members/p', 200, '^p'] ] },
	always => { host => 'example.org', files => {
	    'srv/www/example.org/a' => "a\n" }, ask => [
		['/a', 200, "content-security-policy: default-src 'self'\$"],
		['/none', 404, 'referrer-policy: no-referrer$'],
		['/old/a', 301, 'referrer-policy: no-referrer$'] ] },
	hosts => { host => 'Example.org', files => {
	    'srv/hosts/example.org/a' => "a of example.org\n",
	    'srv/hosts/example.net/404.html' => "none at example.net\n" },
	    ask => [ ['/a', 200, '^a of example.org'], ['/none', 404],
		['http://example.net/a', 404, '^none at example.net'],
		['http://none.example/a', 404] ] },
	www => { host => 'example.org', files => {
	    'srv/www/example.org/a' => "a\n" }, ask => [
		['/a', 200, '^a'], ['http://www.example.org/a?b', 301,
		    'location: http://example\.org/a\?b$'] ] },
	clean => { host => 'example.org', files => {
	    'srv/www/example.org/about.html' => "about\n",
	    'srv/www/example.org/404.html' => "own 404\n" }, ask => [
		['/about', 200, '^about'], ['/about.html', 200, '^about'],
		['/about', 200, 'content-type: text/html'],
		['/none', 404, '^own 404'] ] },
	acme => { host => 'www.example.org', files => {
	    'srv/acme/.well-known/acme-challenge/token' => "proof\n" }, ask => [
		['/.well-known/acme-challenge/token', 200, '^proof'],
		['/a/b', 301, 'location: https://example\.org/a/b$'] ] },
	maintenance => { host => 'example.org', files => {
	    'srv/www/maintenance/page.html' => "back soon\n",
	    'srv/www/maintenance/a.png' => "png\n" }, ask => [
		['/', 503, 'back soon'], ['/any/where', 503, 'back soon'],
		['/maintenance/a.png', 200, '^png'] ] },
	downloads => { host => 'download.example.org', files => {
	    'srv/download/iso/a.iso' => "iso\n", 'srv/download/b.part' => '',
	    'srv/download/private/p' => "p\n" }, ask => [
		['/', 200, '(?s)\A(?!.*b\.part).*iso/'],
		['/iso/a.iso', 200, 'content-disposition: attachment$'],
		[Range => '/iso/a.iso', 206, '^o'],
		[Accept => '/', 200, '"name":"iso"'],
		['/private/p', 401], [Authorization => '/private/p', 200] ] },
	version => { host => 'example.org', files => {
	    'srv/www/example.org/1/a' => "one\n",
	    'srv/www/example.org/2/a' => "two\n" },
	    link => 'srv/www/example.org/current', ask => [
		['/a', 200, '^one'] ] },
	users => { host => 'people.example.org', files => {
	    'srv/www/people/index.html' => "people\n",
	    'home/joe/public_html/a' => "joe's\n" }, ask => [
		['/', 200, '^people'], ['/~joe/a', 200, "^joe's"],
		['/~joe/', 200, 'href="a"'], ['/~guest/a', 404] ] },
	container => { host => 'any.example', files => {
	    'var/www/html/index.html' => "page\n" }, ask => [
		['/', 200, '^page'], ['/status', 200, 'requests'] ] },
);
my %fields = (Authorization => 'Basic ' . encode_base64('joe:secret', ''),
    Range => 'bytes=2-2', Accept => 'application/json',
    'X-Forwarded-For' => '192.0.2.7', 'X-Forwarded-Proto' => 'https');

my $conf = confs();
my %elsewhere = map { $_ => 1 } qw(header socket);	# 64-recipes-proxies.t
delete(@$conf{keys(%elsewhere)});
is_deeply([sort(keys(%$conf))], [sort(keys(%recipes))],
    'each conf of the page is tried');
try_recipe($_) for sort(keys(%$conf));

sub try_recipe {
	my ($name) = @_;
	my $recipe = $recipes{$name};
	my $dir = docroot(%{$recipe->{files}},
	    'etc/members' => "joe:$password\n");
	my @ports = (free_port(), free_port());
	my $text = $conf->{$name};
	my ($n, %port) = (0);

	$text =~ s{(?<=\s)/(srv|var/www|etc)/(?:amped/)?}{$dir/$1/}g;
	$text =~ s{(listen )(\S+)}{$1 . '127.0.0.1:' .
	    ($port{$2} //= $ports[$n++])}ge;
	symlink('1', "$dir/$recipe->{link}") if $recipe->{link};
	my $own = $text =~ /^log \{/m;
	my $server = start_recipe($name, $dir, $text, $own, $n);
	for my $ask (@{$recipe->{ask}}) {
		check($server, $name, $recipe->{host}, $ports[0], @$ask);
	}
	for my $ask (@{$recipe->{second} // []}) {
		check($server, $name, $recipe->{host}, $ports[1], @$ask);
	}
	switch($server, "$dir/$recipe->{link}") if $recipe->{link};
	my ($status, $out, $err) = run_amped('-t', '-f',
	    "$server->{dir}/amped.conf");
	is($status, 0, "$name: amped -t finds nothing") or diag($err);
	unlike($err, qr/warn:/, "$name: ... nor has a warning");
	$server->stop;
}

# Another version is served, and no request meanwhile fails.
sub switch {
	my ($server, $link) = @_;
	my %seen;

	symlink('2', "$link.next");
	rename("$link.next", $link) or die "rename: $!\n";
	await('version 2', sub {
		my $answer = $server->get('/a', host => 'example.org');
		$seen{"$answer->{status} $answer->{body}"}++;
		return $seen{"200 two\n"};
	});
	is_deeply([grep { !/\A200 (?:one|two)\n\z/ } keys(%seen)], [],
	    'a link that is switched');
}

# The users of "users" are those of a database of the test.
sub start_recipe {
	my ($name, $dir, $text, $own_log, $listeners) = @_;
	my @users = ("joe $joe $dir/home/joe\n", "guest $joe $dir/home/joe\n");

	write_file("$dir/passwd", join('', @users));
	system('chown', '-R', $joe, "$dir/home") if $name eq 'users' && $> == 0;
	local %ENV = (%ENV, $name eq 'users' ? (
	    AMPED_TEST_PASSWD => "$dir/passwd",
	    LD_PRELOAD => $library,
	    ASAN_OPTIONS => join(':', $ENV{ASAN_OPTIONS} // (),
		'verify_asan_link_order=0')) : ());
	return Amped->start(sites => $text, listeners => $listeners,
	    $own_log ? (log => '') : ());
}

sub check {
	my ($server, $name, $host, $port, @ask) = @_;
	my $field = @ask > 1 && $ask[1] =~ m{\A/} ? shift(@ask) : undef;
	my ($target, $status, $pattern) = @ask;
	my $answer = $server->get($target, host => $host, port => $port,
	    fields => [$field ? "$field: $fields{$field}" : ()]);
	my $all = join('', map { "$_: $answer->{field}{$_}\n" }
	    sort(keys(%{$answer->{field}}))) . "\n$answer->{body}";

	is($answer->{status}, $status, "$name: $target: $status");
	like($all, qr/$pattern/m, "$name: $target: $pattern")
	    if defined($pattern);
}

# The tables of words: those of amped are words of the conf, or commands.
my %word = map { $_ => 1 } map { (split(/\t/))[0 .. 2] }
    split(/\n/, (run_amped('-L'))[1]);
my @mapped = map { /^\.It .* Ta (Ic .*)/ ? $1 : () } split(/\n/, $page);
cmp_ok(scalar(@mapped), '>', 40, 'words of other servers');
is_deeply([grep { !$word{$_} } map { split(/ , /) }
    map { /\bIc ([a-z]+(?: , [a-z]+)*)/g } @mapped], [],
    'stand beside words of the conf');

# Each word of another server in these tables has a hint in a site or outside,
# unless amped has the same word.
my %table = $page =~ /^\.Sh COMING FROM (\w+)$(.*?)^\.El$/msg;
for my $server (sort(keys(%table))) {
	my @theirs = map { s/\\&//gr } $table{$server} =~ /^\.It Li (.*?) Ta /mg;

	cmp_ok(scalar(@theirs), '>', 20, "words of $server");
	is_deeply([grep { !has_hint($_) } map { split(/ ?, /) }
	    grep { !/^(?:nginx|apachectl|caddy) / } @theirs], [],
	    "each word of $server has a hint");
}

# Whether amped says what it has in place of this statement.
sub has_hint {
	my ($statement) = @_;
	my $dir = docroot();
	my ($first) = $statement =~ /^(\S+)/;
	my $block = $statement =~ s/ ?\{$// || $statement =~ /^:/ ? " {\n}" : '';

	return 1 if $word{$first} && $statement !~ /^(?:log$|root \*|header -)/;
	for my $text ($statement, "<$statement>") {
		for my $conf ("$text$block\n", "site a {\n$text$block\n}\n") {
			write_file("$dir/conf", $conf);
			my (undef, undef, $said) = run_amped('-t', '-f',
			    "$dir/conf");
			return 1 if $said =~ /is a word of|a site of Caddy|: write /;
		}
	}
	return 0;
}

done_testing();
