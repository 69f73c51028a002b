/*
 * Tests of loop/passages: filters that start, end, fail, and leave processes
 * behind, in each order.  The test is the driver of programs, the loop and the
 * connection.
 */
#include <sys/param.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "conf/program.h"
#include "lib/io.h"
#include "lib/mem.h"
#include "loop/clients_private.h"
#include "loop/passages.h"
#include "stats/program_stats.h"
#include "t/unit/unit.h"

#define COUNT(array)	(sizeof(array) / sizeof((array)[0]))
#define FILTERS	3
#define ROOM	16			/* bytes that a filter takes at once */

struct watch {
	int		  fd;
	enum evloop_event event;
	void		 (*callback)(void *);
	void		 *context;
};

/* A program, as its driver has it. */
struct fake {
	struct backend	 backend;	/* first: casts rely on it */
	struct buf	 input, output;
	bool		 has_ended_input;
	bool		 is_kept_out;	/* what comes is in rest: */
	struct buf	 rest;
	bool		 is_framed, is_cut;	/* cannot be poured; at its end */
	int		 body;		/* the pipe that it reads; -1: none */
	int		 pipe;		/* it writes there */
	uint32_t	 number;
};

static struct watch		*watch;
static struct fake		*fakes[FILTERS];	/* those that run */
static size_t			 nfakes, nleft;
static int			 refusal;	/* errno of the next start */
static struct fake		 source;
static struct client		 waiter;
static int			 woken, lowest;
static struct passages		*all;
static struct held_total	 total;
static struct passage		*passage;
static char			 name[] = "f", *words[] = { name };
static struct conf_program	 programs[FILTERS];
static const struct conf_program *list[FILTERS];

/*
 * The loop and the connection
 */

struct watch *
evloop_watch(struct evloop *l, int fd, void (*callback)(void *), void *context)
{
	(void)l;
	ck_assert_ptr_null(watch);
	watch = mem_zero(sizeof(*watch));
	*watch = (struct watch){ .fd = fd, .callback = callback,
	    .context = context };
	return watch;
}

void
evloop_unwatch(struct watch **wp)
{
	watch = NULL;
	mem_drop(wp);
}

void
evloop_set(struct watch *w, enum evloop_event event)
{
	w->event = event;
}

void
mailbox_post(struct mailbox *q, struct mail *m)
{
	(void)q;
	(void)m;
	ck_abort();
}

void
clients_wake(struct client *c, enum outcome outcome)
{
	ck_assert_ptr_eq(c, &waiter);
	ck_assert_int_eq(outcome, OUTCOME_READY);
	woken++;
}

/* Handles what there is to read. */
static void
settle(void)
{
	struct pollfd	p = { .events = POLLIN };

	while (watch != NULL && watch->event == EVLOOP_READ) {
		p.fd = watch->fd;
		if (poll(&p, 1, 0) != 1)
			return;
		watch->callback(watch->context);
	}
}

/*
 * The driver of programs
 */

static struct backend *
start_fake(void *context, const struct backend_start *start, size_t hold)
{
	struct fake	*f;

	(void)context;
	(void)hold;
	ck_assert(start->is_filter && start->is_piped);
	ck_assert_int_eq(start->sends_body, start->body == -1);
	if (refusal != 0) {
		errno = refusal;
		refusal = 0;
		return NULL;
	}
	f = fakes[nfakes++] = mem_zero(sizeof(*f));
	f->number = start->program;
	f->body = start->body == -1 ? -1 : dup(start->body);
	f->pipe = f->backend.file = f->backend.notes = -1;
	f->backend.status = -1;
	return &f->backend;
}

static void
consume_output(struct backend *b, size_t n)
{
	struct fake	*f = (struct fake *)b;

	buf_consume(&f->output, n);
	b->at = f->output.at;
	b->len = f->output.len;
}

static void
send_body(struct backend *b, const char *bytes, size_t n)
{
	struct fake	*f = (struct fake *)b;

	ck_assert_uint_le(n, b->room);
	ck_assert(!f->has_ended_input);
	buf_add(&f->input, bytes, n);
	b->room -= n;
}

static void
finish_body(struct backend *b)
{
	((struct fake *)b)->has_ended_input = true;
}

static bool
keep_out(struct backend *b)
{
	struct fake	*f = (struct fake *)b;

	f->is_kept_out = !f->is_framed;
	return f->is_kept_out;
}

static void
let_in(struct backend *b)
{
	struct fake	*f = (struct fake *)b;

	f->is_kept_out = false;
	buf_add(&f->output, f->rest.at, f->rest.len);
	buf_free(&f->rest);
	b->at = f->output.at;
	b->len = f->output.len;
}

static ssize_t
pour(struct backend *from, struct backend *to, size_t n)
{
	struct fake	*f = (struct fake *)from, *t = (struct fake *)to;

	ck_assert(f->is_kept_out && from->len == 0 && to->room > 0 && n > 0);
	n = MIN(n, MIN(to->room, f->rest.len));
	if (n == 0)
		return f->is_cut ? -1 : 0;
	buf_add(&t->input, f->rest.at, n);
	buf_consume(&f->rest, n);
	to->room -= n;
	return (ssize_t)n;
}

static void
end_fake(struct backend **bp)
{
	struct fake	*f = (struct fake *)*bp;

	*bp = NULL;
	for (size_t i = 0; i < FILTERS; i++)
		if (fakes[i] == f)
			fakes[i] = NULL;
	nleft++;
	io_close(&f->body);
	io_close(&f->pipe);
	io_close(&f->backend.file);
	buf_free(&f->input);
	free(f);
}

static const struct backends	driver = {
	.start = start_fake, .consume = consume_output, .send = send_body,
	.finish = finish_body, .keep_out = keep_out, .pour = pour,
	.let_in = let_in, .end = end_fake
};

static void
tell(struct backend *b)
{
	ck_assert_ptr_nonnull(b->told);
	b->told(b->told_context);
}

/* A filter runs; its output is a pipe. */
static void
note_start(size_t i)
{
	struct fake	*f = fakes[i];
	int		 ends[2];

	ck_assert_int_eq(pipe2(ends, O_CLOEXEC), 0);
	f->pipe = ends[1];
	f->backend.file = ends[0];
	f->backend.started = true;
	f->backend.room = f->body == -1 ? ROOM : 0;
}

static void
report_start(size_t i)
{
	note_start(i);
	tell(&fakes[i]->backend);
}

static void
set_end(size_t i, enum backend_end end, int status)
{
	fakes[i]->backend.end = (uint8_t)end;
	fakes[i]->backend.status = status;
	fakes[i]->backend.room = 0;
}

/* A filter exits; what it has written may be read by others. */
static void
report_exit(size_t i, int status)
{
	set_end(i, status == SIGPIPE || status == SIGSEGV ? BACKEND_BROKEN :
	    BACKEND_COMPLETE, status);
	tell(&fakes[i]->backend);
}

static void
put(size_t i, const char *text)
{
	ck_assert_int_eq(write(fakes[i]->pipe, text, strlen(text)),
	    strlen(text));
}

static void
put_source(const char *text)
{
	buf_adds(source.is_kept_out ? &source.rest : &source.output, text);
	source.backend.at = source.output.at;
	source.backend.len = source.output.len;
	if (source.backend.told != NULL)
		tell(&source.backend);
}

static void
end_source(enum backend_end end)
{
	source.backend.end = (uint8_t)end;
	tell(&source.backend);
}

/*
 * Beginning and end
 */

static void
begin(void)
{
	signal(SIGPIPE, SIG_IGN);
	lowest = dup(0);
	close(lowest);
	nfakes = nleft = 0;
	woken = 0;
	source = (struct fake){ .body = -1 };
	for (size_t i = 0; i < FILTERS; i++) {
		programs[i] = (struct conf_program){ .name = name,
		    .number = i, .command = { .at = words, .n = 1 },
		    .result = 100 };
		list[i] = &programs[i];
	}
	total = (struct held_total){ .most = 1 << 20 };
	all = passages_new(&driver, NULL, NULL, &total);
}

static void
end(void)
{
	int	fd;

	if (passage != NULL)
		passages_leave(&passage);
	passages_free(&all);
	for (size_t i = 0; i < nfakes; i++)
		ck_assert_ptr_null(fakes[i]);
	ck_assert_ptr_null(watch);
	ck_assert_uint_eq(total.bytes, 0);
	ck_assert_ptr_null(source.backend.told);
	buf_free(&source.output);
	buf_free(&source.rest);
	ck_assert_int_eq(fd = dup(0), lowest);
	close(fd);
}

static void
pass_keeping(size_t n, const char *first, int64_t length, size_t keep)
{
	struct passage_start	start = {
		.programs = list, .n = n, .name = STR("/x"),
		.environment = STR("A=1"), .source = &source.backend,
		.first = str_of(first), .length = length,
		.keep = keep, .hold = 64
	};

	passage = passages_pass(all, &start);
	passage->output.waiter = &waiter;
}

static void
pass(size_t n, const char *first, int64_t length)
{
	pass_keeping(n, first, length, 10);
}

static void
check_output(const char *text)
{
	ck_assert_uint_eq(passage->output.len, strlen(text));
	ck_assert(memcmp(passage->output.at, text, strlen(text)) == 0);
	passages_take(passage, strlen(text));
}

static void
check_end(enum backend_end end, int error)
{
	ck_assert_int_eq(passage->output.end, end);
	ck_assert_int_eq(passage->output.error, error);
	ck_assert_ptr_null(source.backend.told);
	ck_assert_ptr_null(watch);
}

static void
check_input(size_t i, const char *text)
{
	ck_assert_str_eq(buf_string(&fakes[i]->input), text);
}

/* Two filters that run. */
static void
pass_two(void)
{
	pass(2, "ab", -1);
	report_start(0);
	ck_assert(!passage->output.started);
	check_input(0, "");
	report_start(1);
	ck_assert(passage->output.started);
}

/* Each filter reads the pipe of the one before, the first what the program
 * writes, and nothing before all run. */
START_TEST(passes_all)
{
	char	bytes[8];

	pass_two();
	check_input(0, "ab");
	ck_assert(passage->awaits_source);
	put_source("cd");
	check_input(0, "abcd");
	put(0, "xy");
	ck_assert_int_eq(read(fakes[1]->body, bytes, sizeof(bytes)), 2);
	put(1, "z");
	settle();
	check_output("z");
	end_source(BACKEND_COMPLETE);
	ck_assert(fakes[0]->has_ended_input);
	ck_assert(!passage->awaits_source);
	report_exit(0, 0);
	put(1, "!");
	report_exit(1, 0);
	check_output("!");
	check_end(BACKEND_COMPLETE, 0);
	ck_assert_uint_eq(nleft, 2);
}
END_TEST

/* The output ends before the reports, or the start is told with the end. */
START_TEST(completes_late)
{
	pass_two();
	end_source(BACKEND_COMPLETE);
	io_close(&fakes[1]->pipe);
	settle();
	ck_assert_int_eq(passage->output.end, BACKEND_RUNS);
	report_exit(1, 0);
	ck_assert_int_eq(passage->output.end, BACKEND_RUNS);
	report_exit(0, 0);
	check_end(BACKEND_COMPLETE, 0);
	passages_leave(&passage);
	source.backend.end = BACKEND_RUNS;
	nfakes = 0;
	pass(1, "", -1);
	note_start(0);
	put(0, "q");
	set_end(0, BACKEND_COMPLETE, 0);
	tell(&fakes[0]->backend);
	check_output("q");
	check_end(BACKEND_COMPLETE, 0);
}
END_TEST

static const struct {
	int	first, second;		/* statuses */
	bool	second_first, is_good;
} ends[] = {
	{ 0, 0, false, true },
	{ SIGPIPE, 0, false, true },
	{ SIGPIPE, 0, true, true },
	{ SIGPIPE, 256, false, false },
	{ SIGPIPE, SIGPIPE, true, false },
	{ SIGSEGV, 0, false, false },
	{ 256, 0, true, false },
	{ 0, 256, true, false },
	{ 0, SIGSEGV, false, false },
};

START_TEST(judges_statuses)
{
	size_t	order = ends[_i].second_first;

	pass_two();
	for (size_t i = 0; i < 2; i++, order = 1 - order)
		if (passage->output.end == BACKEND_RUNS)
			report_exit(order, order == 0 ? ends[_i].first :
			    ends[_i].second);
	check_end(ends[_i].is_good ? BACKEND_COMPLETE : BACKEND_FAILED,
	    ends[_i].is_good ? 0 : EPROTO);
}
END_TEST

/* A process that filters have left behind has the pipe; more came than is
 * held. */
START_TEST(waits_for_no_leftover)
{
	int	left;

	pass(1, "a", -1);
	report_start(0);
	left = dup(fakes[0]->pipe);
	for (int i = 0; i < 8; i++)
		put(0, "12345678");
	report_exit(0, 0);
	ck_assert_int_eq(passage->output.end, BACKEND_RUNS);
	ck_assert_uint_eq(passage->output.len, 64);
	passages_take(passage, 10);
	ck_assert_int_eq(passage->output.end, BACKEND_RUNS);
	passages_take(passage, 54);
	check_end(BACKEND_COMPLETE, 0);
	close(left);
}
END_TEST

START_TEST(leaves_out_optional_ones)
{
	programs[0].optional = programs[2].optional = 1;
	pass(3, "a", -1);
	set_end(0, BACKEND_BUSY, -1);
	tell(&fakes[0]->backend);
	report_start(1);
	refusal = EAGAIN;
	set_end(2, BACKEND_BUSY, -1);
	tell(&fakes[2]->backend);
	ck_assert_ptr_null(fakes[0]);
	check_input(1, "a");
	put(1, "b");
	settle();
	check_output("b");
	refusal = 0;
}
END_TEST

START_TEST(needs_others)
{
	programs[0].optional = programs[1].optional = 1;
	refusal = EAGAIN;
	pass(1, "a", -1);
	check_end(BACKEND_FAILED, ENODATA);
	ck_assert_uint_eq(passage->kept.len, 1);
	passages_leave(&passage);
	programs[0].optional = 0;
	refusal = ENOENT;
	pass(1, "a", -1);
	check_end(BACKEND_FAILED, ENOENT);
	passages_leave(&passage);
	refusal = EMFILE;
	pass(1, "a", -1);
	check_end(BACKEND_FAILED, EMFILE);
	passages_leave(&passage);
	pass(1, "a", -1);
	fakes[0]->backend.retry_after = 7;
	set_end(0, BACKEND_BUSY, -1);
	tell(&fakes[0]->backend);
	check_end(BACKEND_FAILED, EAGAIN);
	ck_assert_uint_eq(passage->output.retry_after, 7);
}
END_TEST

/* What the filters have not taken stays; what was taken is kept, up to the
 * limit, and as long as there is no output. */
START_TEST(keeps_what_it_takes)
{
	pass(1, "abcd", -1);
	report_start(0);
	put_source("efgh");
	ck_assert_uint_eq(passage->kept.len, 8);
	ck_assert(!passage->is_lost);
	fakes[0]->backend.room = 2;
	put_source("ij");
	ck_assert_uint_eq(passage->kept.len, 10);
	put_source("klm");
	ck_assert_uint_eq(source.backend.len, 3);
	ck_assert(!passage->awaits_source);
	fakes[0]->backend.room = 2;
	tell(&fakes[0]->backend);
	ck_assert(passage->is_lost);
	check_input(0, "abcdefghijkl");
	passages_give_up(passage);
	check_end(BACKEND_FAILED, ETIMEDOUT);
	ck_assert_uint_eq(source.backend.len, 1);
}
END_TEST

/* Nothing is kept beyond what all answers together may hold, where HELD_MIN
 * bytes of each do not count. */
START_TEST(keeps_within_the_total)
{
	static char	bytes[HELD_MIN];

	total.most = 0;
	pass_keeping(1, "abcd", -1, 2 * HELD_MIN);
	report_start(0);
	memset(bytes, 'e', HELD_MIN - 4);
	fakes[0]->backend.room = HELD_MIN;
	put_source(bytes);
	ck_assert_uint_eq(passage->kept.len, HELD_MIN);
	ck_assert(!passage->is_lost);
	fakes[0]->backend.room = 10;
	put_source("f");
	ck_assert(passage->is_lost);
}
END_TEST

START_TEST(counts_what_it_keeps)
{
	static char	bytes[HELD_MIN];

	pass_keeping(1, "abcde", -1, 2 * HELD_MIN);
	report_start(0);
	memset(bytes, 'f', sizeof(bytes) - 4);
	fakes[0]->backend.room = 2 * HELD_MIN;
	put_source(bytes);
	ck_assert_uint_eq(passage->kept.len, HELD_MIN + 1);
	ck_assert_uint_eq(passage->kept.size, total.bytes + HELD_MIN);
}
END_TEST

/* Nothing is to be kept: what has come is sent, and all other bytes are poured,
 * as there is room.  An end has the source read again. */
START_TEST(pours_what_it_does_not_keep)
{
	unsigned	moved;

	put_source("cd");
	pass_keeping(1, "ab", -1, 0);
	ck_assert(source.is_kept_out);
	put_source("efgh");
	report_start(0);
	check_input(0, "abcdefgh");
	ck_assert(source.is_kept_out && passage->is_lost);
	ck_assert(passage->awaits_source);
	ck_assert_uint_eq(source.output.len, 0);
	put_source("ijklmnopqrst");
	check_input(0, "abcdefghijklmnop");
	ck_assert(!passage->awaits_source);
	fakes[0]->backend.room = ROOM;
	tell(&fakes[0]->backend);
	check_input(0, "abcdefghijklmnopqrst");
	moved = passage->moved;
	fakes[0]->backend.room = 0;
	tell(&source.backend);
	ck_assert(!passage->awaits_source);
	fakes[0]->backend.room = ROOM;
	tell(&fakes[0]->backend);
	/* Another time counts now, so the machine must look. */
	ck_assert(passage->awaits_source);
	ck_assert_uint_eq(passage->moved, moved + 2);
	source.is_cut = true;
	tell(&source.backend);
	ck_assert(!source.is_kept_out);
	end_source(BACKEND_COMPLETE);
	ck_assert(fakes[0]->has_ended_input);
	report_exit(0, 0);
	check_end(BACKEND_COMPLETE, 0);
}
END_TEST

/* No more than the length is poured, and none if the first one has ended; then
 * what is left is the machine's. */
START_TEST(pours_no_more_than_is_taken)
{
	pass_keeping(2, "", 3, 0);
	put_source("abcdef");
	report_start(0);
	report_start(1);
	check_input(0, "abc");
	ck_assert(fakes[0]->has_ended_input);
	report_exit(0, 0);
	ck_assert(source.is_kept_out);
	put_source("ghi");
	ck_assert_uint_eq(source.backend.len, 0);
	report_exit(1, 0);
	check_end(BACKEND_COMPLETE, 0);
	ck_assert(!source.is_kept_out);
	ck_assert_uint_eq(source.backend.len, 6);
}
END_TEST

/* What is kept is copied until it is too much; an answer with frames always
 * is. */
START_TEST(pours_behind_what_is_kept)
{
	source.is_framed = _i == 1;
	pass(1, "abcd", -1);
	report_start(0);
	put_source("efghij");
	ck_assert(!source.is_kept_out);
	put_source("k");
	ck_assert(passage->is_lost);
	ck_assert_int_eq(source.is_kept_out, _i == 0);
	put_source("lm");
	check_input(0, "abcdefghijklm");
	passages_leave(&passage);
	ck_assert(!source.is_kept_out);
}
END_TEST

START_TEST(keeps_to_the_length)
{
	pass(1, "abcd", 6);
	report_start(0);
	put_source("efgh");
	check_input(0, "abcdef");
	ck_assert(fakes[0]->has_ended_input);
	passages_leave(&passage);
	buf_free(&source.output);
	nfakes = 0;
	pass(1, "abcd", 2);
	report_start(0);
	check_input(0, "ab");
	ck_assert(fakes[0]->has_ended_input);
	passages_leave(&passage);
	nfakes = 0;
	source = (struct fake){ .body = -1 };
	pass(1, "abcd", 6);
	report_start(0);
	end_source(BACKEND_COMPLETE);
	check_end(BACKEND_BROKEN, 0);
}
END_TEST

START_TEST(breaks_with_the_program)
{
	pass(1, "", -1);
	report_start(0);
	put_source("abc");
	end_source(BACKEND_BROKEN);
	check_end(BACKEND_BROKEN, 0);
}
END_TEST

START_TEST(ends_one_that_writes_for_ever)
{
	const struct program_stats_label label = { .name = name };
	struct program_stats		*counts = program_stats_new(&label, 1);
	struct program_stats_numbers	 numbers;

	program_stats_use(counts);
	pass(1, "", -1);
	report_start(0);
	for (int i = 0; i < 6; i++) {
		put(0, "1234567890123456");
		settle();
		passages_take(passage, passage->output.len);
	}
	put_source("a");
	for (int i = 0; i < 6; i++) {
		put(0, "1234567890123456");
		settle();
		passages_take(passage, passage->output.len);
	}
	ck_assert_int_eq(passage->output.end, BACKEND_RUNS);
	put(0, "12345");
	settle();
	check_end(BACKEND_FAILED, EFBIG);
	ck_assert(program_stats_read(0, &numbers));
	ck_assert_uint_eq(numbers.counters[PROGRAM_STATS_FAILED], 1);
	ck_assert_uint_eq(numbers.counters[PROGRAM_STATS_LEFT], 0);
	program_stats_use(NULL);
	program_stats_free(&counts);
}
END_TEST

/* An end that comes before all run. */
START_TEST(fails_at_the_start)
{
	pass(2, "a", -1);
	report_start(0);
	report_exit(0, 256);
	check_end(BACKEND_FAILED, EPROTO);
	passages_leave(&passage);
	nfakes = 0;
	pass(2, "a", -1);
	report_start(0);
	fakes[1]->backend.error = EACCES;
	set_end(1, BACKEND_FAILED, -1);
	tell(&fakes[1]->backend);
	check_end(BACKEND_FAILED, EACCES);
	passages_leave(&passage);
	nfakes = 0;
	pass(2, "a", -1);
	report_start(0);
	ck_assert_ptr_eq(passage->slowest, &programs[0]);
	report_exit(0, 0);
	ck_assert_ptr_eq(passage->slowest, &programs[1]);
	report_start(1);
	report_exit(1, 0);
	check_end(BACKEND_COMPLETE, 0);
}
END_TEST

void
unit_tests(TCase *tests)
{
	tcase_add_checked_fixture(tests, begin, end);
	tcase_add_test(tests, passes_all);
	tcase_add_test(tests, completes_late);
	tcase_add_loop_test(tests, judges_statuses, 0, COUNT(ends));
	tcase_add_test(tests, waits_for_no_leftover);
	tcase_add_test(tests, leaves_out_optional_ones);
	tcase_add_test(tests, needs_others);
	tcase_add_test(tests, keeps_what_it_takes);
	tcase_add_test(tests, keeps_within_the_total);
	tcase_add_test(tests, counts_what_it_keeps);
	tcase_add_test(tests, pours_what_it_does_not_keep);
	tcase_add_test(tests, pours_no_more_than_is_taken);
	tcase_add_loop_test(tests, pours_behind_what_is_kept, 0, 2);
	tcase_add_test(tests, keeps_to_the_length);
	tcase_add_test(tests, breaks_with_the_program);
	tcase_add_test(tests, ends_one_that_writes_for_ever);
	tcase_add_test(tests, fails_at_the_start);
}
