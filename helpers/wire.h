/*
 * wire: jobs and their answers on their way over a stream pipe.
 *
 * Sending: 0, or -1 with errno (see io_send_message).  The file of a CLOSE goes:
 * once it is on its way, which may be in vain, the job's fd is -1.
 * Receiving an order blocks; texts point into the buffer, which must hold
 * WIRE_MAX bytes; an fd that came along is the receiver's to close.  1, 0
 * when the pipe was closed, -1 with errno (EBADMSG: not a job).
 * Receiving an answer never blocks: fills in the answer of the job with that
 * id; EBADMSG if it is for another one.
 */
#ifndef HELPERS_WIRE_H
#define HELPERS_WIRE_H

#include "helpers/job.h"

#define WIRE_MAX	(3 * JOB_PATH_MAX + JOB_DATA_MAX + 512)

int	wire_send_request(int sock, struct job *);
int	wire_recv_request(int sock, struct job *, char *buffer);
int	wire_send_reply(int sock, const struct job *);
int	wire_recv_reply(int sock, struct job *);

#endif
