#!/bin/sh
# Makes configure and Makefile.in, which are not kept in the repository.
cd "$(dirname "$0")" && exec autoreconf --force --install "$@"
