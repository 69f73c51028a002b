/*
 * look: finds out on disk what a path is.
 */
#ifndef HTTP_LOOK_H
#define HTTP_LOOK_H

#include "http/http.h"
#include "http/why.h"

/* Starts it; the path's errand is set unless it was done in place. */
void	look_start(struct http *, struct path *);
/* The reason for a refusal that an errno of the disk is. */
enum why look_why(int error);

#endif
