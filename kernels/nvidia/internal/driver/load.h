/* The state of the driver. */

/* msrep_cuda_reason returns why the driver cannot be used, or "". */
const char *msrep_cuda_reason(void);

/* msrep_cuda_start loads and starts the driver at its first call. It returns the result
 * of the driver's cuInit: 0 for success. */
int msrep_cuda_start(void);
