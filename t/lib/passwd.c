/*
 * passwd: a user database for a server under test; preloaded before the C
 * library.
 *
 * A line of the file that AMPED_TEST_PASSWD names has a name, a uid, a home and
 * maybe a FIFO.  The look-up of a user with a FIFO waits until a writer has
 * opened and closed it.  Names match in any case, as in some databases.  Each
 * look-up writes AMPED_TEST_COMPLAINTS lines to standard error, as some
 * libraries do.
 */
#include <fcntl.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

static void
wait_for_fifo(const char *fifo)
{
	char	byte;
	int	fd = open(fifo, O_RDONLY | O_CLOEXEC);

	while (read(fd, &byte, 1) == 1)
		continue;
	close(fd);
}

static void
write_complaints(void)
{
	const char	*n = getenv("AMPED_TEST_COMPLAINTS");

	for (int i = n != NULL ? atoi(n) : 0; i > 0; i--)
		fprintf(stderr, "%01000d\n", i);
}

int
getpwnam_r(const char *name, struct passwd *user, char *entry, size_t size,
    struct passwd **found)
{
	char		 line[1000], is[100], home[400], fifo[400];
	unsigned	 uid;
	FILE		*file = fopen(getenv("AMPED_TEST_PASSWD"), "re");

	*found = NULL;
	write_complaints();
	while (file != NULL && fgets(line, sizeof(line), file) != NULL) {
		fifo[0] = '\0';
		if (sscanf(line, "%99s %u %399s %399s", is, &uid, home,
		    fifo) < 3 || strcasecmp(is, name) != 0)
			continue;
		if (fifo[0] != '\0')
			wait_for_fifo(fifo);
		snprintf(entry, size, "%s%c%s", home, 0, is);
		*user = (struct passwd){ .pw_uid = uid, .pw_dir = entry,
		    .pw_name = entry + strlen(home) + 1 };
		*found = user;
	}
	if (file != NULL)
		fclose(file);
	return 0;
}
