/* Control of the driver without a GPU, for nvidiatest.go and sparse.c. */

#include <stddef.h>
#include <stdint.h>

/* mock_params gives the number of parameters of a kernel, mock_launch runs it on the
 * memory as it is now and gives a result of the driver. */
typedef int (*mock_params)(const char *kernel);
typedef int (*mock_launch)(const char *kernel, const char *text, unsigned grid, unsigned block, uint64_t *params, int count);

void mock_attach(mock_params p, mock_launch l);

/* mock_reset starts anew, with so many GPUs of so many bytes, some of them taken by others. */
void mock_reset(int count, size_t bytes, size_t taken, int pools, int peers);

/* mock_fail makes the nth call from now on of an entry point fail; 0 none. */
void mock_fail(const char *name, int nth, int code);

/* mock_calls gives the calls of the i-th entry point since then, -1 behind the last. */
int mock_calls(int i, const char **name);

/* mock_live counts what was made and not released: memory, streams, events, modules
 * and descriptors, pinned ranges; then what contexts took along when they were
 * released; then the users of each context. */
long mock_live(int kind);

/* mock_range finds the allocation that an address lies in. */
int mock_range(uint64_t addr, uint64_t *base, uint64_t *size);

/* For sparse.c: whether there is such a stream; do all work that waits; count a call; count a descriptor; lose the GPU. */
int mock_stream(const void *s);
int mock_drain_all(void);
int mock_enter(const char *name);
void mock_leave(void);
void mock_count(int n);
void mock_lose(int code);
