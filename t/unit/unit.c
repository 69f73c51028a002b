/*
 * unit: main() of every unit test program; speaks TAP on standard output.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

#include "t/unit/unit.h"

const char *
unit_show(const void *bytes, unsigned long len)
{
	static char	 ring[4][400];
	static unsigned	 turn;
	const unsigned char *p = bytes;
	char		*out = ring[turn++ % 4];
	size_t		 n = 0;

	for (unsigned long i = 0; i < len && n < sizeof(ring[0]) - 5; i++) {
		if (isprint(p[i]) && p[i] != '\\')
			out[n++] = (char)p[i];
		else
			n += (size_t)snprintf(out + n, 5, "\\x%02x", p[i]);
	}
	out[n] = '\0';
	return out;
}

int
main(void)
{
	Suite	*suite = suite_create("unit");
	TCase	*tests = tcase_create("unit");
	SRunner	*runner;

	tcase_set_timeout(tests, 60);
	unit_tests(tests);
	suite_add_tcase(suite, tests);
	runner = srunner_create(suite);
	srunner_set_tap(runner, "-");
	srunner_run_all(runner, CK_SILENT);
	srunner_free(runner);
	return EXIT_SUCCESS;	/* the verdict is in the TAP */
}
