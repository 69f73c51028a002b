/*
 * control_child: a child that answers one question of the control socket, which
 * may have to wait for a file system: about the conf file, and about the conf.
 */
#ifndef MONITOR_CONTROL_CHILD_H
#define MONITOR_CONTROL_CHILD_H

#include <sys/types.h>

struct control_request;
struct monitor;

/* Answers that client; its pipe, ours to close, ends when it has.  0: there is
 * none. */
pid_t control_child_start(
    struct monitor *, const struct control_request *, int client, int *pipe);

#endif
