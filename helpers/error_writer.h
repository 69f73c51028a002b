/*
 * error_writer: the error logger: reads lines from a pipe that no process
 * waits for, and writes them to the error log.
 */
#ifndef HELPERS_ERROR_WRITER_H
#define HELPERS_ERROR_WRITER_H

struct log_sink;

/*
 * Runs until the stream pipe closes (or is -1) and all lines are written, or
 * until a byte comes over the stream pipe: another error logger has started,
 * and reads the rest.  `lines` and `drops` are non-blocking pipes: the lines,
 * and a byte for each line that found no room in the first.
 */
void	error_writer_run(int pipe, int lines, int drops, struct log_sink *sink);

#endif
