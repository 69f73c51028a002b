# helpers: see README there.

noinst_LIBRARIES += libhelpers.a
dist_noinst_DATA += helpers/README helpers/filters/README

libhelpers_a_SOURCES = \
	helpers/anon_file.c \
	helpers/anon_file.h \
	helpers/append.c \
	helpers/append.h \
	helpers/beneath.c \
	helpers/beneath.h \
	helpers/cli.c \
	helpers/cli.h \
	helpers/close.c \
	helpers/filters/amped-filter.h \
	helpers/filters/charset.c \
	helpers/filters/coding.c \
	helpers/filters/coding.h \
	helpers/filters/coding_br.c \
	helpers/filters/coding_gzip.c \
	helpers/filters/coding_library.h \
	helpers/filters/coding_zstd.c \
	helpers/filters/filter.c \
	helpers/filters/filter.h \
	helpers/filters/module.c \
	helpers/filters/replace.c \
	helpers/filters/ssi.c \
	helpers/filters/ssi.h \
	helpers/filters/ssi_expression.c \
	helpers/compress.c \
	helpers/copy.c \
	helpers/digest.c \
	helpers/error_writer.c \
	helpers/error_writer.h \
	helpers/explain_path.c \
	helpers/explain_path.h \
	helpers/fds.h \
	helpers/file_version.c \
	helpers/file_version.h \
	helpers/handle.c \
	helpers/handle.h \
	helpers/htpasswd.c \
	helpers/htpasswd.h \
	helpers/job.c \
	helpers/job.h \
	helpers/job_find.h \
	helpers/job_parts.h \
	helpers/json_lines.c \
	helpers/json_lines.h \
	helpers/links.c \
	helpers/links.h \
	helpers/list.c \
	helpers/log_sink.c \
	helpers/log_sink.h \
	helpers/notify.c \
	helpers/notify.h \
	helpers/perform.c \
	helpers/perform.h \
	helpers/rdns.c \
	helpers/rdns.h \
	helpers/rdns_lookup.c \
	helpers/read.c \
	helpers/repeat_filter.c \
	helpers/repeat_filter.h \
	helpers/resolve.c \
	helpers/root.c \
	helpers/root.h \
	helpers/spool.c \
	helpers/syslog.c \
	helpers/syslog.h \
	helpers/template.c \
	helpers/template.h \
	helpers/verify.c \
	helpers/way.c \
	helpers/way.h \
	helpers/wire.c \
	helpers/wire.h
