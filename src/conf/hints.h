/*
 * hints: where the server learns what is asked for behind a page.
 */
#ifndef CONF_HINTS_H
#define CONF_HINTS_H

#define CONF_HINTS(X)	X(OFF, "off") X(LEARN, "learn") X(LINKS, "links")

enum conf_hints {
#define X(id, name) HINTS_##id,
	CONF_HINTS(X)
#undef X
	HINTS_COUNT
};

#endif
