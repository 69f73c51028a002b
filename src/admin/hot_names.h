/*
 * hot_names: writes the names that a main serves, the most used first, as a
 * list (shared/hot_list.h), for other mains; and what it has learned of pages
 * (http/hints).
 *
 * The walk through the path cache is done a part at a time.
 */
#ifndef ADMIN_HOT_NAMES_H
#define ADMIN_HOT_NAMES_H

#include "conf/conf.h"
#include "http/machine.h"
#include "lib/clock.h"
#include "loop/evloop.h"

struct hot_names;

struct hot_names *hot_names_new(struct evloop *, struct clock *,
		    struct http_loop *, const struct conf *);
void		 hot_names_free(struct hot_names **);
/* Begins to write a list to a file in memory, which it owns; calls back when
 * the list is complete.  A list that is under way is given up. */
void		 hot_names_write(struct hot_names *, int file,
		    void (*written)(void *), void *context);
/* Completes the list that is under way, at once. */
void		 hot_names_finish(struct hot_names *);

#endif
