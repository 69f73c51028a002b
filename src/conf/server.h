/*
 * server: where the server of a program listens that others have started.
 */
#ifndef CONF_SERVER_H
#define CONF_SERVER_H

#include <sys/socket.h>

#include <stdbool.h>

/* Parses one of conf_program.servers, an address to connect to.  Does not
 * block.  False: this host has no such address now, as the interface of its
 * scope has gone. */
bool	conf_server_parse(const char *, struct sockaddr_storage *,
	    socklen_t *len);

#endif
