/*
 * Tests of programs/pool with a clock and processes of the test's own: when
 * processes are too old, and when the next one is started.
 */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "lib/io.h"
#include "lib/mem.h"
#include "programs/pool.h"
#include "programs/process.h"
#include "t/unit/unit.h"

#define PROCESSES	8
#define LIFE		80000		/* ms */
#define PID		3		/* LIFE is so many ms shorter */

struct watch {
	int64_t	 due;			/* clock ms; 0: not armed */
	void	(*callback)(void *);
	void	*context;
};

static struct watch		*timers[2 * PROCESSES];
static struct process		*processes[PROCESSES];
static int			 nstarted, nended;	/* processes, ever */
static int			 error;		/* of the next starts */
static int			 early;		/* ms, of the timers */
static int			 nrecalled, nasked, listener = -1;
static char			 name[] = "p";
static struct conf_program	 program;
static struct manager		 manager;
static struct admission		 admission;
static struct invocation	 invocation;

/*
 * The loop
 */

struct watch *
evloop_watch(struct evloop *l, int fd, void (*callback)(void *), void *context)
{
	struct watch	*w = mem_zero(sizeof(*w));

	(void)l;
	(void)fd;
	*w = (struct watch){ .callback = callback, .context = context };
	return w;
}

struct watch *
evloop_timer(struct evloop *l, void (*callback)(void *), void *context)
{
	struct watch	*w = evloop_watch(l, -1, callback, context);

	for (int i = 0; i < 2 * PROCESSES; i++)
		if (timers[i] == NULL)
			return timers[i] = w;
	ck_abort();
}

void
evloop_unwatch(struct watch **wp)
{
	for (int i = 0; i < 2 * PROCESSES && *wp != NULL; i++)
		if (timers[i] == *wp)
			timers[i] = NULL;
	mem_drop(wp);
}

void
evloop_set(struct watch *w, enum evloop_event event)
{
	(void)w;
	(void)event;
}

void
evloop_arm(struct watch *w, int64_t when)
{
	w->due = when;
}

void
evloop_cancel(struct watch *w)
{
	w->due = 0;
}

static void
pass(int64_t ms)
{
	struct watch	*w;

	manager.clock.ms += ms;
	for (int i = 0; i < 2 * PROCESSES; i++) {
		w = timers[i];
		if (w == NULL || w->due == 0 || w->due > manager.clock.ms + early)
			continue;
		w->due = 0;
		w->callback(w->context);
	}
}

/*
 * Processes
 */

void
process_init(struct process *p, struct admission *a, struct str file,
    void (*tell)(struct process *, const struct reaper_report *, int))
{
	(void)file;
	*p = (struct process){ .admission = a, .tell = tell };
}

int
process_start(struct process *p, const struct execute *e)
{
	if (error != 0) {
		nstarted++;
		errno = error;
		return -1;
	}
	p->pid = PID;
	listener = dup(e->input);	/* it would accept there */
	processes[nstarted++] = p;
	return 0;
}

void
process_end(const struct process *p)
{
	(void)p;
	nended++;
}

void
process_free(struct process *p)
{
	(void)p;
	io_close(&listener);
}

void
process_log_failure(struct process *p, int of)
{
	(void)p;
	ck_assert_int_eq(of, error);
}

void
process_log_status(struct process *p, int status)
{
	(void)p;
	(void)status;
}

void
process_count_end(const struct process *p, int status, bool was_told)
{
	(void)p;
	(void)status;
	(void)was_told;
}

/*
 * Requests: one at most
 */

void
admission_start(struct admission *a)
{
	if (a->nwaiting > 0)
		a->kind->start(&invocation);
}

void
admission_run(struct invocation *i)
{
	i->admission->nwaiting--;
	nasked++;
}

void
admission_set_kept(struct invocation *i, bool kept)
{
	i->may_be_kept = kept;
}

bool
admission_report(const struct invocation *i,
    const struct program_report *report, int output)
{
	(void)i;
	(void)output;
	nrecalled += report->kind == PROGRAM_RECALL;
	return true;
}

void
admission_end(struct invocation *i)
{
	i->run = NULL;
}

void
admission_release(struct manager *m)
{
	m->nheld--;
}

static void
begin(void)
{
	nstarted = nended = nrecalled = nasked = error = early = 0;
	program = (struct conf_program){ .protocol = CONF_FASTCGI,
	    .name = name, .idle = 1000000, .life = LIFE };
	manager = (struct manager){ .clock.ms = 1000000 };
	admission = (struct admission){ .manager = &manager,
	    .program = &program, .kind = &pool_kind, .most = 1 };
	invocation = (struct invocation){ .admission = &admission };
	pool_kind.open(&admission);
}

static void
end(void)
{
	if (nstarted > 0 && error == 0)
		processes[nstarted - 1]->tell(processes[nstarted - 1], NULL,
		    -1);
	ck_assert_uint_eq(manager.nheld, 0);
	pool_kind.close(&admission);
	for (int i = 0; i < 2 * PROCESSES; i++)
		ck_assert_ptr_null(timers[i]);
}

static void
add_request(void)
{
	admission.nwaiting = 1;
	admission_start(&admission);
}

static void
report_start(void)
{
	const struct reaper_report	report = { .kind = REAPER_EXECUTED };

	processes[nstarted - 1]->tell(processes[nstarted - 1], &report, -1);
}

static void
finish(void)
{
	pool_kind.finish(&invocation, &(struct program_done){
	    .nanswered = 1, .again = true });
}

/*
 * Tests
 */

/* An idle process ends when it is too old. */
START_TEST(ends_the_old)
{
	add_request();
	report_start();
	ck_assert_int_eq(nasked, 1);
	finish();
	pass(LIFE - PID - 1);
	ck_assert_int_eq(nended, 0);
	pass(1);
	ck_assert_int_eq(nended, 1);
}
END_TEST

/* A process that is at work, and has no further request promised, ends behind
 * its request. */
START_TEST(ends_behind_a_request)
{
	add_request();
	report_start();
	pass(LIFE);
	ck_assert_int_eq(nended, 0);
	ck_assert_int_eq(nrecalled, 0);
	finish();
	ck_assert_int_eq(nended, 1);
}
END_TEST

/* Main gives back a connection that it may keep. */
START_TEST(recalls_the_old)
{
	add_request();
	report_start();
	finish();
	add_request();
	ck_assert(invocation.may_be_kept);
	pass(LIFE - PID - 1);
	ck_assert_int_eq(nrecalled, 0);
	pass(1);
	ck_assert_int_eq(nrecalled, 1);
	ck_assert_int_eq(nended, 0);
	finish();
	ck_assert_int_eq(nended, 1);
}
END_TEST

/* A timer may be early by less than its clock counts. */
START_TEST(recalls_early)
{
	add_request();
	report_start();
	finish();
	add_request();
	early = 5;
	pass(LIFE - PID - early);
	ck_assert_int_eq(nrecalled, 1);
	finish();
	ck_assert_int_eq(nended, 1);
}
END_TEST

/* A process whose life was over before it ran still has a request. */
START_TEST(starts_late)
{
	add_request();
	pass(2 * LIFE);
	report_start();
	ck_assert_int_eq(nasked, 1);
	pass(0);
	ck_assert_int_eq(nended, 0);
	finish();
	ck_assert_int_eq(nended, 1);
}
END_TEST

START_TEST(lives_for_ever)
{
	program.life = 0;
	program.idle = INT64_MAX / 2;
	add_request();
	report_start();
	finish();
	pass(INT64_C(1) << 40);
	ck_assert_int_eq(nended, 0);
}
END_TEST

/* The time until the next start doubles, from a second to a minute. */
START_TEST(backs_off)
{
	const int	s[] = { 1, 2, 4, 8, 16, 32, 60, 60, 60 };
	int		n = 1;

	error = EAGAIN;
	add_request();
	for (size_t i = 0; i < sizeof(s) / sizeof(*s); i++, n++) {
		ck_assert_int_eq(nstarted, n);
		ck_assert_int_eq(admission.error, EAGAIN);
		pass(s[i] * 1000 - 1);
		admission_start(&admission);
		ck_assert_int_eq(nstarted, n);
		pass(1);
	}
	ck_assert_int_eq(nstarted, n);
	nstarted = error = 0;
	pass(60000);
	ck_assert_int_eq(nstarted, 1);
}
END_TEST

/* An answer ends it: the next failure is the first one again. */
START_TEST(forgets_failures)
{
	error = EAGAIN;
	add_request();
	pass(1000);
	nstarted = error = 0;
	pass(2000);
	ck_assert_int_eq(nstarted, 1);
	report_start();
	finish();
	ck_assert_int_eq(admission.error, 0);
	processes[0]->tell(processes[0], NULL, -1);
	nstarted = 0;
	error = EAGAIN;
	add_request();
	ck_assert_int_eq(nstarted, 1);
	pass(1000);
	ck_assert_int_eq(nstarted, 2);
}
END_TEST

void
unit_tests(TCase *t)
{
	tcase_add_checked_fixture(t, begin, end);
	tcase_add_test(t, ends_the_old);
	tcase_add_test(t, ends_behind_a_request);
	tcase_add_test(t, recalls_the_old);
	tcase_add_test(t, recalls_early);
	tcase_add_test(t, starts_late);
	tcase_add_test(t, lives_for_ever);
	tcase_add_test(t, backs_off);
	tcase_add_test(t, forgets_failures);
}
