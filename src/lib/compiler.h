/*
 * compiler: what hardly any request comes to, or only those that cost much
 * more.
 *
 * Compilers put such functions, and the ways to them, aside: so what nearly all
 * come to stands closer together, in fewer lines of the processor's cache,
 * which the system leaves empty behind each of its calls.
 */
#ifndef LIB_COMPILER_H
#define LIB_COMPILER_H

#define COLD	__attribute__((__cold__, __noinline__))

/* What some come to, not all: out of the others' way, but not slow. */
#define NOINLINE	__attribute__((__noinline__))

#endif
