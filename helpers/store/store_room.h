/*
 * store_room: the room in a directory of store.c, and the names in it.
 */
#ifndef HELPERS_STORE_ROOM_H
#define HELPERS_STORE_ROOM_H

#include <stdint.h>

#define STORE_ROOM_NAME	33	/* bytes of a file's name, terminated: 32
				 * digits in hexadecimal */

/* Makes a file for something new, and its name, for renameat(2); -1 with
 * errno. */
int	store_room_open_new(int directory, char name[STORE_ROOM_NAME]);
/* Removes files, those first that have not been used for longest, until a file
 * of that size fits into the directory.  0 or an errno: EFBIG if it never
 * does. */
int	store_room_make(int directory, uint64_t size, uint64_t max);

#endif
