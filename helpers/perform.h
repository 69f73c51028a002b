/*
 * perform: the kinds of job, one function and one file each.
 *
 * Only job_perform() and tests call these functions.  Each gets the members of
 * its kind as job.h says, with an empty result, and may block.
 */
#ifndef HELPERS_PERFORM_H
#define HELPERS_PERFORM_H

#include <stdbool.h>

struct job;
struct job_version;

void	resolve_perform(struct job *);
void	read_perform(struct job *);
void	append_perform(struct job *);
void	list_perform(struct job *);
void	verify_perform(struct job *);
void	compress_perform(struct job *);
void	copy_perform(struct job *);
void	close_perform(struct job *);
void	digest_perform(struct job *);
void	spool_perform(struct job *);
void	store_perform(struct job *);

/* As resolve_perform(), but the file is neither a handle nor a copy. */
void	resolve_open(struct job *);
/* Copies an open file into an anonymous one, and returns that; -1: it cannot be
 * read, or does not have this version any more. */
int	copy_whole(int fd, const struct job_version *, bool *in_memory);

#endif
