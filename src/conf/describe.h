/*
 * describe: what processes of a program depend on.
 */
#ifndef CONF_DESCRIBE_H
#define CONF_DESCRIBE_H

struct buf;
struct conf;
struct conf_program;

/* Appends it.  Programs of two confs with the same bytes can have the same
 * processes. */
void	conf_describe_program(const struct conf *, const struct conf_program *,
	    struct buf *);

#endif
