/*
 * append: destinations of lines, and host names in them.
 */
#ifndef HELPERS_APPEND_H
#define HELPERS_APPEND_H

struct rdns;
struct syslog;

/* Sends lines of log number 0 to the system's log in place of a file; the
 * struct is borrowed for the life of the process. */
void	append_set_syslog(struct syslog *);
/* Replaces addresses between marks by host names; borrowed as well. */
void	append_set_rdns(struct rdns *);

#endif
