/*
 * why: the reasons of why.tbl.
 */
#include "lib/need.h"
#include "proto/why.h"

static const struct {
	int		 status;
	const char	*directive, *sentence;
} reasons[] = {
#define WHY(id, status, directive, sentence) { status, directive, sentence },
#include "proto/why.tbl"
#undef WHY
};

int
why_status(enum why why)
{
	need(why < WHY_COUNT);
	return reasons[why].status;
}

const char *
why_directive(enum why why)
{
	need(why < WHY_COUNT);
	return reasons[why].directive;
}

const char *
why_sentence(enum why why)
{
	need(why < WHY_COUNT);
	return reasons[why].sentence;
}
