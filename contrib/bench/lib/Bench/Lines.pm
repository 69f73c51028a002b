# Bench::Lines: a figure over another one (the size of a file), a line for each
# of several ways, as a picture that needs no script.
package Bench::Lines;

use strict;
use warnings;

use Bench::Page;
use Bench::Report;

use constant { HEIGHT => 340, LEFT => 60, TOP => 10, BOTTOM => 30 };

our $style = <<'END';
svg { max-width: 60rem; }
.axis { stroke: var(--line); }
polyline { fill: none; stroke-width: 2; }
circle { stroke: none; }
END

# As different as eight and two can be, on light ground and on dark.
my @colours = ('#0b62b8', '#d9480f', '#2b8a3e', '#a61e4d', '#7048e8',
    '#b08900', '#0c8599', '#868e96', '#f06595', '#5c940d');
my @dashes = ('', '6 3', '2 3');

# A round number, as are its quarters, not below this one.
sub ceiling_of {
	my ($value) = @_;
	my $unit = 10 ** int(log($value || 1) / log(10) - ($value < 1 ? 1 : 0));

	for my $n (1, 1.2, 1.6, 2, 2.4, 3.2, 4, 6, 8) {
		return $n * $unit if $n * $unit >= $value;
	}
	return 10 * $unit;
}

sub axes {
	my ($frame, $x, $y, @at) = @_;
	my ($svg, $free) = ('', 0);

	for my $i (0 .. 4) {
		my $value = $frame->{most} * $i / 4;
		$svg .= sprintf('<line class="axis" x1="%d" x2="%d" ' .
		    'y1="%.1f" y2="%.1f"/><text class="faint" x="%d" ' .
		    'y="%.1f" text-anchor="end">%s</text>' . "\n", LEFT,
		    $frame->{right}, ($y->($value)) x 2, LEFT - 6,
		    $y->($value) + 4, Bench::Report::digits($value));
	}
	for my $value (@at) {
		# Where there is room for it.
		next if $x->($value) < $free;
		$free = $x->($value) + 30;
		$svg .= sprintf('<text class="faint" x="%.1f" y="%d" ' .
		    'text-anchor="middle">%s</text>' . "\n", $x->($value),
		    HEIGHT - 10, $value >= 1000 ? $value / 1000 . 'K' : $value);
	}
	return $svg;
}

# Names stand at the right, in the order of the lines' ends, none over another,
# and all within the picture.
sub names {
	my ($frame, $y, @ends) = @_;
	my @down = sort { $a->{at} <=> $b->{at} }
	    map { { %$_, at => $y->($_->{value}) } } @ends;
	my ($svg, $least, $most) = ('', 12, HEIGHT - 8);

	for my $end (@down) {
		$end->{at} = $least if $end->{at} < $least;
		$least = $end->{at} + 15;
	}
	for my $end (reverse @down) {
		$end->{at} = $most if $end->{at} > $most;
		$most = $end->{at} - 15;
		$svg .= sprintf('<text x="%d" y="%.1f" style="fill: %s">' .
		    '%s</text>' . "\n", $frame->{right} + 8, $end->{at},
		    $end->{colour}, Bench::Page::escape($end->{name}));
	}
	return $svg;
}

sub line {
	my ($colour, $dash, @points) = @_;

	return sprintf('<polyline points="%s" style="stroke: %s; ' .
	    'stroke-dasharray: %s"/>', join(' ', map {
	    sprintf('%.1f,%.1f', @$_) } @points), $colour, $dash || 'none') .
	    join('', map { sprintf('<circle cx="%.1f" cy="%.1f" r="2.5" ' .
	    'style="fill: %s"/>', @$_, $colour) } @points) . "\n";
}

sub highest {
	return (sort { $b <=> $a } map { values(%{$_->[1]}) } @_)[0] // 0;
}

#	title, unit
#	x	at which values; they are apart by their logarithms
#	ways	for each a name, values by x of which some may be missing and, to
#		look the same in several pictures, a number
#	most	what the picture has room for, if not just for these
#	width	in all, and what of it is for names
sub picture {
	my (%opt) = @_;
	my @x = @{$opt{x}};
	my ($width, $names) = @{$opt{width} // [720, 190]};
	my %frame = (right => $width - $names, most =>
	    ceiling_of($opt{most} // highest(@{$opt{ways}})));
	my $span = log($x[-1] / $x[0]) || 1;
	my $x = sub { LEFT + 15 + ($frame{right} - LEFT - 30) *
	    log($_[0] / $x[0]) / $span };
	my $y = sub { HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * $_[0] /
	    $frame{most} };
	my $svg = axes(\%frame, $x, $y, @x);
	my @ends;

	for my $i (0 .. $#{$opt{ways}}) {
		my ($name, $values, $n) = @{$opt{ways}[$i]};
		my $colour = $colours[($n // $i) % @colours];
		my @there = grep { defined($values->{$_}) } @x or next;
		$svg .= line($colour, $dashes[($n // $i) % @dashes],
		    map { [$x->($_), $y->($values->{$_})] } @there);
		push(@ends, { name => $name, colour => $colour,
		    value => $values->{$there[-1]} });
	}
	return '<section><h3>' . Bench::Page::escape($opt{title}) .
	    ' <span class="faint">' . Bench::Page::escape($opt{unit}) .
	    "</span></h3>\n<svg viewBox=\"0 0 $width " . HEIGHT .
	    '" role="img" aria-label="' .
	    Bench::Page::escape("$opt{title}, $opt{unit}") .
	    "\">\n$svg" . names(\%frame, $y, @ends) . "</svg></section>\n";
}

1;
