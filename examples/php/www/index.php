<?php
header('Content-Type: text/plain; charset=utf-8');
echo "Hello from PHP.\n";
printf("process %d\n", getmypid());
printf("method  %s\n", $_SERVER['REQUEST_METHOD']);
printf("target  %s\n", $_SERVER['REQUEST_URI']);
foreach ($_GET + $_POST as $name => $value)
	printf("given   %s = %s\n", $name, is_string($value) ? $value : 'list');
