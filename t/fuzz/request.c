/*
 * Fuzz target of the request machine, which the target drives as the scripted
 * tests do (t/script/world.h): any bytes arrive in any pieces, output is taken
 * in any pieces, and the disk answers at any time.
 *
 * The first bytes of an input choose the pieces; the others are the client's.
 * Whatever they are, the client gets whole responses, the connection ends, and
 * no task is left.
 */
#include <sys/stat.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "http/http.h"
#include "lib/need.h"
#include "lib/str.h"
#include "t/layer.h"
#include "t/script/world.h"

#define LARGE		70000	/* bytes of a file */
#define ENDS_WITHIN	600000	/* ms: more than all timeouts together */
#define CHOICES		4	/* bytes before those of the client */

int	LLVMFuzzerTestOneInput(const uint8_t *, size_t);

static const char	site[] =
	"index index.html\n"
	"path /list { listing html }\n"
	"path /old { redirect 301 /new }\n"
	"path /gone { return 410 }\n"
	"path /zip { compress on }\n"
	"error 404 /missing.html\n";

static void
write_file(const char *name, size_t len)
{
	char	 path[200];
	FILE	*f;

	snprintf(path, sizeof(path), "%s/%s", world.dir, name);
	f = fopen(path, "w");
	need(f != NULL);
	for (size_t i = 0; i < len; i++)
		putc("abcdefg\n"[i % 8], f);
	need(fclose(f) == 0);
}

static void
make_dir(const char *name)
{
	char	path[200];

	snprintf(path, sizeof(path), "%s/%s", world.dir, name);
	need(mkdir(path, 0755) == 0);
}

/* One world lasts as long as the process. */
static void
begin(void)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	need(world_new("request", 0));
	make_dir("list");
	make_dir("zip");
	make_dir("dir");
	write_file("index.html", 20);
	write_file("missing.html", 40);
	write_file("empty", 0);
	write_file("large", LARGE);
	write_file("list/a&b", 10);
	write_file("zip/page.html", 3000);
	write_file("zip/page.html.gz", 300);
	buf_adds(&world.site_text, site);
}

static void
end(void)
{
	world_free();
}

static uint32_t
next_choice(uint32_t *state)
{
	*state = *state * 1664525 + 1013904223;
	return *state >> 16;
}

static void
finish_oldest(void)
{
	struct task	*e = world.tasks[0];

	job_perform(&e->job);
	world_finish(e);
}

/* Sends the next bytes, or has something else happen. */
static size_t
act(struct client *c, uint32_t *choices, const uint8_t *data, size_t len)
{
	uint32_t	what = next_choice(choices);
	size_t		n = what / 8 % 64 + 1;

	switch (what % 8) {
	case 0:
		if (world.ntasks > 0)
			finish_oldest();
		return 0;
	case 1:		/* unless its output may be late */
		if (c->takes == UNLIMITED)
			world_pass_time((int64_t)(what / 8 % 512));
		return 0;
	case 2:
		c->takes = what / 8 % 4096;
		break;
	case 3:
		c->takes = UNLIMITED;
		break;
	case 4:
		n = len;
		break;
	default:
		break;
	}
	n = n < len ? n : len;
	if (c->wait == NULL)
		return len;
	buf_add(&c->to, data, n);
	world_settle(c);
	return n;
}

/* The client sends no more and takes all: the connection ends in time. */
static void
end_connection(struct client *c)
{
	c->half = true;
	c->takes = UNLIMITED;
	for (int left = 1000; c->wait != NULL || world.ntasks > 0; left--) {
		need(left > 0);
		if (c->wait != NULL)
			world_settle(c);
		if (world.ntasks > 0)
			finish_oldest();
		else if (c->wait != NULL)
			world_pass_time(ENDS_WITHIN);
	}
}

/* The value of Content-Length in a head, or 0. */
static size_t
content_length(struct str head)
{
	static const char	name[] = "\r\nContent-Length:";
	const char		*at = memmem(head.at, head.len, name,
				    sizeof(name) - 1);

	return at == NULL ? 0 : strtoul(at + sizeof(name) - 1, NULL, 10);
}

/* Each response is whole but for the last of a connection that was reset.  A
 * response to HEAD has no body. */
static void
check_output(const struct client *c)
{
	struct str	rest = { c->from.at, c->from.len };
	const char	*end;
	size_t		 head, body;

	while (rest.len > 0) {
		need(rest.len >= 9 && (memcmp(rest.at, "HTTP/1.1 ", 9) == 0 ||
		    memcmp(rest.at, "HTTP/1.0 ", 9) == 0));
		end = memmem(rest.at, rest.len, "\r\n\r\n", 4);
		if (end == NULL) {
			need(c->reset);
			return;
		}
		head = (size_t)(end - rest.at) + 4;
		body = content_length((struct str){ rest.at, head });
		rest.at += head;
		rest.len -= head;
		if (rest.len == 0 ||
		    (rest.len >= 5 && memcmp(rest.at, "HTTP/", 5) == 0))
			continue;
		need(body <= rest.len || c->reset);
		if (body > rest.len)
			return;
		rest.at += body;
		rest.len -= body;
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	uint32_t	 choices;
	struct client	*c;

	if (len < CHOICES)
		return 0;
	if (world.file == NULL) {
		begin();
		atexit(end);
	}
	need(setjmp(world.failed) == 0);
	memcpy(&choices, data, CHOICES);
	world.sync = (choices & 1) != 0;
	world_connect("c", "192.0.2.1");
	c = world_client("c");
	for (size_t at = CHOICES; at < len && c->wait != NULL;)
		at += act(c, &choices, data + at, len - at);
	end_connection(c);
	check_output(c);
	world_disconnect(c);
	world.log.len = world.error_log.len = 0;
	return 0;
}
