# src/http: see README there.

noinst_LIBRARIES += libhttp.a
dist_noinst_DATA += src/http/README src/http/limits/README \
	src/http/watch/README

libhttp_a_SOURCES = \
	src/http/authorize.c \
	src/http/body.c \
	src/http/body.h \
	src/http/caches.c \
	src/http/caches.h \
	src/http/conn.c \
	src/http/conn.h \
	src/http/deferred_close.c \
	src/http/deferred_close.h \
	src/http/explain.c \
	src/http/explain.h \
	src/http/fields.c \
	src/http/fields.h \
	src/http/find.c \
	src/http/find.h \
	src/http/finish.c \
	src/http/head.c \
	src/http/http.c \
	src/http/http.h \
	src/http/limits/client_limits.c \
	src/http/limits/client_limits.h \
	src/http/limits/pace.c \
	src/http/limits/pace.h \
	src/http/limits/verification.c \
	src/http/limits/verification.h \
	src/http/limits/verifiers.c \
	src/http/limits/verifiers.h \
	src/http/listing.c \
	src/http/listing.h \
	src/http/location.c \
	src/http/location.h \
	src/http/log_escape.c \
	src/http/log_escape.h \
	src/http/log_line.c \
	src/http/log_line.h \
	src/http/lookup.c \
	src/http/lookup.h \
	src/http/machine.c \
	src/http/machine.h \
	src/http/namespace.c \
	src/http/namespace.h \
	src/http/output.c \
	src/http/output.h \
	src/http/page.h \
	src/http/park.h \
	src/http/preload.c \
	src/http/preload.h \
	src/http/purge.c \
	src/http/purge.h \
	src/http/recv.c \
	src/http/refusal.c \
	src/http/refusal.h \
	src/http/reply.c \
	src/http/reply.h \
	src/http/request.h \
	src/http/route.c \
	src/http/rules.c \
	src/http/rules.h \
	src/http/send.c \
	src/http/session.h \
	src/http/setup.h \
	src/http/stats_page.c \
	src/http/stats_page.h \
	src/http/step.tbl \
	src/http/tag.c \
	src/http/tag.h \
	src/http/tasks.c \
	src/http/tasks.h \
	src/http/variant.c \
	src/http/variant.h \
	src/http/watch/changes.c \
	src/http/watch/changes.h \
	src/http/watch/directory.c \
	src/http/watch/directory.h \
	src/http/watch/passes.c \
	src/http/watch/passes.h \
	src/http/watch/state.h \
	src/http/watch/waypoint.c \
	src/http/watch/waypoint.h \
	src/http/watch/waypoints.c \
	src/http/watch/waypoints.h
