/*
 * describe: a text of all that the processes of a program depend on.
 */
#ifndef CONF_DESCRIBE_H
#define CONF_DESCRIBE_H

struct buf;
struct conf;
struct conf_program;

/* Appends that text.  If two programs of two confs have the same text, they can
 * have the same processes. */
void	conf_describe_program(const struct conf *, const struct conf_program *,
	    struct buf *);

#endif
