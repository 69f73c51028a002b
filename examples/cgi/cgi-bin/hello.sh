#!/bin/sh
# Says hello, and what it was asked.
printf 'Content-Type: text/plain; charset=utf-8\n\n'
printf 'Hello from sh.\n'
printf 'method  %s\n' "$REQUEST_METHOD"
printf 'script  %s\n' "$SCRIPT_NAME"
printf 'path    %s\n' "${PATH_INFO:-none}"
printf 'query   %s\n' "${QUERY_STRING:-none}"
printf 'client  %s\n' "$REMOTE_ADDR"
