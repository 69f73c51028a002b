/*
 * fuzz: main() of the fuzz targets when no fuzzer drives them: feeds each file
 * named on the command line to the target once, as a test in TAP.  What a
 * target finds wrong ends the program.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int	LLVMFuzzerTestOneInput(const uint8_t *, size_t);

/* In memory of just its size, so that reading past its end is found. */
static uint8_t *
read_whole(const char *name, size_t *size)
{
	FILE	*file = fopen(name, "rb");
	long	 end;
	uint8_t	*data;

	if (file == NULL || fseek(file, 0, SEEK_END) == -1 ||
	    (end = ftell(file)) == -1) {
		perror(name);
		exit(EXIT_FAILURE);
	}
	rewind(file);
	*size = (size_t)end;
	data = malloc(*size > 0 ? *size : 1);
	if (data == NULL || fread(data, 1, *size, file) != *size) {
		perror(name);
		exit(EXIT_FAILURE);
	}
	fclose(file);
	return data;
}

int
main(int argc, char **argv)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	printf("1..%d\n", argc - 1);
	for (int i = 1; i < argc; i++) {
		size_t	 size;
		uint8_t	*data = read_whole(argv[i], &size);

		LLVMFuzzerTestOneInput(data, size);
		free(data);
		printf("ok %d - %s\n", i, argv[i]);
	}
	return EXIT_SUCCESS;
}
