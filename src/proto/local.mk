# src/proto: see README there.

noinst_LIBRARIES += libproto.a
dist_noinst_DATA += src/proto/README

libproto_a_SOURCES = \
	src/proto/accept.c \
	src/proto/accept.h \
	src/proto/cgi_head.c \
	src/proto/cgi_head.h \
	src/proto/char_class.c \
	src/proto/char_class.h \
	src/proto/chunked.c \
	src/proto/chunked.h \
	src/proto/conditional.c \
	src/proto/conditional.h \
	src/proto/credentials.c \
	src/proto/credentials.h \
	src/proto/date.c \
	src/proto/date.h \
	src/proto/fastcgi.c \
	src/proto/fastcgi.h \
	src/proto/forwarded.c \
	src/proto/forwarded.h \
	src/proto/mime.c \
	src/proto/mime.h \
	src/proto/multipart.c \
	src/proto/multipart.h \
	src/proto/parse.c \
	src/proto/parse.h \
	src/proto/proxy_header.c \
	src/proto/proxy_header.h \
	src/proto/scgi.c \
	src/proto/scgi.h \
	src/proto/status.c \
	src/proto/status.h \
	src/proto/status.tbl \
	src/proto/uri.c \
	src/proto/uri.h \
	src/proto/why.c \
	src/proto/why.h \
	src/proto/why.tbl
