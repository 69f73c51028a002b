/*
 * compiler: attributes of functions that few requests call.
 *
 * The compiler places such a function, and the branches that lead to it, away
 * from the hot path.  The hot path then fills fewer lines of the instruction
 * cache, which each system call evicts.
 */
#ifndef LIB_COMPILER_H
#define LIB_COMPILER_H

#define COLD	__attribute__((__cold__, __noinline__))

/* For a function that some requests call: out of line, but not slow. */
#define NOINLINE	__attribute__((__noinline__))

#endif
