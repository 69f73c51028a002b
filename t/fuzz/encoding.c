/*
 * Fuzz target of Accept-Encoding and Accept-Language: the first byte says what
 * there is, the rest is the field's value.
 */
#include "http/variants/variant.h"
#include "lib/need.h"
#include "proto/accept.h"

int	LLVMFuzzerTestOneInput(const uint8_t *, size_t);

static void
check_coding(struct str accept, uint32_t offered)
{
	int			identity = accept_coding(accept,
				    STR("identity"));
	uint32_t		which = UINT32_MAX, alone;
	enum variant_choice	choice = variant_negotiate(accept, offered,
				    &which);

	need(identity >= -1 && identity <= 1000);
	switch (choice) {
	case VARIANT_USE:
		need(which < 32 && (offered & 1U << which) != 0);
		/* The choice stands when nothing else is offered. */
		need(variant_negotiate(accept, 1U << which, &alone) ==
		    VARIANT_USE && alone == which);
		break;
	case VARIANT_IDENTITY:
		need(identity != 0);
		break;
	case VARIANT_NOT_ACCEPTABLE:
		need(identity == 0);
		break;
	}
}

static void
check_language(struct str accept, uint32_t offered)
{
	const char	*tags[] = { "de", "en-GB", "en", "pt-BR" }, *alone;
	size_t		 n = sizeof(tags) / sizeof(tags[0]), found;

	for (size_t i = 0; i < n; i++)
		if ((offered & 1U << i) == 0)
			tags[i] = NULL;
	found = accept_language(accept, tags, n);
	need(found <= n);
	if (found == n)
		return;
	need(tags[found] != NULL);
	/* The choice stands when nothing else is offered. */
	alone = tags[found];
	need(accept_language(accept, &alone, 1) == 0);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct str	accept;

	if (len == 0)
		return 0;
	accept = (struct str){ (const char *)data + 1, len - 1 };
	check_coding(accept, data[0] & 15U);
	check_coding(accept, 0);
	check_language(accept, data[0] & 15U);
	return 0;
}
