/*
 * result: the file that a filter writes its result to: memory without a name,
 * which main gets to read, and which nobody can change once the filter has
 * ended.
 */
#ifndef PROGRAMS_RESULT_H
#define PROGRAMS_RESULT_H

/* Makes an empty file.  *writer: its descriptor to write; *reader: another one,
 * with an offset of its own, to read.  Both are the caller's.  0, or -1 with
 * errno. */
int	result_open(int *writer, int *reader);
/* Seals the file: nobody can change it any more.  0, or -1 with errno: some
 * process still may, by a mapping. */
int	result_seal(int writer);

#endif
