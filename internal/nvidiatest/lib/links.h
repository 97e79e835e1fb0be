/* The links between the GPUs of the stand-in, for cuda.c. */

#include <stddef.h>

enum { max_gpus = 16 };

/* link states how a GPU reaches another. rank is the driver's performance rank: lower is faster. */
struct link { int access, rank, atomics; };

/* The ways in which direct access can be wrong: copies that the destination or the source makes, reads of kernels; only
 * of memory of the pool; old data instead of none. */
enum { lie_pull = 1, lie_push = 2, lie_read = 4, lie_pool = 8, lie_stale = 16 };

void links_reset(int peers);
const struct link *links_between(int from, int to);

/* links_lie returns the lie that a copy from one GPU to another tells, 0 for none. */
int links_lie(int from, int to, int way, int pooled);

/* links_copy copies n bytes as a lie has it. */
void links_copy(char *dst, const char *src, size_t n, int lie);

/* links_read returns the bytes that a kernel of GPU to gets for memory of GPU from. */
void *links_read(int from, int to, char *base, size_t n, int pooled);

/* links_forget drops the old data of an allocation. */
void links_forget(const char *base, size_t size);
