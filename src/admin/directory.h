/*
 * directory: "amped DIRECTORY", a server by hand, without a conf file.
 */
#ifndef ADMIN_DIRECTORY_H
#define ADMIN_DIRECTORY_H

#define DIRECTORY_HOST		"127.0.0.1"	/* of a port alone */
#define DIRECTORY_ADDRESS	DIRECTORY_HOST ":8080"

struct conf;
struct user;

/* Exits with a message unless the argument is a directory that this process
 * may read. */
void		 directory_check(const char *directory);

/*
 * Returns the conf that serves a directory at an address; NULL: the default.
 * A port alone is one of DIRECTORY_HOST.  Exits with a message if the address
 * is wrong.
 */
struct conf	*directory_conf(const char *directory, const char *address);

/*
 * Has the server run as the owner of a directory that the user may not read.
 * Exits with a message if the owner is root, whose private files are for no
 * client, or may not read it either.
 */
void		 directory_choose_user(const char *directory, struct user *);

#endif
