/*
 * compiler: attributes of functions that few requests call, and sanitizers.
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

/* For a function whose callers pass constants that leave most of it out. */
#define ALWAYS_INLINE	inline __attribute__((__always_inline__))

/* Whether this build has a sanitizer, of addresses or of threads: gcc defines a
 * macro, clang has a feature. */
#ifndef __has_feature
#define __has_feature(feature)	0
#endif
#if defined(__SANITIZE_ADDRESS__) || __has_feature(address_sanitizer)
#define COMPILER_ASAN	true
#else
#define COMPILER_ASAN	false
#endif
#if defined(__SANITIZE_THREAD__) || __has_feature(thread_sanitizer)
#define COMPILER_TSAN	true
#else
#define COMPILER_TSAN	false
#endif

#endif
