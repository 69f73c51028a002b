# src/conf: see README there.

noinst_LIBRARIES += libconf.a
dist_noinst_DATA += src/conf/README

libconf_a_SOURCES = \
	src/conf/access.c \
	src/conf/address.c \
	src/conf/address.h \
	src/conf/application.c \
	src/conf/chain.c \
	src/conf/chain.h \
	src/conf/chains.c \
	src/conf/check.c \
	src/conf/choice.c \
	src/conf/choices.h \
	src/conf/conf.c \
	src/conf/conf.h \
	src/conf/control.c \
	src/conf/describe.c \
	src/conf/describe.h \
	src/conf/directive.c \
	src/conf/directives.tbl \
	src/conf/divide.c \
	src/conf/divide.h \
	src/conf/dump.c \
	src/conf/errors.c \
	src/conf/errors.h \
	src/conf/find.c \
	src/conf/groups.c \
	src/conf/guard.h \
	src/conf/foreign.c \
	src/conf/foreign.h \
	src/conf/foreign.tbl \
	src/conf/lexer.c \
	src/conf/log.c \
	src/conf/log_fields.tbl \
	src/conf/log_format.c \
	src/conf/log_format.h \
	src/conf/names.c \
	src/conf/object.c \
	src/conf/origin.h \
	src/conf/parse.c \
	src/conf/private.h \
	src/conf/program.c \
	src/conf/program.h \
	src/conf/response.c \
	src/conf/rules.c \
	src/conf/rules.h \
	src/conf/run.c \
	src/conf/run.h \
	src/conf/scaled.c \
	src/conf/sendfile.c \
	src/conf/server.c \
	src/conf/server.h \
	src/conf/setters.h \
	src/conf/shaping.c \
	src/conf/source.c \
	src/conf/strategies.h \
	src/conf/table.h \
	src/conf/types.tbl \
	src/conf/value.c \
	src/conf/value.h \
	src/conf/variants.h \
	src/conf/where.c \
	src/conf/where.h
