# Fuzz targets.  Without a fuzzer, libfuzz.a has main().

fuzz_targets = \
	t/fuzz/cgi_head \
	t/fuzz/chunked \
	t/fuzz/conditions \
	t/fuzz/conf \
	t/fuzz/control \
	t/fuzz/credentials \
	t/fuzz/date \
	t/fuzz/encoding \
	t/fuzz/fastcgi \
	t/fuzz/forwarded \
	t/fuzz/htpasswd \
	t/fuzz/parse \
	t/fuzz/program_message \
	t/fuzz/proxy_header \
	t/fuzz/range \
	t/fuzz/request \
	t/fuzz/scgi \
	t/fuzz/ssi \
	t/fuzz/uri \
	t/fuzz/wire

if FUZZERS
fuzz_ldflags = $(AM_LDFLAGS) -fsanitize=fuzzer
else
fuzz_ldflags = $(AM_LDFLAGS)
check_LIBRARIES += libfuzz.a
fuzz_main = libfuzz.a
endif

libfuzz_a_SOURCES = \
	t/fuzz/fuzz.c

fuzz_ldadd = $(fuzz_main) $(with_http)
t_fuzz_cgi_head_LDADD = $(fuzz_ldadd)
t_fuzz_cgi_head_LDFLAGS = $(fuzz_ldflags)
t_fuzz_chunked_LDADD = $(fuzz_ldadd)
t_fuzz_chunked_LDFLAGS = $(fuzz_ldflags)
t_fuzz_conditions_LDADD = $(fuzz_ldadd)
t_fuzz_conditions_LDFLAGS = $(fuzz_ldflags)
t_fuzz_conf_LDADD = $(fuzz_ldadd)
t_fuzz_conf_LDFLAGS = $(fuzz_ldflags)
t_fuzz_control_LDADD = $(fuzz_ldadd)
t_fuzz_control_LDFLAGS = $(fuzz_ldflags)
t_fuzz_credentials_LDADD = $(fuzz_ldadd)
t_fuzz_credentials_LDFLAGS = $(fuzz_ldflags)
t_fuzz_date_LDADD = $(fuzz_ldadd)
t_fuzz_date_LDFLAGS = $(fuzz_ldflags)
t_fuzz_encoding_LDADD = $(fuzz_ldadd)
t_fuzz_encoding_LDFLAGS = $(fuzz_ldflags)
t_fuzz_fastcgi_LDADD = $(fuzz_ldadd)
t_fuzz_fastcgi_LDFLAGS = $(fuzz_ldflags)
t_fuzz_forwarded_LDADD = $(fuzz_ldadd)
t_fuzz_forwarded_LDFLAGS = $(fuzz_ldflags)
t_fuzz_htpasswd_LDADD = $(fuzz_ldadd)
t_fuzz_htpasswd_LDFLAGS = $(fuzz_ldflags)
t_fuzz_parse_LDADD = $(fuzz_ldadd)
t_fuzz_parse_LDFLAGS = $(fuzz_ldflags)
t_fuzz_scgi_LDADD = $(fuzz_ldadd)
t_fuzz_scgi_LDFLAGS = $(fuzz_ldflags)
t_fuzz_ssi_LDADD = $(fuzz_ldadd)
t_fuzz_ssi_LDFLAGS = $(fuzz_ldflags)
t_fuzz_program_message_LDADD = $(fuzz_main) libprograms.a $(with_http)
t_fuzz_program_message_LDFLAGS = $(fuzz_ldflags)
t_fuzz_proxy_header_LDADD = $(fuzz_ldadd)
t_fuzz_proxy_header_LDFLAGS = $(fuzz_ldflags)
t_fuzz_range_LDADD = $(fuzz_ldadd)
t_fuzz_range_LDFLAGS = $(fuzz_ldflags)
t_fuzz_request_SOURCES = \
	t/fuzz/request.c \
	t/layer.c \
	t/layer.h \
	t/script/filters.c \
	t/script/filters.h \
	t/script/passages.c \
	t/script/passages.h \
	t/script/programs.c \
	t/script/programs.h \
	t/script/words.c \
	t/script/words.h \
	t/script/world.c \
	t/script/world.h
t_fuzz_request_LDADD = $(fuzz_ldadd)
t_fuzz_request_LDFLAGS = $(fuzz_ldflags)
t_fuzz_uri_LDADD = $(fuzz_ldadd)
t_fuzz_uri_LDFLAGS = $(fuzz_ldflags)
t_fuzz_wire_LDADD = $(fuzz_ldadd)
t_fuzz_wire_LDFLAGS = $(fuzz_ldflags)
