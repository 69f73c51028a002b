/* Fuzz target of proto/credentials: accepted text has no NUL in it and a name;
 * after a refusal the memory is wiped. */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "lib/need.h"
#include "proto/credentials.h"

int	LLVMFuzzerTestOneInput(const uint8_t *, size_t);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str		 value = { (const char *)data, size };
	struct credentials	 c;

	if (!credentials_read(value, &c)) {
		for (size_t i = 0; i < sizeof(c.bytes); i++)
			need(c.bytes[i] == '\0');
		return 0;
	}
	need(c.user.len > 0 && strlen(c.user.at) == c.user.len);
	need(strlen(c.password.at) == c.password.len);
	need(memchr(c.user.at, ':', c.user.len) == NULL);
	need(c.user.at == c.bytes && c.password.at == c.bytes + c.user.len + 1);
	need(c.user.len + c.password.len + 2 <= sizeof(c.bytes));
	return 0;
}
