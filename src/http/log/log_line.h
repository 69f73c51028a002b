/*
 * log_line: the lines of the access log.
 */
#ifndef HTTP_LOG_LINE_H
#define HTTP_LOG_LINE_H

#include "http/conn.h"

/* Writes the line of the request that has just been answered. */
void	log_line_write(struct conn *);

#endif
