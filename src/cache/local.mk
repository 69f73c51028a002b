# src/cache: see README there.

noinst_LIBRARIES += libcache.a
dist_noinst_DATA += src/cache/README

libcache_a_SOURCES = \
	src/cache/absents.c \
	src/cache/absents.h \
	src/cache/advice.c \
	src/cache/advice.h \
	src/cache/advised.h \
	src/cache/auth.c \
	src/cache/auth.h \
	src/cache/cache.c \
	src/cache/cache.h \
	src/cache/chooser.c \
	src/cache/chooser.h \
	src/cache/chunk.c \
	src/cache/chunk.h \
	src/cache/digest.c \
	src/cache/digest.h \
	src/cache/edges.c \
	src/cache/edges.h \
	src/cache/file.c \
	src/cache/file.h \
	src/cache/file_private.h \
	src/cache/ghosts.c \
	src/cache/ghosts.h \
	src/cache/handover.c \
	src/cache/handover.h \
	src/cache/guests.c \
	src/cache/guests.h \
	src/cache/header.c \
	src/cache/header.h \
	src/cache/hint_table.c \
	src/cache/hint_table.h \
	src/cache/keep.c \
	src/cache/keep.h \
	src/cache/limits.c \
	src/cache/limits.h \
	src/cache/miniature.c \
	src/cache/miniature.h \
	src/cache/open_file.h \
	src/cache/path_info.c \
	src/cache/path_info.h \
	src/cache/order.h \
	src/cache/pathname.c \
	src/cache/pathname.h \
	src/cache/pathname_private.h \
	src/cache/policies.c \
	src/cache/policy.c \
	src/cache/policy.h \
	src/cache/policy_gdsf.c \
	src/cache/policy_lfu.c \
	src/cache/policy_lru.c \
	src/cache/policy_s3fifo.c \
	src/cache/policy_sieve.c \
	src/cache/prefetch.c \
	src/cache/prefetch.h \
	src/cache/ranks.c \
	src/cache/ranks.h \
	src/cache/residency.c \
	src/cache/residency.h \
	src/cache/transient.c \
	src/cache/transient.h
