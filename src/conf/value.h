/*
 * value: how values of a conf are read.
 */
#ifndef CONF_VALUE_H
#define CONF_VALUE_H

/*
 * From now on a log in a directory that does not exist is standard output for
 * requests and standard error for messages, with a warning, and not an error of
 * the conf.  For a server without a terminal, as in a container, whose starter
 * keeps both.
 */
void	conf_value_allow_missing_logs(void);
/* From now on that holds only for logs that have been missing so far. */
void	conf_value_end_missing_logs(void);

#endif
