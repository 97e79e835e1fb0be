#include "lasterror.h"

#include <string.h>

static __thread char last[1024];

void keep_last_error(const char *text) {
	strncpy(last, text, sizeof last - 1);
	last[sizeof last - 1] = 0;
}

const char *msrep_last_error(void) { return last; }
