# Amped::Visitor: a person who uses an application, by curl with cookies.
#
# A page is what curl has at the end of all redirects: status, body, type, url,
# redirects (their number), fields (those of the last response).
package Amped::Visitor;

use strict;
use warnings;

use Test::More ();

use Amped;
use Amped::Foreign qw(foreign needs_program);

needs_program('curl');

# The form in which curl tells of a response, behind its body.
my @told = qw(http_code num_redirects content_type url_effective);
my $limit = Amped::timeout();

sub new {
	my ($class, $server) = @_;

	return bless({ server => $server, dir => Amped::docroot(jar => '') },
	    $class);
}

# Asks for a page, with more options of curl.  A browser escapes such bytes of a
# link, too.
sub visit {
	my ($self, $path, @options) = @_;
	my %page;

	$path =~ s/([^\x21-\x7e])/sprintf('%%%02X', ord($1))/ge;
	my ($status, $out, $err) = foreign('curl', '-sS', '-L', '--max-time',
	    $limit, '-b', "$self->{dir}/jar", '-c', "$self->{dir}/jar",
	    '-D', "$self->{dir}/head", '-w',
	    join('', map { "\\n%{$_}" } @told), @options,
	    $path =~ m{\Ahttp://} ? $path : $self->{server}->url($path));

	die "curl $path: $err\n" if $status;
	$page{$told[$_]} = $out =~ s/\n([^\n]*)\z// ? $1 : ''
	    for reverse(0 .. $#told);
	return { status => $page{http_code}, type => $page{content_type},
	    redirects => $page{num_redirects}, body => $out,
	    url => $page{url_effective} =~ s{\Ahttp://[^/]*}{}r,
	    fields => last_head("$self->{dir}/head") };
}

sub last_head {
	my @heads = split(/\r\n\r\n/, Amped::slurp($_[0]));

	return { map { /\A([^:]+): *(.*)\z/ ? (lc($1) => $2) : () }
	    split(/\r\n/, $heads[-1] // '') };
}

# Sends a form: names and values, by turns.  A value may be longer than what a
# command line holds.
sub post {
	my ($self, $path, @values) = @_;
	my @options;

	while (my ($name, $value) = splice(@values, 0, 2)) {
		my $file = "$self->{dir}/value" . @options;

		Amped::write_file($file, $value);
		push(@options, '--data-urlencode', "$name\@$file");
	}
	return $self->visit($path, @options);
}

# Asks for a page, as a test that it comes with a status and shows all these
# patterns.
sub sees {
	my ($self, $what, $path, $status, @patterns) = @_;
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	my $page = ref($path) ? $path : $self->visit($path);

	shows($what, $page, $status, @patterns);
	return $page;
}

# Tests that a page has a status and shows all these patterns.
sub shows {
	my ($what, $page, $status, @patterns) = @_;
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	my @lacks = grep { $page->{body} !~ $_ } @patterns;

	Test::More::ok($page->{status} == $status && !@lacks, $what) or
	    Test::More::diag("$page->{url}: status $page->{status}, lacks: " .
	    "@lacks\n" . substr($page->{body}, 0, 500));
}

# The values of the hidden fields of the form that has an element of that name,
# as those of post().
sub hidden {
	my ($page, $name) = @_;
	my ($form) = grep { /\bname=["']\Q$name\E["']/ }
	    $page->{body} =~ /<form\b.*?<\/form>/gs;
	my %value;

	for my $input (($form // '') =~ /<input\b[^>]*>/g) {
		my %has = $input =~ /([\w-]+)=["']([^"']*)["']/g;

		$value{$has{name}} = plain($has{value} // '')
		    if ($has{type} // '') eq 'hidden' && exists($has{name});
	}
	return %value;
}

# Text of HTML as bytes.
sub plain {
	my ($text) = @_;
	my %of = (amp => '&', lt => '<', gt => '>', quot => '"');

	$text =~ s/&(?:(amp|lt|gt|quot)|#0*(\d+));/$1 ? $of{$1} : chr($2)/ge;
	return $text;
}

1;
