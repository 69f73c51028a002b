# src/ampedctl: see README there.

noinst_LIBRARIES += libampedctl.a
dist_noinst_DATA += src/ampedctl/README

libampedctl_a_SOURCES = \
	src/ampedctl/client.c \
	src/ampedctl/client.h \
	src/ampedctl/lines.c \
	src/ampedctl/lines.h \
	src/ampedctl/log_names.c \
	src/ampedctl/log_names.h \
	src/ampedctl/metrics.c \
	src/ampedctl/metrics.h \
	src/ampedctl/preloading.c \
	src/ampedctl/preloading.h \
	src/ampedctl/screen.c \
	src/ampedctl/screen.h \
	src/ampedctl/status.c \
	src/ampedctl/status.h \
	src/ampedctl/terminal.c \
	src/ampedctl/terminal.h
