/*
 * scgi: encodes requests.
 */
#include "lib/need.h"
#include "proto/scgi.h"

/* Adds the variables that have that name; or all but these. */
static size_t
add_variables(struct buf *to, struct str environment, struct str which,
    bool named)
{
	struct str	text, name;
	size_t		n = 0;

	while (environment.len > 0) {
		text = str_cut(&environment, '\0');
		name = str_cut(&text, '=');
		if (str_same(name, which) != named ||
		    str_same(name, STR("SCGI")))
			continue;
		n++;
		buf_add(to, name.at, name.len);
		buf_addc(to, '\0');
		buf_add(to, text.at, text.len);
		buf_addc(to, '\0');
	}
	return n;
}

void
scgi_add_head(struct buf *to, struct str environment)
{
	const struct str	length = STR("CONTENT_LENGTH");
	const char		version[] = "SCGI\0" "1";
	struct buf		pairs = { 0 };

	need(add_variables(&pairs, environment, length, true) == 1);
	buf_add(&pairs, version, sizeof(version));
	add_variables(&pairs, environment, length, false);
	buf_addf(to, "%zu:", pairs.len);
	buf_add(to, pairs.at, pairs.len);
	buf_addc(to, ',');
	buf_wipe(&pairs);
}
