# Unit tests.  A test's one source is named as its program, with .c.  What it
# defines itself stands in for the library's; of all else it links only what
# is called.

if HAVE_CHECK
check_LIBRARIES += libunit.a
thread_tests = \
	t/unit/cache/cache_threads \
	t/unit/http/caches_threads \
	t/unit/loop/threads
unit_tests = \
	t/unit/ampedctl/metrics \
	t/unit/ampedctl/screen \
	t/unit/arch/budget \
	t/unit/cache/auth \
	t/unit/cache/cache \
	t/unit/cache/cache_threads \
	t/unit/cache/chunk \
	t/unit/cache/digest \
	t/unit/cache/file \
	t/unit/cache/header \
	t/unit/cache/path_info \
	t/unit/cache/pathname \
	t/unit/cache/prefetch \
	t/unit/conf/access \
	t/unit/conf/conf \
	t/unit/conf/divide \
	t/unit/conf/dump \
	t/unit/conf/errors \
	t/unit/conf/foreign \
	t/unit/conf/log_format \
	t/unit/conf/program \
	t/unit/conf/run \
	t/unit/conf/where \
	t/unit/disk/disk_thread \
	t/unit/disk/fs_queues \
	t/unit/disk/helper_pool \
	t/unit/disk/task_queue \
	t/unit/helpers/append \
	t/unit/helpers/beneath \
	t/unit/helpers/close \
	t/unit/helpers/compress \
	t/unit/helpers/copy \
	t/unit/helpers/digest \
	t/unit/helpers/error_writer \
	t/unit/helpers/explain_path \
	t/unit/helpers/htpasswd \
	t/unit/helpers/json_lines \
	t/unit/helpers/links \
	t/unit/helpers/list \
	t/unit/helpers/log_sink \
	t/unit/helpers/rdns \
	t/unit/helpers/read \
	t/unit/helpers/repeat_filter \
	t/unit/helpers/resolve \
	t/unit/helpers/resolve_copy \
	t/unit/helpers/resolve_programs \
	t/unit/helpers/root \
	t/unit/helpers/spool \
	t/unit/helpers/syslog \
	t/unit/helpers/template \
	t/unit/helpers/verify \
	t/unit/helpers/way \
	t/unit/helpers/wire \
	t/unit/helpers/wire_reply \
	t/unit/http/caches_threads \
	t/unit/http/deferred_close \
	t/unit/http/limits/verifiers \
	t/unit/http/log/log_escape \
	t/unit/http/log/recent \
	t/unit/http/output \
	t/unit/http/programs/script \
	t/unit/http/purge \
	t/unit/http/rules \
	t/unit/http/variant \
	t/unit/http/watch/changes \
	t/unit/http/watch/waypoints \
	t/unit/lib/base64 \
	t/unit/lib/buf \
	t/unit/lib/hash \
	t/unit/lib/io \
	t/unit/lib/landlock \
	t/unit/lib/lines \
	t/unit/lib/listen_fds \
	t/unit/lib/log \
	t/unit/lib/need \
	t/unit/lib/options \
	t/unit/lib/pagemap \
	t/unit/lib/regular \
	t/unit/lib/slab \
	t/unit/lib/str \
	t/unit/lib/syscall_filter \
	t/unit/lib/token_bucket \
	t/unit/lib/trusted \
	t/unit/lib/url \
	t/unit/lib/user \
	t/unit/lib/visible \
	t/unit/loop/access_log \
	t/unit/loop/backends \
	t/unit/loop/backends_fastcgi \
	t/unit/loop/batch \
	t/unit/loop/clients \
	t/unit/loop/mailbox \
	t/unit/loop/net \
	t/unit/loop/stages \
	t/unit/loop/threads \
	t/unit/monitor/control_socket \
	t/unit/programs/manager \
	t/unit/programs/pool \
	t/unit/programs/private_socket \
	t/unit/programs/servers \
	t/unit/programs/variables \
	t/unit/proto/accept \
	t/unit/proto/cgi_head \
	t/unit/proto/chunked \
	t/unit/proto/conditional \
	t/unit/proto/credentials \
	t/unit/proto/date \
	t/unit/proto/fastcgi \
	t/unit/proto/forwarded \
	t/unit/proto/mime \
	t/unit/proto/multipart \
	t/unit/proto/parse \
	t/unit/proto/parse_host \
	t/unit/proto/proxy_header \
	t/unit/proto/scgi \
	t/unit/proto/status \
	t/unit/proto/uri \
	t/unit/proto/why \
	t/unit/shared/accept_token \
	t/unit/shared/addresses \
	t/unit/shared/addresses_conf \
	t/unit/shared/control \
	t/unit/shared/error_lines \
	t/unit/shared/helper_slots \
	t/unit/shared/listener \
	t/unit/shared/mounts \
	t/unit/shared/program_message \
	t/unit/stats/histogram \
	t/unit/stats/program_stats \
	t/unit/stats/report \
	t/unit/stats/scoreboard
endif

libunit_a_SOURCES = \
	t/unit/cache/files.h \
	t/unit/conf/confs.h \
	t/unit/http/watch/site.h \
	t/unit/helpers/tree.h \
	t/unit/helpers/wires.h \
	t/unit/loop/programs.h \
	t/unit/loop/records.h \
	t/unit/loop/sessions.h \
	t/unit/programs/mains.h \
	t/unit/unit.c \
	t/unit/unit.h

LDADD = libunit.a libampedctl.a $(with_all) $(CHECK_LIBS)
