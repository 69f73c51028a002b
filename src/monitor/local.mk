# src/monitor: see README there.

noinst_LIBRARIES += libmonitor.a
dist_noinst_DATA += src/monitor/README

libmonitor_a_SOURCES = \
	src/monitor/child.c \
	src/monitor/child.h \
	src/monitor/component.c \
	src/monitor/component.h \
	src/monitor/control_chains.c \
	src/monitor/control_chains.h \
	src/monitor/control_child.c \
	src/monitor/control_child.h \
	src/monitor/control_programs.c \
	src/monitor/control_programs.h \
	src/monitor/control_server.c \
	src/monitor/control_server.h \
	src/monitor/control_socket.c \
	src/monitor/control_socket.h \
	src/monitor/error_log.c \
	src/monitor/error_log.h \
	src/monitor/events.c \
	src/monitor/events.h \
	src/monitor/generation.c \
	src/monitor/generation.h \
	src/monitor/helpers.c \
	src/monitor/helpers.h \
	src/monitor/hot_lists.c \
	src/monitor/hot_lists.h \
	src/monitor/life.tbl \
	src/monitor/logs.c \
	src/monitor/logs.h \
	src/monitor/monitor.c \
	src/monitor/monitor.h \
	src/monitor/pidfile.c \
	src/monitor/pidfile.h \
	src/monitor/piped_log.c \
	src/monitor/piped_log.h \
	src/monitor/program_managers.c \
	src/monitor/program_managers.h \
	src/monitor/reload.c \
	src/monitor/reload.h \
	src/monitor/reopen.c \
	src/monitor/reopen.h \
	src/monitor/roots.c \
	src/monitor/roots.h \
	src/monitor/scaling.c \
	src/monitor/scaling_rule.c \
	src/monitor/scaling_rule.h \
	src/monitor/socket_files.c \
	src/monitor/socket_files.h \
	src/monitor/standard_error.c \
	src/monitor/standard_error.h \
	src/monitor/upgrade.c \
	src/monitor/upgrade.h \
	src/monitor/watchdog.c \
	src/monitor/watchdog.h \
	src/monitor/workers.c \
	src/monitor/workers.h
