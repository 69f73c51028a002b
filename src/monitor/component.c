/*
 * component: the data that components have in common.
 */
#include "monitor/component.h"
#include "monitor/monitor.h"

const struct component *const	*components;
struct due			due;
struct monitor_setup		prepared;
