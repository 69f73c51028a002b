/*
 * log: the error log, in five levels.
 *
 * log_error() and log_warn() end the line with errno's text, and with a remedy
 * where errno alone suggests one; log_errorx() and log_warnx() do not.  All
 * functions keep errno, and any thread may call them.  A line goes to the
 * output function if one is set, else to standard error.  A line is valid UTF-8
 * and has no byte that controls a terminal (visible.h).
 */
#ifndef LIB_LOG_H
#define LIB_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

/* Sets the process's name ("monitor", "main") for each line, a string that
 * stays, and the highest level that is written. */
void	log_init(const char *name, enum log_level);
/* Calls a function with each line of level error too, without time and name;
 * NULL: none. */
void	log_capture(void (*)(void *, const char *, size_t), void *);
/* Sets the output function.  It gets lines with their newline, and must neither
 * block nor log.  NULL: standard error. */
void	log_set_output(void (*)(void *, const char *, size_t), void *);
/*
 * Writes a byte to fd for each line that standard error does not take, as a
 * non-blocking pipe that is full.  -1, the default: drops are not counted.
 */
void	log_count_drops(int fd);
enum log_level	log_level(void);

/* Whether to log an event that clients can cause: once a minute.  If so, sets
 * the last time, in ms of some clock, to now. */
bool	log_is_due(_Atomic int64_t *last, int64_t now);

#define log_error(...)	log_write(LOG_LEVEL_ERROR, true, __VA_ARGS__)
#define log_errorx(...)	log_write(LOG_LEVEL_ERROR, false, __VA_ARGS__)
#define log_warn(...)	log_write(LOG_LEVEL_WARN, true, __VA_ARGS__)
#define log_warnx(...)	log_write(LOG_LEVEL_WARN, false, __VA_ARGS__)
#define log_notice(...)	log_write(LOG_LEVEL_NOTICE, false, __VA_ARGS__)
#define log_info(...)	log_write(LOG_LEVEL_INFO, false, __VA_ARGS__)
#define log_debug(...)	log_write(LOG_LEVEL_DEBUG, false, __VA_ARGS__)
void	log_write(enum log_level, bool with_errno, const char *, ...)
	    LOG_PRINTF(3, 4);

/* Writes words, which end with NULL, as a line to standard error, without the
 * time.  Async-signal-safe: for handlers of signals that end the process. */
void	log_crash(const char *const words[]);

/* As log_error() and log_errorx(), but always to standard error, as an output
 * function may need a living process; then exit(1). */
#define fatal(...)	log_fatal(true, __VA_ARGS__)
#define fatalx(...)	log_fatal(false, __VA_ARGS__)
_Noreturn void	log_fatal(bool with_errno, const char *, ...) LOG_PRINTF(2, 3);

#endif
