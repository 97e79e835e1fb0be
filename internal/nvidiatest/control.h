/* The control functions of the library in lib, found with dlsym. */

#include <stddef.h>
#include <stdint.h>

int nvidiatest_attach(char *path, int hide); /* 0 if path is the library and is loaded */
void nvidiatest_reset(int gpus, size_t bytes, size_t taken, int pools, int peers);
void nvidiatest_fail(char *name, int nth, int code);
int nvidiatest_calls(int i, char **name);
long nvidiatest_live(int kind);
void *nvidiatest_range(uint64_t addr, uint64_t *size); /* the allocation that contains an address, or 0 */
