/* must ends the program with one line if a call of the library has failed. */
#include <msrep.h>
#include <stdio.h>
#include <stdlib.h>

static inline void must(msrep_status status, const char *what) {
	if (status != MSREP_OK) {
		fprintf(stderr, "%s: %s (status %d)\n", what, msrep_last_error(), status);
		exit(1);
	}
}
