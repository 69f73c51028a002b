/*
 * way: has the directories on the way to a path watched, before the look.
 */
#ifndef HELPERS_WAY_H
#define HELPERS_WAY_H

struct job;

/*
 * Fills in watched and waypoints of a job that finds a path, as its watch asks.
 * Opens no file but for its stat, and asks a file system that is not to be
 * watched for no more than a mount point and what kind it is.  Blocks.
 */
void	way_watch(struct job *);

#endif
