<?php
header('Content-Type: text/plain');
echo "Hello from PHP-FPM.\n";
echo 'by      ', PHP_SAPI, "\n";
echo 'target  ', $_SERVER['REQUEST_URI'], "\n";
