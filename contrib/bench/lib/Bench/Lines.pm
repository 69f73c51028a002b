# Bench::Lines: a figure over the size of a file, a line for each of several
# ways, as a picture that needs no script.
package Bench::Lines;

use strict;
use warnings;

use Bench::Page;
use Bench::Report;

use constant { WIDTH => 720, HEIGHT => 340, LEFT => 60, RIGHT => 190,
    TOP => 10, BOTTOM => 30 };

our $style = <<'END';
svg { max-width: 60rem; }
.axis { stroke: var(--line); }
polyline { fill: none; stroke-width: 2; }
END

# As different as eight and two can be, on light ground and on dark.
my @colours = ('#0b62b8', '#d9480f', '#2b8a3e', '#a61e4d', '#7048e8',
    '#b08900', '#0c8599', '#868e96', '#f06595', '#5c940d');
my @dashes = ('', '6 3', '2 3');

# A round number, not below this one.
sub ceiling_of {
	my ($value) = @_;
	my $unit = 10 ** int(log($value || 1) / log(10) - ($value < 1 ? 1 : 0));

	for my $n (1, 1.5, 2, 2.5, 3, 4, 5, 6, 8) {
		return $n * $unit if $n * $unit >= $value;
	}
	return 10 * $unit;
}

sub axes {
	my ($most, $x, $y, @sizes) = @_;
	my $svg = '';

	for my $i (0 .. 4) {
		my $value = $most * $i / 4;
		$svg .= sprintf('<line class="axis" x1="%d" x2="%d" ' .
		    'y1="%.1f" y2="%.1f"/><text class="faint" x="%d" ' .
		    'y="%.1f" text-anchor="end">%s</text>' . "\n", LEFT,
		    WIDTH - RIGHT, ($y->($value)) x 2, LEFT - 6,
		    $y->($value) + 4, Bench::Report::digits($value));
	}
	for my $size (@sizes) {
		$svg .= sprintf('<text class="faint" x="%.1f" y="%d" ' .
		    'text-anchor="middle">%s</text>' . "\n", $x->($size),
		    HEIGHT - 10, $size >= 1000 ? $size / 1000 . 'K' : $size);
	}
	return $svg;
}

# Names stand at the right, in the order of the lines' ends, none over another,
# and all within the picture.
sub names {
	my ($y, @ends) = @_;
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
		    '%s</text>' . "\n", WIDTH - RIGHT + 8, $end->{at},
		    $end->{colour}, Bench::Page::escape($end->{name}));
	}
	return $svg;
}

# Ways are a name and values by size; sizes are apart by their logarithms.
sub picture {
	my ($title, $unit, $sizes, @ways) = @_;
	my @sizes = @$sizes;
	my ($highest) = sort { $b <=> $a } map { values(%{$_->[1]}) } @ways;
	my $most = ceiling_of($highest);
	my $span = log($sizes[-1] / $sizes[0]) || 1;
	my $x = sub { LEFT + 15 + (WIDTH - LEFT - RIGHT - 30) *
	    log($_[0] / $sizes[0]) / $span };
	my $y = sub { HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * $_[0] /
	    $most };
	my $svg = axes($most, $x, $y, @sizes);
	my @ends;

	for my $i (0 .. $#ways) {
		my ($name, $values) = @{$ways[$i]};
		my $colour = $colours[$i % @colours];
		$svg .= sprintf('<polyline points="%s" style="stroke: %s; ' .
		    'stroke-dasharray: %s"/>' . "\n", join(' ', map {
		    sprintf('%.1f,%.1f', $x->($_), $y->($values->{$_})) }
		    @sizes), $colour, $dashes[$i % @dashes] || 'none');
		push(@ends, { name => $name, colour => $colour,
		    value => $values->{$sizes[-1]} });
	}
	return '<section><h3>' . Bench::Page::escape($title) .
	    ' <span class="faint">' . Bench::Page::escape($unit) .
	    "</span></h3>\n<svg viewBox=\"0 0 " . WIDTH . ' ' . HEIGHT .
	    '" role="img" aria-label="' . Bench::Page::escape("$title, $unit") .
	    "\">\n$svg" . names($y, @ends) . "</svg></section>\n";
}

1;
