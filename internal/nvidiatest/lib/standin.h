/* Control of the stand-in driver, for nvidiatest.go and sparse.c. */

#include <stddef.h>
#include <stdint.h>

/* mock_params returns the number of parameters of a kernel. mock_launch runs the kernel
 * on the current memory and returns a result of the driver. */
typedef int (*mock_params)(const char *kernel);
typedef int (*mock_launch)(const char *kernel, const char *text, unsigned grid, unsigned block, unsigned shared, uint64_t *params, int count);

void mock_attach(mock_params p, mock_launch l);

/* mock_reset resets the library to count GPUs of bytes bytes each, of which other programs use taken. */
void mock_reset(int count, size_t bytes, size_t taken, int pools, int peers);

/* mock_gpu sets the memory of one GPU, 10 times its compute capability, the error of opening it, and the bytes that
 * copies on it move in a millisecond; 0 means the default. With a rate, its events count only the time of its work. */
void mock_gpu(int gpu, size_t bytes, int compute, int refuses, double rate);

/* mock_open_time sets how long it takes to open a context. */
void mock_open_time(int ms);

/* mock_lose_gpu loses the context of a GPU: its work never ends, and all its calls return code. */
void mock_lose_gpu(int gpu, int code);

/* mock_fail makes the nth call from now of an entry point fail; 0 means none. */
void mock_fail(const char *name, int nth, int code);

/* mock_calls returns the calls of the i-th entry point since mock_fail, -1 past the last. */
int mock_calls(int i, const char **name);

/* mock_live counts unreleased objects of a kind: memory, streams, events, modules and
 * descriptors, pinned ranges; then the objects that contexts freed at their release;
 * then the users of each context; -1 past the last. */
long mock_live(int kind);

/* mock_range finds the allocation that contains an address, and the bytes that the kernel
 * which runs gets for it. */
int mock_range(uint64_t addr, uint64_t *base, uint64_t *size, void **bytes);

/* mock_machine sets the links between the GPUs to those of a machine: see links.c. It returns 0 if it knows none of that name. */
int mock_machine(const char *name);

/* mock_lie makes direct access from one GPU to another wrong in the given ways; 0 makes it right. */
void mock_lie(int from, int to, int how);

/* For sparse.c: test whether a stream exists; do all delayed work; count a call; count a descriptor; lose the GPU. */
int mock_stream(const void *s);
int mock_drain_all(void);
int mock_enter(const char *name);
void mock_leave(void);
void mock_count(int n);
void mock_lose(int code);
