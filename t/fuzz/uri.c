/* Fuzz target of proto/uri: a path that comes out is beneath the root, and
 * stays the same when encoded and resolved again. */
#include <stdlib.h>
#include <string.h>

#include "lib/need.h"
#include "proto/uri.h"

int	LLVMFuzzerTestOneInput(const uint8_t *, size_t);

static void
check_path(const char *path, size_t len)
{
	need(len > 0 && path[0] == '/');
	need(strlen(path) == len);
	need(strstr(path, "//") == NULL);
	need(strstr(path, "/./") == NULL && strstr(path, "/../") == NULL);
	need(strstr(path + 1, "/.") == NULL);
	need(path[1] != '.' || strcmp(path, "/.well-known") == 0 ||
	    strncmp(path, "/.well-known/", 13) == 0);
	for (size_t i = 0; i < len; i++)
		need((unsigned char)path[i] >= ' ' && path[i] != 0x7f);
}

static void
check_again(const char *path, size_t len)
{
	char	*encoded = malloc(3 * len + 1), *out = malloc(len + 1);
	size_t	 n, again = 0;

	need(encoded != NULL && out != NULL);
	n = uri_encode((struct str){ path, len }, encoded);
	need(n == strlen(encoded));
	need(uri_resolve((struct str){ encoded, n }, out, len + 1, &again) ==
	    0);
	need(again == len && memcmp(out, path, len) == 0);
	free(encoded);
	free(out);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str	 raw = { (const char *)data, size };
	char		*out = malloc(size + 1);
	size_t		 len = 0;
	enum why	 why;

	need(out != NULL);
	why = uri_resolve(raw, out, size + 1, &len);
	/* With enough room, WHY_PATH_LONG is wrong. */
	need(why == WHY_NONE || why == WHY_BAD_ESCAPE ||
	     why == WHY_ABOVE_ROOT || why == WHY_HIDDEN ||
	     why == WHY_BAD_BYTE || (why == WHY_PATH_LONG && size == 0));
	if (why == WHY_NONE) {
		check_path(out, len);
		check_again(out, len);
	}
	free(out);

	/* With too little room, nothing is written beyond it. */
	out = malloc(size / 2 + 1);
	need(out != NULL);
	why = uri_resolve(raw, out, size / 2 + 1, &len);
	need(why != WHY_NONE || len <= size / 2);
	free(out);
	return 0;
}
