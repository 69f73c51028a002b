/*
 * Fuzz target of conf: any text gives a conf or an error, and a dump reads as
 * the same conf.
 */
#include <stdlib.h>
#include <string.h>

#include "conf/conf.h"
#include "lib/need.h"

int	LLVMFuzzerTestOneInput(const uint8_t *, size_t);

static char *
print_conf(const struct conf *conf)
{
	char	*text = NULL;
	size_t	 len;
	FILE	*f = open_memstream(&text, &len);

	need(f != NULL);
	conf_dump(conf, f);
	fclose(f);
	return text;
}

/* Reads a dump, and dumps it again, under the same name. */
static char *
print_again(const char *text)
{
	struct buf	 errors = { 0 };
	struct conf	*conf = conf_read_text("f", text, &errors);
	char		*out;

	need(conf != NULL && errors.len == 0);
	out = print_conf(conf);
	conf_free(&conf);
	return out;
}

static size_t
count_lines(const char *text)
{
	size_t	n = 0;

	for (; (text = strchr(text, '\n')) != NULL; text++)
		n++;
	return n;
}

/* The second dump names the lines of the first, so the third must equal the
 * second. */
static void
check_dump(const struct conf *conf)
{
	char	*first = print_conf(conf), *second = print_again(first);
	char	*third = print_again(second);

	need(count_lines(first) == count_lines(second));
	need(strcmp(second, third) == 0);
	free(first);
	free(second);
	free(third);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct buf	 errors = { 0 };
	char		*text = malloc(size + 1);
	struct conf	*conf;

	need(text != NULL);
	memcpy(text, data, size);
	text[size] = '\0';
	/* A fuzzer must not include any file. */
	if (strstr(text, "include") == NULL) {
		conf = conf_read_text("f", text, &errors);
		need((conf == NULL) == (errors.len > 0));
		if (conf != NULL)
			check_dump(conf);
		conf_free(&conf);
	}
	buf_free(&errors);
	free(text);
	return 0;
}
