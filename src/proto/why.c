/*
 * why: the reasons of why.tbl.
 */
#include <errno.h>
#include <stddef.h>

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

/* Reasons of refusals by errno; any other errno: the disk failed. */
static const struct {
	int		error;
	enum why	why;
} errno_reasons[] = {
	{ ENOENT, WHY_ABSENT }, { ENOTDIR, WHY_NOT_DIRECTORY },
	{ ENAMETOOLONG, WHY_NAME_LONG },
	{ EISDIR, WHY_NO_INDEX },
	{ EACCES, WHY_DENIED }, { EPERM, WHY_OWNER },
	{ ERANGE, WHY_LOW_USER },
	{ EXDEV, WHY_LINK_LEAVES }, { ELOOP, WHY_LINK_LOOP },
	{ ENOTSUP, WHY_SPECIAL },	/* a FIFO, socket or device */
	{ EFBIG, WHY_FILE_HUGE },
	{ ETIMEDOUT, WHY_DISK_LATE },
	{ ECONNABORTED, WHY_DISK_BUSY }, { EMFILE, WHY_DISK_BUSY },
	{ ENFILE, WHY_DISK_BUSY }, { ENOMEM, WHY_DISK_BUSY },
	{ EAGAIN, WHY_DISK_BUSY },
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

enum why
why_of_error(int error)
{
	for (size_t i = 0; i < sizeof(errno_reasons) / sizeof(errno_reasons[0]);
	    i++)
		if (errno_reasons[i].error == error)
			return errno_reasons[i].why;
	return WHY_DISK_FAILED;
}

enum why
why_of_filters(int error)
{
	return error == EAGAIN || error == EMFILE || error == ENFILE ||
	    error == ENOMEM ? WHY_FILTER_BUSY :
	    error == ETIMEDOUT ? WHY_FILTER_LATE : WHY_FILTER_FAILED;
}

bool
why_is_transient(int error)
{
	return why_status(why_of_error(error)) == 503;
}
