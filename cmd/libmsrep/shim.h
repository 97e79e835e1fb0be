// What the Go side needs of shim.c.

#include "msrep.h"

// keep_last_error stores the error message of the calling thread.
void keep_last_error(const char *text);

// call_progress, call_range and call_runner call functions of the caller.
int call_progress(msrep_progress f, int64_t iteration, double residual, void *arg);
void call_range(msrep_range f, int64_t lo, int64_t hi, void *arg);
void call_runner(msrep_runner run, int n, uintptr_t f);
