/*
 * server: where the server of a program listens that others have started.
 */
#ifndef CONF_SERVER_H
#define CONF_SERVER_H

#include <sys/socket.h>

#include <stdbool.h>

/* The address of one of conf_program.servers, to connect to.  Does not
 * block. */
void	conf_server_parse(const char *, struct sockaddr_storage *,
	    socklen_t *len);

#endif
