/*
 * layered: gives each connection of amped a layer.
 *
 * The linker puts it in front of clients_add() of amped as it is, objects and
 * all: so there is nothing of it in the program that is installed.
 */
#include "loop/clients_private.h"
#include "t/layer.h"

void	__real_clients_add(struct clients *, int, struct net *,
	    const struct client_kind *, const struct sockaddr *, size_t);
void	__wrap_clients_add(struct clients *, int, struct net *,
	    const struct client_kind *, const struct sockaddr *, size_t);

/* Called for connections that the acceptor has accepted. */
void
__wrap_clients_add(struct clients *all, int fd, struct net *net,
    const struct client_kind *kind, const struct sockaddr *from,
    size_t listener)
{
	(void)net, (void)kind;
	__real_clients_add(all, fd, layer_new(), &layer_kind, from, listener);
}
