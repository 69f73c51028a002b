/*
 * walk: the names of the files that a pattern stands for.
 *
 * The conf says where a directory is on disk, and which links are followed.
 * The walk makes a request for each directory, and in place of the request's
 * lookup it lists the directory.  The functions here block.
 */
#ifndef ADMIN_WALK_H
#define ADMIN_WALK_H

#include <stddef.h>

#include "conf/conf.h"
#include "lib/buf.h"

#define WALK_NAMES_MAX		10000	/* files, and directories */
#define WALK_DEPTH_MAX		32	/* directories beneath one another */

/*
 * Adds a URL or path, encoded, for each file, one in each line, up to that
 * number; a last line that begins with # says that there are more.  In the
 * pattern, * stands for any bytes, slashes included.  Returns NULL, or what is
 * wrong with the pattern.
 */
const char	*walk_names(const struct conf *, const char *pattern,
		    size_t most, struct buf *names, struct buf *wrong);

#endif
