/*
 * syscall_filter: the one file that knows libseccomp.
 */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "lib/syscall_filter.h"

static const char *const role_names[] = {
#define X(id, name) [SYSCALL_ROLE_NUMBER_##id] = name,
	SYSCALL_ROLES(X)
#undef X
};

static unsigned
role_of(const char *name, size_t len)
{
	for (unsigned i = 0; i < SYSCALL_ROLE_COUNT; i++)
		if (strlen(role_names[i]) == len &&
		    strncmp(role_names[i], name, len) == 0)
			return 1u << i;
	return 0;
}

unsigned
syscall_filter_roles(const char *names)
{
	unsigned	all = 0, one;
	size_t		len;

	for (;; names += len + 1) {
		len = strcspn(names, ",");
		one = role_of(names, len);
		if (one == 0)
			return 0;
		all |= one;
		if (names[len] == '\0')
			return all;
	}
}

#ifdef HAVE_SECCOMP

#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>

#include <fcntl.h>
#include <seccomp.h>
#include <stdint.h>

#include "lib/log.h"
#include "lib/pagemap.h"

#define ALL	(~0u)
/* Who has libraries of the system do what these know. */
#define LIBRARIES	(SYSCALL_ROLE_USERS | SYSCALL_ROLE_NAMES)
#define INT_BITS	UINT32_MAX	/* all that the system looks at of an int */

enum how { CALL, REFUSE, OWN, ASK, WHERE };

/* Of the bits of an argument, just those are set. */
struct test {
	unsigned	 argument;
	uint64_t	 bits, set;
};

static const struct io_op {
	const char	*name;
	enum how	 how;
	unsigned	 roles;
	unsigned	 ntests;
	struct test	 tests[2];
} calls[] = {
#define MAIN	SYSCALL_ROLE_MAIN
#define FILES	SYSCALL_ROLE_FILES
#define USERS	SYSCALL_ROLE_USERS
#define LOG	SYSCALL_ROLE_LOG
#define SYSLOG	SYSCALL_ROLE_SYSLOG
#define NAMES	SYSCALL_ROLE_NAMES
#define CALL(name, roles)	{ #name, CALL, roles, 0, { { 0 } } },
#define REFUSE(name, roles)	{ #name, REFUSE, roles, 0, { { 0 } } },
#define OWN(name)		{ #name, OWN, ALL, 0, { { 0 } } },
#define ASK(name)		{ #name, ASK, 0, 0, { { 0 } } },
#define SELF(name, roles)						\
	{ #name, WHERE, roles, 1, { { 0, INT_BITS, 0 } } },
#define BITS(name, roles, bits, set)					\
	{ #name, WHERE, roles, 1, { { 2, bits, set } } },
#define DOES(name, roles, command)					\
	{ #name, WHERE, roles, 1, { { 1, INT_BITS, command } } },
#define DOES_BUT(name, roles, command, bits) \
	{#name, WHERE, roles, 2, {{1, INT_BITS, command}, {2, bits, 0}}},
#define OPTION(name, roles, level, option) \
	{#name, WHERE, roles, 2, {{1, INT_BITS, level}, {2, INT_BITS, option}}},
#include "lib/syscalls.tbl"
#undef CALL
#undef REFUSE
#undef OWN
#undef ASK
#undef SELF
#undef BITS
#undef DOES
#undef DOES_BUT
#undef OPTION
#undef MAIN
#undef FILES
#undef USERS
#undef LOG
#undef SYSLOG
#undef NAMES
};

/* A system that does not answer this has no such call, or is an imitation
 * (valgrind) that would be filtered with us. */
bool
syscall_filter_available(void)
{
	const uint32_t	trap = SECCOMP_RET_TRAP;

	return syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &trap) == 0;
}

/* In whatever state we are: no more than that. */
static void
forbidden(int signo, siginfo_t *info, void *context)
{
	char	 digits[3 * sizeof(int) + 1], *at = digits + sizeof(digits);
	int	 n = info->si_syscall;

	(void)context;
	*--at = '\0';
	do
		*--at = (char)('0' + n % 10);
	while ((n /= 10) > 0 && at > digits);
	log_crash((const char *const []){ "system call number ", at,
	    " is forbidden to this process: report it; sandbox off in the "
	    "conf allows it", NULL });
	raise(signo);		/* as soon as we return, and for good */
}

static void
catch_forbidden(void)
{
	struct sigaction	sa = { .sa_sigaction = forbidden,
				    .sa_flags = SA_RESETHAND | SA_SIGINFO };

	sigemptyset(&sa.sa_mask);
	sigaction(SIGSYS, &sa, NULL);
}

static int
add_if(scmp_filter_ctx filter, uint32_t action, int number,
    struct scmp_arg_cmp condition)
{
	return seccomp_rule_add_array(filter, action, number, 1, &condition);
}

static int
add_where(scmp_filter_ctx filter, int number, const struct io_op *c)
{
	struct scmp_arg_cmp	all[2];

	for (unsigned i = 0; i < c->ntests; i++)
		all[i] = (struct scmp_arg_cmp){ .arg = c->tests[i].argument,
		    .op = SCMP_CMP_MASKED_EQ, .datum_a = c->tests[i].bits,
		    .datum_b = c->tests[i].set };
	return seccomp_rule_add_array(filter, SCMP_ACT_ALLOW, number,
	    c->ntests, all);
}

static int
add_refused(scmp_filter_ctx filter, int number, unsigned whose, unsigned who)
{
	if ((whose & who) != 0)
		return seccomp_rule_add(filter, SCMP_ACT_ALLOW, number, 0);
	return (who & LIBRARIES) != 0 ? 0 : seccomp_rule_add(filter,
	    SCMP_ACT_ERRNO(EPERM), number, 0);
}

static int
add_ask(scmp_filter_ctx filter, int number, unsigned who)
{
	const struct scmp_arg_cmp	ask = { .arg = 1, .op = SCMP_CMP_EQ,
					    .datum_a = PAGEMAP_IOC_SCAN };
	const struct scmp_arg_cmp	other = { .arg = 1, .op = SCMP_CMP_NE,
					    .datum_a = PAGEMAP_IOC_SCAN };
	int				error;

	if ((who & SYSCALL_ROLE_MAIN) == 0)
		return add_refused(filter, number, 0, who);
	error = add_if(filter, SCMP_ACT_ALLOW, number, ask);
	return error != 0 || (who & LIBRARIES) != 0 ? error : add_if(filter,
	    SCMP_ACT_ERRNO(EPERM), number, other);
}

static int
add(scmp_filter_ctx filter, const struct io_op *c, unsigned who)
{
	const struct scmp_arg_cmp	own = { .op = SCMP_CMP_EQ,
					    .datum_a = (scmp_datum_t)getpid() };
	int				number;

	number = seccomp_syscall_resolve_name(c->name);
	if (number < 0)			/* not of this system */
		return 0;
	switch (c->how) {
	case OWN:
		return add_if(filter, SCMP_ACT_ALLOW, number, own);
	case REFUSE:
		return add_refused(filter, number, c->roles, who);
	case ASK:
		return add_ask(filter, number, who);
	case WHERE:
		return (c->roles & who) == 0 ? 0 : add_where(filter, number, c);
	default:
		return (c->roles & who) == 0 ? 0 : seccomp_rule_add(filter,
		    SCMP_ACT_ALLOW, number, 0);
	}
}

/* Within this machine only, but for names; who asks for more is told that there
 * is none. */
static int
add_sockets(scmp_filter_ctx filter, unsigned who)
{
	const struct scmp_arg_cmp	near = { .op = SCMP_CMP_EQ,
					    .datum_a = AF_UNIX };
	const struct scmp_arg_cmp	far = { .op = SCMP_CMP_NE,
					    .datum_a = AF_UNIX };
	int				number, error;

	number = seccomp_syscall_resolve_name("socket");
	if ((who & (LIBRARIES | SYSCALL_ROLE_SYSLOG)) == 0 || number < 0)
		return 0;
	if ((who & SYSCALL_ROLE_NAMES) != 0)
		return seccomp_rule_add(filter, SCMP_ACT_ALLOW, number, 0);
	error = add_if(filter, SCMP_ACT_ALLOW, number, near);
	return error != 0 ? error : add_if(filter,
	    SCMP_ACT_ERRNO(EAFNOSUPPORT), number, far);
}

/* Threads, but no processes.  clone3() has its flags in memory, where no filter
 * looks; libraries know how to do without. */
static int
add_threads(scmp_filter_ctx filter, unsigned who)
{
	const struct scmp_arg_cmp	thread = { .op = SCMP_CMP_MASKED_EQ,
					    .datum_a = CLONE_THREAD,
					    .datum_b = CLONE_THREAD };
	int				number, error = 0;

	if ((who & SYSCALL_ROLE_NAMES) == 0)
		return 0;
	number = seccomp_syscall_resolve_name("clone");
	if (number >= 0)
		error = add_if(filter, SCMP_ACT_ALLOW, number, thread);
	number = seccomp_syscall_resolve_name("clone3");
	if (error == 0 && number >= 0)
		error = seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS),
		    number, 0);
	return error;
}

static int
fill(scmp_filter_ctx filter, unsigned who)
{
	int	error = 0;

	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]) && error == 0;
	    i++)
		error = add(filter, &calls[i], who);
	if (error == 0)
		error = add_sockets(filter, who);
	return error != 0 ? error : add_threads(filter, who);
}

int
syscall_filter_enter(unsigned who)
{
	/* What libraries call that are asked, is theirs to know. */
	scmp_filter_ctx	filter = seccomp_init((who & LIBRARIES) != 0 ?
			    SCMP_ACT_ERRNO(EPERM) : SCMP_ACT_TRAP);
	int		error;

	if (filter == NULL) {
		errno = ENOMEM;
		return -1;
	}
	/* As a tree, where the library can: some calls are asked about often
	 * (older systems remember none of the answers). */
	(void)seccomp_attr_set(filter, SCMP_FLTATR_CTL_OPTIMIZE, 2);
	error = seccomp_attr_set(filter, SCMP_FLTATR_CTL_TSYNC, 1);
	if (error == 0)
		error = fill(filter, who);
	catch_forbidden();
	if (error == 0)
		error = seccomp_load(filter);
	seccomp_release(filter);
	errno = -error;
	return error == 0 ? 0 : -1;
}

#else

bool
syscall_filter_available(void)
{
	return false;
}

int
syscall_filter_enter(unsigned who)
{
	(void)who;
	errno = ENOSYS;
	return -1;
}

#endif
