/*
 * append: what else may become of the lines of log number 0.
 */
#ifndef HELPERS_APPEND_H
#define HELPERS_APPEND_H

struct rdns;
struct syslog;

/* They go there, in place of a file; it stays the caller's. */
void	append_set_syslog(struct syslog *);
/* Its lines have marks where names are to be. */
void	append_set_rdns(struct rdns *);

#endif
