/*
 * rdns_lookup: the name of an address by getnameinfo(3), checked by
 * getaddrinfo(3).
 */
#include <sys/socket.h>

#include <netdb.h>
#include <stdbool.h>
#include <string.h>

#include "helpers/rdns.h"
#include "lib/sockaddr.h"

#define NAME_CHARS	"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ" \
			"0123456789._-"

static enum rdns_result
error_result(int error)
{
	return error == EAI_NONAME ? RDNS_NONE : RDNS_FAILED;
}

/* Whether the name has that address. */
static enum rdns_result
confirm_name(const struct addrinfo *address, const char *name)
{
	const struct addrinfo	 hints = { .ai_socktype = SOCK_STREAM,
				    .ai_family = address->ai_family,
				    .ai_flags = AI_V4MAPPED | AI_ALL };
	struct addrinfo		*all, *a;
	int			 error = getaddrinfo(name, NULL, &hints, &all);

	if (error != 0)
		return error_result(error);
	for (a = all; a != NULL && !str_same(sockaddr_bytes(a->ai_addr),
	    sockaddr_bytes(address->ai_addr)); a = a->ai_next)
		continue;
	freeaddrinfo(all);
	return a != NULL ? RDNS_FOUND : RDNS_NONE;
}

enum rdns_result
rdns_lookup(const char *text, char name[RDNS_NAME_MAX])
{
	const struct addrinfo	 hints = { .ai_socktype = SOCK_STREAM,
				    .ai_flags = AI_NUMERICHOST };
	struct addrinfo		*address;
	enum rdns_result	 result;
	int			 error;

	if (getaddrinfo(text, NULL, &hints, &address) != 0)
		return RDNS_NONE;
	error = getnameinfo(address->ai_addr, address->ai_addrlen, name,
	    RDNS_NAME_MAX, NULL, 0, NI_NAMEREQD);
	if (error != 0)
		result = error_result(error);
	else if (name[strspn(name, NAME_CHARS)] != '\0')
		result = RDNS_NONE;
	else
		result = confirm_name(address, name);
	freeaddrinfo(address);
	return result;
}
