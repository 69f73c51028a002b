/*
 * error_writer: the log helper of the error log.  Takes lines from a pipe that
 * no process waits at, and writes them.
 */
#ifndef HELPERS_ERROR_WRITER_H
#define HELPERS_ERROR_WRITER_H

struct log_sink;

/*
 * Until the stream pipe closes, or is -1, and there is nothing left to write;
 * or until a byte comes from it: there is another error logger, which reads the rest.
 * Words and losses are read without waiting: lines, and a byte for each line
 * that found no room among them.
 */
void	error_writer_run(int pipe, int lines, int drops, struct log_sink *sink);

#endif
