/*
 * perform: the kinds of job, one function and one file each.
 *
 * Only job_perform() and tests call these functions.  Each gets the members of
 * its kind as job.h says, with an empty result, and may block.
 */
#ifndef HELPERS_PERFORM_H
#define HELPERS_PERFORM_H

struct job;

void	resolve_perform(struct job *);
void	read_perform(struct job *);
void	append_perform(struct job *);
void	list_perform(struct job *);
void	verify_perform(struct job *);
void	compress_perform(struct job *);
void	copy_perform(struct job *);
void	close_perform(struct job *);
void	digest_perform(struct job *);

/* As resolve_perform(), but the file is never a handle. */
void	resolve_open(struct job *);

#endif
