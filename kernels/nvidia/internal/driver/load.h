/* The state of the driver. */

/* msrep_cuda_reason returns why the driver cannot be used, or "". */
const char *msrep_cuda_reason(void);

/* msrep_cuda_result returns the result of the driver's cuInit: 0 for success. */
int msrep_cuda_result(void);
