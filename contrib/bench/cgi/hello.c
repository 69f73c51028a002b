/*
 * hello: the least program of CGI/1.1, to be linked statically.  Nothing is
 * read, nothing is prepared: what an answer of it costs is the system's and the
 * server's.
 */
#include <unistd.h>

static const char answer[] = "Content-Type: text/plain\n\nhello\n";

int
main(void)
{
	return write(1, answer, sizeof(answer) - 1) == sizeof(answer) - 1 ?
	    0 : 1;
}
