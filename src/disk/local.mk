# src/disk: see README there.

noinst_LIBRARIES += libdisk.a
dist_noinst_DATA += src/disk/README

libdisk_a_SOURCES = \
	src/disk/disk_thread.c \
	src/disk/disk_thread.h \
	src/disk/fs_queues.c \
	src/disk/fs_queues.h \
	src/disk/helper_pool.c \
	src/disk/helper_pool.h \
	src/disk/job_load.c \
	src/disk/job_load.h \
	src/disk/task_queue.c \
	src/disk/task_queue.h
