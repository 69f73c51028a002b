/* Fuzz target of proto/date: eight bytes of clock, then a text.  A text that is
 * read as a date can be printed, and is the same date again. */
#include <string.h>

#include "lib/need.h"
#include "proto/date.h"

int	LLVMFuzzerTestOneInput(const uint8_t *, size_t);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char		out[DATE_LENGTH], log[DATE_LOG_LENGTH];
	int64_t		now;
	time_t		t = 0, again = 0;
	struct str	text;

	if (size < sizeof(now))
		return 0;
	memcpy(&now, data, sizeof(now));
	text = (struct str){
		(const char *)data + sizeof(now), size - sizeof(now)
	};

	/* Any clock can be printed, and the text is a date. */
	date_format((time_t)now, out);
	date_format_log((time_t)now, log);
	need(date_parse((struct str){ out, DATE_LENGTH }, (time_t)now, &t));

	if (!date_parse(text, (time_t)now, &t))
		return 0;
	date_format(t, out);
	need(date_parse((struct str){ out, DATE_LENGTH }, (time_t)now,
	    &again));
	/* But for years that only two digits and a late clock can reach. */
	need(again == t || t > 253402300799);
	return 0;
}
