/*
 * wire: requests and replies over a stream pipe.
 *
 * Sending: 0, or -1 with errno (see io_send_message()).  A CLOSE request passes
 * its file: the job's fd is -1 once that has been sent, even if sending the
 * rest of the request fails.
 *
 * wire_recv_request() blocks; the job's texts point into the buffer, which must
 * have WIRE_MAX bytes, and the receiver owns the job's fd.  1, 0 if the pipe
 * was closed, -1 with errno (EBADMSG: not a request).
 *
 * wire_recv_reply() never blocks, and fills in the result of the job; EBADMSG:
 * not a reply to that job.
 */
#ifndef HELPERS_WIRE_H
#define HELPERS_WIRE_H

#include "helpers/job.h"

#define WIRE_MAX	(4 * JOB_PATH_MAX + JOB_DATA_MAX + 512)

int	wire_send_request(int sock, struct job *);
int	wire_recv_request(int sock, struct job *, char *buffer);
int	wire_send_reply(int sock, const struct job *);
int	wire_recv_reply(int sock, struct job *);

#endif
