#!/usr/bin/env perl
# Says hello, and how long the body of the request was.
use strict;
use warnings;

# Read no more than there is: the length is always right.
my $length = $ENV{CONTENT_LENGTH} || 0;
my $body = '';
1 while length($body) < $length &&
    sysread(STDIN, $body, $length - length($body), length($body));

my $answer = "Hello from Perl.\nbody    $length bytes\n$body\n";
print "Content-Type: text/plain; charset=utf-8\n";
print 'Content-Length: ' . length($answer) . "\n\n";
print $answer if $ENV{REQUEST_METHOD} ne 'HEAD';
