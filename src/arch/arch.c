/*
 * arch: the architectures by number.
 */
#include "arch/arch.h"
#include "lib/need.h"

static const struct arch *const archs[] = {
	[ARCHITECTURE_AMPED] = &arch_amped,
	[ARCHITECTURE_SPED] = &arch_sped,
};

const struct arch *
arch_of(const struct conf *conf)
{
	need(conf->architecture >= 0 &&
	    conf->architecture < ARCHITECTURE_COUNT);
	return archs[conf->architecture];
}
