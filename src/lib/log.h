/*
 * log: the error log, in five levels.
 *
 * A line says what to do, not only what happened.  Names with x leave errno
 * out, the others end the line with it, and with what helps against it, where
 * that is always the same; errno is the same afterwards.  Lines go to the sink;
 * without one, to standard error.  Any thread may say something.  Whatever is
 * said, a line is valid UTF-8, and no terminal obeys it.
 */
#ifndef LIB_LOG_H
#define LIB_LOG_H

#include <stddef.h>

#define LOG_LEVELS(X)							\
	X(ERROR,	"error")					\
	X(WARN,		"warn")						\
	X(NOTICE,	"notice")					\
	X(INFO,		"info")						\
	X(DEBUG,	"debug")

enum log_level {
#define X(id, name) LOG_LEVEL_##id,
	LOG_LEVELS(X)
#undef X
	LOG_LEVEL_COUNT
};

#define LOG_PRINTF(a, b) __attribute__((__format__(__printf__, a, b)))

/* Who speaks ("monitor", "main"), a string that stays; in each line. */
void	log_init(const char *who, enum log_level);
/* Hears each line of level error, too, but without time and name; NULL: nobody
 * does. */
void	log_capture(void (*)(void *, const char *, size_t), void *);
/* Takes whole lines, newline included; must not block, must not log. */
void	log_set_output(void (*)(void *, const char *, size_t), void *);
/*
 * Gets a byte for each line that standard error does not take, which then may
 * be a pipe that never makes us wait; -1, as at first: nobody counts.
 */
void	log_count_drops(int fd);
enum log_level	log_level(void);

void	log_error(const char *, ...) LOG_PRINTF(1, 2);
void	log_errorx(const char *, ...) LOG_PRINTF(1, 2);
void	log_warn(const char *, ...) LOG_PRINTF(1, 2);
void	log_warnx(const char *, ...) LOG_PRINTF(1, 2);
void	log_notice(const char *, ...) LOG_PRINTF(1, 2);
void	log_info(const char *, ...) LOG_PRINTF(1, 2);
void	log_debug(const char *, ...) LOG_PRINTF(1, 2);

/* For a handler of a signal that ends the process: these words, at once, to
 * standard error; without a time, which cannot be asked for there. */
void	log_crash(const char *const words[]);		/* NULL: the end */

/* As log_error and log_errorx, but to standard error, then exit 1: the usual
 * way may be longer than the process lives. */
_Noreturn void	fatal(const char *, ...) LOG_PRINTF(1, 2);
_Noreturn void	fatalx(const char *, ...) LOG_PRINTF(1, 2);

#endif
