# src/ampedctl: see README there.

noinst_LIBRARIES += libampedctl.a
dist_noinst_DATA += src/ampedctl/README

libampedctl_a_SOURCES = \
	src/ampedctl/client.c \
	src/ampedctl/client.h \
	src/ampedctl/metrics.c \
	src/ampedctl/metrics.h \
	src/ampedctl/screen.c \
	src/ampedctl/screen.h \
	src/ampedctl/status.c \
	src/ampedctl/status.h \
	src/ampedctl/terminal.c \
	src/ampedctl/terminal.h
