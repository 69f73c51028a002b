# src/lib: see README there.

noinst_LIBRARIES += libamped_lib.a
dist_noinst_DATA += src/lib/README

libamped_lib_a_SOURCES = \
	src/lib/base64.c \
	src/lib/base64.h \
	src/lib/buf.c \
	src/lib/buf.h \
	src/lib/clock.c \
	src/lib/clock.h \
	src/lib/compiler.h \
	src/lib/counter.h \
	src/lib/facility.h \
	src/lib/hash.c \
	src/lib/hash.h \
	src/lib/io.c \
	src/lib/io.h \
	src/lib/landlock.c \
	src/lib/landlock.h \
	src/lib/lines.c \
	src/lib/lines.h \
	src/lib/listen_fds.c \
	src/lib/listen_fds.h \
	src/lib/lock.c \
	src/lib/lock.h \
	src/lib/log.c \
	src/lib/log.h \
	src/lib/mem.c \
	src/lib/mem.h \
	src/lib/need.c \
	src/lib/need.h \
	src/lib/options.c \
	src/lib/options.h \
	src/lib/pagemap.c \
	src/lib/pagemap.h \
	src/lib/proc.c \
	src/lib/proc.h \
	src/lib/regular.c \
	src/lib/regular.h \
	src/lib/sandbox.c \
	src/lib/sandbox.h \
	src/lib/sd_notify.c \
	src/lib/sd_notify.h \
	src/lib/slab.c \
	src/lib/slab.h \
	src/lib/sockaddr.h \
	src/lib/str.c \
	src/lib/str.h \
	src/lib/swar.h \
	src/lib/syscall_filter.c \
	src/lib/syscall_filter.h \
	src/lib/syscalls.tbl \
	src/lib/token_bucket.c \
	src/lib/token_bucket.h \
	src/lib/trusted.c \
	src/lib/trusted.h \
	src/lib/url.c \
	src/lib/url.h \
	src/lib/user.c \
	src/lib/user.h \
	src/lib/visible.c \
	src/lib/visible.h \
	src/lib/wakeup.c \
	src/lib/wakeup.h
