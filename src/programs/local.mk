# src/programs: see README there.

noinst_LIBRARIES += libprograms.a
dist_noinst_DATA += src/programs/README

libprograms_a_SOURCES = \
	src/programs/admission.c \
	src/programs/admission.h \
	src/programs/application.c \
	src/programs/application.h \
	src/programs/cgi.c \
	src/programs/cgi.h \
	src/programs/confine.c \
	src/programs/confine.h \
	src/programs/crossing.c \
	src/programs/crossing.h \
	src/programs/descendants.c \
	src/programs/descendants.h \
	src/programs/execute.c \
	src/programs/execute.h \
	src/programs/manager.c \
	src/programs/manager.h \
	src/programs/ownership.c \
	src/programs/ownership.h \
	src/programs/pool.c \
	src/programs/pool.h \
	src/programs/private_socket.c \
	src/programs/private_socket.h \
	src/programs/process.c \
	src/programs/process.h \
	src/programs/reaper.c \
	src/programs/reaper.h \
	src/programs/result.c \
	src/programs/result.h \
	src/programs/servers.c \
	src/programs/servers.h \
	src/programs/source.c \
	src/programs/source.h \
	src/programs/variables.c \
	src/programs/variables.h \
	src/programs/wear.c \
	src/programs/wear.h
