/*
 * helper_rules: how far the processes of a generation may reach, by its conf.
 */
#ifndef MONITOR_HELPER_RULES_H
#define MONITOR_HELPER_RULES_H

struct conf;

/*
 * Which files its helpers may reach (lib/landlock.h), and nothing else of the
 * file system; -1: it has none.  May wait for a file system, as who looks at
 * roots does.
 */
int	helper_rules_open(const struct conf *);

/* -1 after a line, if the conf insists on what there is not here. */
int	helper_rules_check(const struct conf *);

#endif
