/*
 * stage: a filter that takes a second and changes nothing, to be linked
 * statically: what its start costs is the system's.
 */
#include <unistd.h>

int
main(void)
{
	char	bytes[4096];
	ssize_t	n;

	(void)sleep(1);
	while ((n = read(0, bytes, sizeof(bytes))) > 0)
		if (write(1, bytes, (size_t)n) != n)
			return 1;
	return n == 0 ? 0 : 1;
}
