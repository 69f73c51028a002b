/*
 * log_line: the access log's lines.
 */
#ifndef HTTP_LOG_LINE_H
#define HTTP_LOG_LINE_H

#include "http/conn.h"

/* One line for the request that has just been answered, if a log is kept. */
void	log_line_write(struct conn *);

#endif
