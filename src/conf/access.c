/*
 * access: access control: networks, realms, and the guards of sites, paths and
 * files.
 *
 * As soon as a guard allows a network, clients outside of its networks are
 * refused.
 */
#include <sys/socket.h>

#include <arpa/inet.h>

#include <netinet/in.h>
#include <string.h>

#include "conf/setters.h"
#include "lib/mem.h"
#include "lib/str.h"

#define MAPPED_BITS	96	/* ::ffff:0:0/96 is IPv4 */

/* The number of bits behind the slash, up to max; -1: the text is no number. */
static int
prefix_length(const char *text, int max)
{
	int64_t	bits;

	if (text == NULL)
		return max;
	return str_number(str_of(text), &bits) && bits <= max ? (int)bits : -1;
}

static bool
parse_address(const char *text, struct conf_network *network, int *max)
{
	network->family = AF_INET;
	*max = 32;
	if (inet_pton(AF_INET, text, network->bytes) == 1)
		return true;
	network->family = AF_INET6;
	*max = 128;
	return inet_pton(AF_INET6, text, network->bytes) == 1;
}

/* Turns a mapped IPv4 network into an IPv4 one, as clients' addresses are.
 * False: the network is only partly IPv4. */
static bool
unmap_ipv4(struct conf_network *network)
{
	struct in6_addr	a;

	memcpy(&a, network->bytes, sizeof(a));
	if (network->family != AF_INET6 || !IN6_IS_ADDR_V4MAPPED(&a))
		return true;
	if (network->bits < MAPPED_BITS)
		return false;
	network->family = AF_INET;
	network->bits -= MAPPED_BITS;
	memmove(network->bytes, network->bytes + 12, 4);
	memset(network->bytes + 4, 0, 12);
	return true;
}

static bool
has_bit(const uint8_t *bytes, int bit)
{
	return (bytes[bit / 8] & 0x80 >> bit % 8) != 0;
}

static const char	not_a_network[] = "\"%s\": a network is written as "
			    "192.0.2.0/24, 2001:db8::/32, as an address, or "
			    "as all";

/* Returns NULL, or what is wrong, as conf_wrong_fn. */
static const char *
parse_network(const char *written, struct conf_network *network)
{
	char	text[64], *slash;
	int	max;

	memset(network, 0, sizeof(*network));
	if (strcmp(written, "all") == 0)
		return NULL;
	if (strcmp(written, "unix:") == 0) {
		network->family = AF_UNIX;
		return NULL;
	}
	if (strlen(written) >= sizeof(text))
		return "\"%s\": too long for a network";
	strcpy(text, written);
	slash = strchr(text, '/');
	if (slash != NULL)
		*slash++ = '\0';
	if (!parse_address(text, network, &max))
		return not_a_network;
	network->bits = prefix_length(slash, max);
	if (network->bits == -1)
		return "\"%s\": behind / there must be the number of bits "
		    "that count";
	for (int i = network->bits; i < max; i++)
		if (has_bit(network->bytes, i))
			return "\"%s\": the address has bits set behind "
			    "those that count: write zeros, as in 10.0.0.0/8";
	return unmap_ipv4(network) ? NULL :
	    "\"%s\": the network is partly IPv4: write both parts";
}

const char *
conf_access_wrong_network(const char *text)
{
	struct conf_network	ignored;

	return parse_network(text, &ignored);
}

/* A client that is trusted could take any address. */
const char *
conf_access_wrong_trust(const char *text)
{
	struct conf_network	 network;
	const char		*wrong = parse_network(text, &network);

	if (wrong == not_a_network)
		return "\"%s\": proxies are written as an address, as "
		    "192.0.2.0/24, 2001:db8::/32, or unix:";
	return wrong == NULL && network.bits == 0 &&
	    network.family != AF_UNIX ?
	    "\"%s\" would trust every client: name the proxies" : wrong;
}

/* Realms are sent between quotes. */
const char *
conf_access_wrong_realm(const char *text)
{
	for (; *text != '\0'; text++)
		if (*text < ' ' || *text >= 0x7f || *text == '"' ||
		    *text == '\\')
			return "a realm has only printable ASCII characters, "
			    "without \" and \\";
	return NULL;
}

/* Adds a pattern for last segments, an argument of block files. */
bool
conf_access_add_pattern(struct conf_reader *reader,
    const struct conf_word *word, struct conf_words *patterns)
{
	if (word->text[0] == '\0' || strchr(word->text, '/') != NULL) {
		conf_error(reader, word->pos, "\"files\" takes patterns of "
		    "names, without their directory");
		return false;
	}
	conf_name_add(patterns, word->text);
	return true;
}

static bool
network_contains(const struct conf_network *network, int family,
    const uint8_t *bytes)
{
	int	whole = network->bits / 8, rest = network->bits % 8;

	if (network->family == 0)
		return true;
	return network->family == family &&
	    memcmp(network->bytes, bytes, (size_t)whole) == 0 &&
	    (rest == 0 ||
	    (network->bytes[whole] ^ bytes[whole]) >> (8 - rest) == 0);
}

bool
conf_access_admits(const struct conf_guard *guard, int family,
    const uint8_t *bytes)
{
	for (size_t i = 0; i < guard->nnetworks; i++)
		if (network_contains(&guard->networks[i], family, bytes))
			return guard->networks[i].allow;
	return !guard->default_deny;
}

bool
conf_access_trusts(const struct conf *conf, int family, const uint8_t *bytes)
{
	const struct conf_trust	*t = &conf->trust;

	for (size_t i = 0; i < t->n; i++)
		if (network_contains(&t->list[i], family, bytes))
			return true;
	return false;
}

void
conf_access_list_trusted(struct conf_trust *t)
{
	t->list = mem_array(t->networks.n + 1, sizeof(*t->list));
	for (size_t i = 0; i < t->networks.n; i++)
		if (parse_network(t->networks.at[i], &t->list[t->n]) == NULL)
			t->n++;
}

static int
network_bits(const struct conf_network *network)
{
	return network->family == 0 ? -1 : network->bits;
}

/* Inserts a network behind those of as many bits, so that the networks of the
 * inner block come first. */
static void
insert_network(struct conf_guard *guard, struct conf_network network)
{
	size_t	i = guard->nnetworks++;

	guard->networks = mem_grow(guard->networks, guard->nnetworks,
	    sizeof(*guard->networks));
	for (; i > 0 && network_bits(&guard->networks[i - 1]) <
	    network_bits(&network); i--)
		guard->networks[i] = guard->networks[i - 1];
	guard->networks[i] = network;
}

static bool
is_contradicted(const struct conf_guard *guard,
    const struct conf_network *network)
{
	const struct conf_network	*n = guard->networks;

	for (size_t i = 0; i < guard->nnetworks; i++, n++)
		if (n->allow != network->allow && n->bits == network->bits &&
		    n->family == network->family &&
		    memcmp(n->bytes, network->bytes, sizeof(n->bytes)) == 0)
			return true;
	return false;
}

static void
add_networks(struct conf_reader *reader, struct conf_guard *guard,
    struct conf_object object, const struct conf_row *row, bool allow)
{
	const struct conf_words	*words = allow ? &guard->allow : &guard->deny;
	struct conf_network	 network;

	for (size_t i = 0; i < words->n; i++) {
		if (parse_network(words->at[i], &network) != NULL)
			continue;
		network.allow = allow;
		if (is_contradicted(guard, &network))
			conf_error(reader, conf_origin(object, row, i)->pos,
			    "%s is both allowed and denied here", words->at[i]);
		insert_network(guard, network);
	}
}

static void
check_auth(struct conf_reader *reader, const struct conf_guard *guard,
    const struct conf_origin *auth, struct conf_object object)
{
	const struct conf_origin	*file;

	if (auth == NULL || auth->bad)
		return;
	file = conf_origin(object, auth->row + 1, 0);
	if (guard->realm != NULL && file == NULL)
		conf_error(reader, auth->pos,
		    "\"auth\" needs a password file behind its realm");
	if (guard->realm == NULL && file != NULL)
		conf_error(reader, file->pos,
		    "unexpected \"%s\" behind \"off\"", guard->file);
}

static bool
has_own(struct conf_object object, const char *word)
{
	return conf_origin(object, conf_row_find_word(word, object.kind),
	    0) != NULL;
}

/* Without networks every client would do without the password. */
static void
check_satisfy(struct conf_reader *reader, const struct conf_guard *guard,
    struct conf_object object)
{
	const struct conf_row	*row = conf_row_find_word("satisfy",
				    object.kind);

	if (guard->satisfy == SATISFY_ANY && has_own(object, "satisfy") &&
	    (guard->realm == NULL || guard->nnetworks == 0))
		conf_error(reader, conf_origin(object, row, 0)->pos,
		    "\"satisfy any\" needs \"auth\", and \"allow\" or "
		    "\"deny\"");
}

/* Takes over the outer networks, and what this block lacks. */
static void
inherit_guard(struct conf_guard *guard, const struct conf_guard *outer,
    struct conf_object object)
{
	bool	auth = has_own(object, "auth");

	for (size_t i = 0; i < outer->nnetworks; i++)
		insert_network(guard, outer->networks[i]);
	guard->default_deny |= outer->default_deny;
	if (!has_own(object, "satisfy"))
		guard->satisfy = outer->satisfy;
	if (auth || outer->realm == NULL)
		return;
	guard->realm = mem_string(outer->realm);
	guard->file = mem_string(outer->file);
	if (outer->groups != NULL)
		guard->groups = mem_string(outer->groups);
	if (guard->require.users.n + guard->require.groups.n > 0)
		return;
	guard->limited = outer->limited;
	for (size_t i = 0; i < outer->users.n; i++)
		conf_name_add(&guard->users, outer->users.at[i]);
}

void
conf_access_complete(struct conf_reader *reader, struct conf_guard *guard,
    const struct conf_guard *outer, struct conf_object object)
{
	const struct conf_row	*row;
	struct conf_origin	*auth;

	row = conf_row_find_word("allow", object.kind);
	add_networks(reader, guard, object, row, true);
	row = conf_row_find_word("deny", object.kind);
	add_networks(reader, guard, object, row, false);
	row = conf_row_find_word("auth", object.kind);
	auth = conf_origin(object, row, 0);
	check_auth(reader, guard, auth, object);
	guard->default_deny = guard->allow.n > 0;
	if (outer != NULL && reader->nerrors == 0)
		inherit_guard(guard, outer, object);
	if (reader->nerrors == 0)
		check_satisfy(reader, guard, object);
	if (reader->nerrors == 0 && !guard->limited)
		conf_groups_complete(reader, guard, object);
	guard->active = guard->nnetworks > 0 || guard->realm != NULL ||
	    guard->internal != 0;
}

/* Whether the guard denies all addresses of a family. */
static bool
refuses_family(const struct conf_guard *guard, int family)
{
	const struct conf_network	*n = guard->networks;

	for (size_t i = 0; i < guard->nnetworks; i++, n++)
		if (!n->allow && n->bits == 0 &&
		    (n->family == 0 || n->family == family))
			return true;
	return false;
}

void
conf_access_restrict_local(struct conf_guard *guard)
{
	static const char *const	local[] = { "127.0.0.0/8", "::1" };
	struct conf_network		network;

	if (guard->default_deny || guard->realm != NULL)
		return;
	for (size_t i = 0; i < sizeof(local) / sizeof(local[0]); i++) {
		parse_network(local[i], &network);
		network.allow = true;
		if (!refuses_family(guard, network.family))
			insert_network(guard, network);
	}
	guard->default_deny = guard->active = true;
}
