# src/loop: see README there.

noinst_LIBRARIES += libloop.a
dist_noinst_DATA += src/loop/README

libloop_a_SOURCES = \
	src/loop/accept.c \
	src/loop/accept.h \
	src/loop/accept_balanced.c \
	src/loop/accept_one_client.c \
	src/loop/acceptor.c \
	src/loop/acceptor.h \
	src/loop/access_log.c \
	src/loop/access_log.h \
	src/loop/backend_protocol.c \
	src/loop/backend_protocol.h \
	src/loop/backends.c \
	src/loop/backends.h \
	src/loop/batch.c \
	src/loop/batch.h \
	src/loop/blocking.c \
	src/loop/blocking.h \
	src/loop/client.h \
	src/loop/clients.c \
	src/loop/clients.h \
	src/loop/clients_private.h \
	src/loop/evloop.c \
	src/loop/evloop.h \
	src/loop/filters.c \
	src/loop/filters.h \
	src/loop/held.c \
	src/loop/held.h \
	src/loop/leases.c \
	src/loop/leases.h \
	src/loop/mailbox.c \
	src/loop/mailbox.h \
	src/loop/managers.c \
	src/loop/managers.h \
	src/loop/net.c \
	src/loop/net.h \
	src/loop/passages.c \
	src/loop/passages.h \
	src/loop/spawner.c \
	src/loop/spawner.h \
	src/loop/stages.c \
	src/loop/stages.h \
	src/loop/threads.c \
	src/loop/threads.h
