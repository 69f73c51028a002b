/*
 * why: the reasons for which a request does not get its file; the status
 * follows from the reason.
 */
#ifndef PROTO_WHY_H
#define PROTO_WHY_H

enum why {
#define WHY(id, status, directive, sentence) WHY_##id,
#include "proto/why.tbl"
#undef WHY
	WHY_COUNT
};

int		 why_status(enum why);		/* 0: not always the same */
const char	*why_directive(enum why);	/* "" for none */
/* One clause about the request, without a full stop. */
const char	*why_sentence(enum why);

#endif
