# What the tests are made of; see t/README.

check_LIBRARIES =
check_PROGRAMS = $(unit_tests) $(fuzz_targets) $(e2e_programs) t/script/script
e2e_programs = t/decode t/evict t/lib/malloc.so t/lib/gate.so t/lib/leap.so \
	t/lib/passwd.so t/lib/threads.so

include $(srcdir)/t/unit/local.mk
include $(srcdir)/t/fuzz/local.mk

t_decode_SOURCES = \
	t/decode.c

t_decode_LDADD = $(BROTLI_LIBS) $(ZSTD_LIBS)

t_evict_SOURCES = \
	t/evict.c

t_evict_LDADD =

# Loaded into other programs: not by the rules for these.
t_lib_malloc_so_SOURCES = \
	t/lib/malloc.c

t_lib_malloc_so_CFLAGS = -fPIC
t_lib_malloc_so_LDFLAGS = -shared
t_lib_malloc_so_LDADD =

t_lib_gate_so_SOURCES = \
	t/lib/gate.c

t_lib_gate_so_CFLAGS = -fPIC
t_lib_gate_so_LDFLAGS = -shared
t_lib_gate_so_LDADD =

t_lib_leap_so_SOURCES = \
	t/lib/leap.c

t_lib_leap_so_CFLAGS = -fPIC
t_lib_leap_so_LDFLAGS = -shared
t_lib_leap_so_LDADD =

t_lib_passwd_so_SOURCES = \
	t/lib/passwd.c

t_lib_passwd_so_CFLAGS = -fPIC
t_lib_passwd_so_LDFLAGS = -shared
t_lib_passwd_so_LDADD =

t_lib_threads_so_SOURCES = \
	t/lib/threads.c

t_lib_threads_so_CFLAGS = -fPIC
t_lib_threads_so_LDFLAGS = -shared
t_lib_threads_so_LDADD =

if HAVE_FUSE
e2e_programs += t/slowfs
endif

t_slowfs_SOURCES = \
	t/slowfs.c

t_slowfs_LDADD =

# The programs as they are, and what takes them over; see there.
if HAVE_WRAP
e2e_programs += t/faults/amped t/faults/amped-helper
e2e_programs += t/layered/amped t/layered/amped-helper
endif

wrap_ldflags = $(AM_LDFLAGS) -Wl,--wrap=recv,--wrap=job_perform

t_faults_amped_SOURCES = \
	t/faults.c \
	$(amped_SOURCES)

t_faults_amped_LDADD = $(amped_LDADD)
t_faults_amped_LDFLAGS = $(wrap_ldflags)

t_faults_amped_helper_SOURCES = \
	t/faults.c \
	$(amped_helper_SOURCES)

t_faults_amped_helper_LDADD = $(amped_helper_LDADD)
t_faults_amped_helper_LDFLAGS = $(wrap_ldflags)

t_layered_amped_SOURCES = \
	t/layer.c \
	t/layered.c \
	$(amped_SOURCES)

t_layered_amped_LDADD = $(amped_LDADD)
t_layered_amped_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=clients_add

t_layered_amped_helper_SOURCES = $(amped_helper_SOURCES)
t_layered_amped_helper_LDADD = $(amped_helper_LDADD)

if HAVE_EPOLL
e2e_programs += $(bench_programs)
endif

t_script_script_SOURCES = \
	t/layer.c \
	t/layer.h \
	t/script/filters.c \
	t/script/filters.h \
	t/script/passages.c \
	t/script/passages.h \
	t/script/programs.c \
	t/script/programs.h \
	t/script/script.c \
	t/script/words.c \
	t/script/words.h \
	t/script/world.c \
	t/script/world.h

t_script_script_LDADD = $(with_http)
