# src/arch: see README there.

noinst_LIBRARIES += libarch.a
dist_noinst_DATA += src/arch/README src/arch/pipelined/README

libarch_a_SOURCES = \
	src/arch/amped.c \
	src/arch/arch.c \
	src/arch/arch.h \
	src/arch/arch_choose.c \
	src/arch/budget.c \
	src/arch/budget.h \
	src/arch/mp.c \
	src/arch/mt.c \
	src/arch/pipelined/pipeline.c \
	src/arch/pipelined/pipeline.h \
	src/arch/pipelined/pipelined.c \
	src/arch/service.c \
	src/arch/service.h \
	src/arch/sped.c \
	src/arch/sync.c \
	src/arch/sync.h
