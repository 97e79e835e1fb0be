/* The control functions of the library in lib, found with dlsym. */

#include <stddef.h>
#include <stdint.h>

int nvidiatest_attach(char *path, int hide); /* 0 if path is the library, which it loads */
void nvidiatest_reset(int gpus, size_t bytes, size_t taken, int pools, int peers);
void nvidiatest_gpu(int gpu, size_t bytes, int compute, int refuses, double rate);
void nvidiatest_open_time(int ms);
void nvidiatest_lose(int gpu, int code);
void nvidiatest_fail(char *name, int nth, int code);
int nvidiatest_calls(int i, char **name);
long nvidiatest_live(int kind);
int nvidiatest_machine(char *name); /* 0 if there is none of that name */
void nvidiatest_lie(int from, int to, int how);
void *nvidiatest_range(uint64_t addr, uint64_t *base, uint64_t *size); /* the bytes of the allocation that contains an address, or 0 */
