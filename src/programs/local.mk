# src/programs: see README there.

noinst_LIBRARIES += libprograms.a
dist_noinst_DATA += src/programs/README

libprograms_a_SOURCES = \
	src/programs/descendants.c \
	src/programs/descendants.h \
	src/programs/error_lines.c \
	src/programs/error_lines.h \
	src/programs/execute.c \
	src/programs/execute.h \
	src/programs/manager.c \
	src/programs/manager.h \
	src/programs/reaper.c \
	src/programs/reaper.h \
	src/programs/variables.c \
	src/programs/variables.h
