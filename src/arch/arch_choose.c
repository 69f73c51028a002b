/*
 * arch_choose: the architectures by number.
 */
#include "arch/arch.h"
#include "conf/divide.h"
#include "lib/need.h"

static const struct arch *const archs[] = {
	[ARCHITECTURE_AMPED] = &arch_amped,
	[ARCHITECTURE_SPED] = &arch_sped,
	[ARCHITECTURE_MT] = &arch_mt,
	[ARCHITECTURE_MP] = &arch_mp,
	[ARCHITECTURE_PIPELINED] = &arch_pipelined,
};

void
arch_choose(struct conf *conf, int64_t architecture)
{
	if (architecture != -1)
		conf->architecture = architecture;
	need(conf->architecture >= 0 &&
	    conf->architecture < ARCHITECTURE_COUNT);
	conf->arch = archs[conf->architecture];
	conf_workers_default(conf, conf->arch->workers);
}
