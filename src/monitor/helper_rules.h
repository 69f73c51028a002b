/*
 * helper_rules: which files the helpers of a generation may reach, as rules for
 * Landlock.
 */
#ifndef MONITOR_HELPER_RULES_H
#define MONITOR_HELPER_RULES_H

struct conf;

/* Makes a ruleset (lib/landlock.h) of the files and directories that the conf
 * names.  Returns its descriptor, or -1 if helpers run without.  May wait for a
 * file system, as check_roots() does. */
int	helper_rules_open(const struct conf *);

/* Returns -1 after a line in the log if the conf requires a sandbox that this
 * system does not have; else 0. */
int	helper_rules_check(const struct conf *);

#endif
