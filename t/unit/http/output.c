/*
 * Tests of the output queue.
 */
#include <sys/uio.h>

#include <stdlib.h>
#include <string.h>

#include "http/output.h"
#include "lib/mem.h"
#include "t/unit/unit.h"

static struct output	o;
static int		released;

static void
count_release(void *owner, void *what)
{
	ck_assert_ptr_eq(owner, &o);
	ck_assert_ptr_eq(what, &released);
	released++;
}

static void
borrowed_piece(const char *text)
{
	struct piece	p = { .at = text, .len = strlen(text),
			    .release = count_release, .owner = &o,
			    .object = &released };

	output_add(&o, &p);
}

static void
copied_piece(const char *text)
{
	struct piece	p = output_copy(&o, text, strlen(text));

	output_add(&o, &p);
}

/* The queue as one text. */
static const char *
content_is(const struct output *q, size_t most)
{
	static char	text[1000];
	struct iovec	iov[OUTPUT_PIECES];
	bool		file;
	int		n = output_gather(q, iov, OUTPUT_PIECES, most, &file);

	text[0] = '\0';
	for (int i = 0; i < n; i++)
		strncat(text, iov[i].iov_base, iov[i].iov_len);
	return text;
}

static void
init_output(void)
{
	memset(&o, 0, sizeof(o));
	output_init(&o);
	released = 0;
}

START_TEST(goes_in_parts)
{
	borrowed_piece("abc");
	copied_piece("def");
	borrowed_piece("ghi");
	ck_assert_uint_eq(o.bytes, 9);
	ck_assert_str_eq(content_is(&o, 100), "abcdefghi");
	ck_assert_str_eq(content_is(&o, 4), "abcd");
	output_advance(&o, 2);
	ck_assert_int_eq(released, 0);
	ck_assert_str_eq(content_is(&o, 100), "cdefghi");
	output_advance(&o, 1);
	ck_assert_int_eq(released, 1);
	output_advance(&o, 4);
	ck_assert_str_eq(content_is(&o, 100), "hi");
	output_advance(&o, 2);
	ck_assert_int_eq(released, 2);
	ck_assert_uint_eq(o.n, 0);
	ck_assert_uint_eq(o.scratch_used, 0);
}
END_TEST

static void
file_piece(int file, off_t offset, size_t len)
{
	struct piece	p = { .len = len, .file = file, .offset = offset,
			    .release = count_release, .owner = &o,
			    .object = &released };

	output_add(&o, &p);
}

/* Pieces that continue a file are joined; pieces of memory end a range. */
START_TEST(files)
{
	struct iovec	iov[OUTPUT_PIECES];
	struct piece	all;
	bool		file;

	borrowed_piece("abc");
	file_piece(5, 100, 10);
	file_piece(5, 110, 20);
	file_piece(5, 140, 30);
	file_piece(6, 170, 40);
	ck_assert_int_eq(output_gather(&o, iov, OUTPUT_PIECES, 3, &file), 1);
	ck_assert(!file);
	ck_assert_int_eq(output_gather(&o, iov, OUTPUT_PIECES, 4, &file), 1);
	ck_assert(file);
	output_advance(&o, 3);
	all = output_file(&o, 1000);
	ck_assert_int_eq(all.file, 5);
	ck_assert_int_eq(all.offset, 100);
	ck_assert_uint_eq(all.len, 30);
	all = output_file(&o, 29);
	ck_assert_uint_eq(all.len, 29);
	output_advance(&o, 15);
	ck_assert_int_eq(released, 2);
	all = output_file(&o, 1000);
	ck_assert_int_eq(all.offset, 115);
	ck_assert_uint_eq(all.len, 15);
	output_advance(&o, 15);
	all = output_file(&o, 1000);
	ck_assert_uint_eq(all.len, 30);
	output_advance(&o, 30);
	all = output_file(&o, 1000);
	ck_assert_int_eq(all.file, 6);
	output_drop(&o);
	ck_assert_int_eq(released, 5);
}
END_TEST

START_TEST(taken_back)
{
	borrowed_piece("abc");
	borrowed_piece("de");
	file_piece(5, 0, 4);
	ck_assert_uint_eq(output_unsend(&o, 3), 0);
	ck_assert_uint_eq(output_unsend(&o, 7), 6);
	ck_assert_int_eq(released, 2);
	ck_assert_uint_eq(o.bytes, 3);
	ck_assert_str_eq(content_is(&o, 100), "abc");
	ck_assert_uint_eq(output_unsend(&o, SIZE_MAX), 3);
	ck_assert_uint_eq(o.n, 0);
}
END_TEST

/* A write continues the last piece, but not a piece of another owner, nor
 * beyond scratch. */
START_TEST(written)
{
	static char	much[OUTPUT_SCRATCH];

	output_write(&o, "abc", 3);
	output_write(&o, "de", 2);
	ck_assert_uint_eq(o.n, 1);
	borrowed_piece("f");
	output_write(&o, "g", 1);
	ck_assert_uint_eq(o.n, 3);
	ck_assert_uint_eq(o.bytes, 7);
	ck_assert_uint_eq(output_scratch_left(&o), OUTPUT_SCRATCH - 6);
	ck_assert_str_eq(content_is(&o, 100), "abcdefg");
	output_advance(&o, 6);
	output_write(&o, "h", 1);
	ck_assert_str_eq(content_is(&o, 100), "gh");
	output_write(&o, much, sizeof(much));
	ck_assert_uint_eq(o.n, 2);
	ck_assert_ptr_nonnull(o.pieces[o.first + 1].release);
	output_write(&o, "i", 1);
	ck_assert_uint_eq(o.n, 3);
	output_drop(&o);
	ck_assert_uint_eq(output_scratch_left(&o), OUTPUT_SCRATCH);
	ck_assert_int_eq(released, 1);
}
END_TEST

START_TEST(kept)
{
	struct output	*own;

	borrowed_piece("abc");
	copied_piece("def");
	output_advance(&o, 1);
	own = output_keep(&o);
	ck_assert_uint_eq(own->scratch_size, strlen("def"));
	ck_assert_uint_eq(o.n, 0);
	ck_assert_int_eq(released, 0);
	memset(o.scratch, '!', sizeof(o.scratch));	/* the next output's */
	ck_assert_str_eq(content_is(own, 100), "bcdef");
	output_advance(own, 5);
	ck_assert_int_eq(released, 1);
	output_free(own);
}
END_TEST

START_TEST(too_large_for_scratch)
{
	char		*text = mem_get(OUTPUT_SCRATCH + 1);
	struct piece	 p;

	memset(text, 'x', OUTPUT_SCRATCH + 1);
	p = output_copy(&o, text, OUTPUT_SCRATCH + 1);
	ck_assert_ptr_nonnull(p.release);
	output_add(&o, &p);
	free(text);
	ck_assert_int_eq(o.pieces[0].at[OUTPUT_SCRATCH], 'x');
	output_drop(&o);
	ck_assert_uint_eq(o.bytes, 0);
}
END_TEST

START_TEST(room)
{
	for (int i = 0; i < OUTPUT_PIECES; i++) {
		ck_assert(output_has_room(&o, 1));
		borrowed_piece("x");
	}
	ck_assert(!output_has_room(&o, 1));
	output_advance(&o, OUTPUT_PIECES - 1);
	output_drop(&o);
	ck_assert_int_eq(released, OUTPUT_PIECES);
	ck_assert(output_has_room(&o, OUTPUT_PIECES));
}
END_TEST

void
unit_tests(TCase *tests)
{
	tcase_add_checked_fixture(tests, init_output, NULL);
	tcase_add_test(tests, goes_in_parts);
	tcase_add_test(tests, files);
	tcase_add_test(tests, taken_back);
	tcase_add_test(tests, written);
	tcase_add_test(tests, kept);
	tcase_add_test(tests, too_large_for_scratch);
	tcase_add_test(tests, room);
}
