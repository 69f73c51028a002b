# src/stats: see README there.

noinst_LIBRARIES += libstats.a
dist_noinst_DATA += src/stats/README

libstats_a_SOURCES = \
	src/stats/chain_stats.c \
	src/stats/chain_stats.h \
	src/stats/advice_rows.h \
	src/stats/histogram.c \
	src/stats/histogram.h \
	src/stats/named_memory.c \
	src/stats/named_memory.h \
	src/stats/program_stats.c \
	src/stats/program_stats.h \
	src/stats/report.c \
	src/stats/report.h \
	src/stats/report_chains.c \
	src/stats/report_advice.c \
	src/stats/report_html.c \
	src/stats/report_json.c \
	src/stats/report_plot.c \
	src/stats/report_private.h \
	src/stats/report_programs.c \
	src/stats/report_prometheus.c \
	src/stats/report_units.c \
	src/stats/rows.h \
	src/stats/scoreboard.c \
	src/stats/scoreboard.h \
	src/stats/stats.c \
	src/stats/stats.h \
	src/stats/stats.tbl
