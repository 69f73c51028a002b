/*
 * status: the status codes of status.tbl.
 */
#include <stddef.h>

#include "proto/status.h"

static const struct status {
	int		 code;
	const char	*reason, *sentence;
} statuses[] = {
#define STATUS(code, reason, sentence) { code, reason, sentence },
#include "proto/status.tbl"
#undef STATUS
};

static const struct status *
find_status(int code)
{
	for (size_t i = 0; i < sizeof(statuses) / sizeof(statuses[0]); i++)
		if (statuses[i].code == code)
			return &statuses[i];
	return NULL;
}

bool
status_known(int code)
{
	return find_status(code) != NULL;
}

const char *
status_reason(int code)
{
	const struct status	*s = find_status(code);

	return s != NULL ? s->reason : "";
}

const char *
status_sentence(int code)
{
	const struct status	*s = find_status(code);

	return s != NULL ? s->sentence : "";
}
