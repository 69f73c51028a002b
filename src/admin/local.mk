# src/admin: see README there.

noinst_LIBRARIES += libadmin.a
dist_noinst_DATA += src/admin/README

libadmin_a_SOURCES = \
	src/admin/directory.c \
	src/admin/directory.h \
	src/admin/explain_url.c \
	src/admin/explain_url.h \
	src/admin/hot_names.c \
	src/admin/hot_names.h \
	src/admin/load.c \
	src/admin/load.h \
	src/admin/made_requests.c \
	src/admin/made_requests.h \
	src/admin/needs.c \
	src/admin/needs.h \
	src/admin/needs_programs.c \
	src/admin/needs_unit.c \
	src/admin/requests.c \
	src/admin/requests.h \
	src/admin/target.c \
	src/admin/target.h \
	src/admin/walk.c \
	src/admin/walk.h \
	src/admin/warm.c \
	src/admin/warm.h
