# src/shared: see README there.

noinst_LIBRARIES += libshared.a
dist_noinst_DATA += src/shared/README

libshared_a_SOURCES = \
	src/shared/accept_token.c \
	src/shared/accept_token.h \
	src/shared/addresses.c \
	src/shared/addresses.h \
	src/shared/addresses_conf.c \
	src/shared/addresses_conf.h \
	src/shared/channel.c \
	src/shared/channel.h \
	src/shared/commands.tbl \
	src/shared/control.c \
	src/shared/control.h \
	src/shared/error_lines.c \
	src/shared/error_lines.h \
	src/shared/helper_slots.c \
	src/shared/helper_slots.h \
	src/shared/hot_list.c \
	src/shared/hot_list.h \
	src/shared/listener.c \
	src/shared/listener.h \
	src/shared/main_env.h \
	src/shared/mounts.c \
	src/shared/mounts.h \
	src/shared/program_message.c \
	src/shared/program_message.h \
	src/shared/unix_socket.c \
	src/shared/unix_socket.h
