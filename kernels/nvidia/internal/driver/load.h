/* What load.c found out about the driver. */

/* msrep_cuda_reason says why the driver cannot be used, "" when it can. */
const char *msrep_cuda_reason(void);

/* msrep_cuda_result is what cuInit gave: 0 for success. */
int msrep_cuda_result(void);
