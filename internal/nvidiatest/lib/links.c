/* The links between the GPUs, and pairs of GPUs whose direct access loses data although all calls succeed, as behind an
 * active IOMMU. cuda.c calls these functions with its lock held. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "links.h"
#include "standin.h"

static struct link links[max_gpus][max_gpus];
static int lies[max_gpus][max_gpus]; /* [from][to] */

/* Bytes of an allocation that a pair with old data has seen, or zeros where data is lost. */
static struct old {
	struct old *next;
	const char *base;
	size_t size;
	char *bytes;
} *olds;

const struct link *links_between(int from, int to) { return &links[from][to]; }

static void set_link(int a, int b, struct link l) { links[a][b] = links[b][a] = l; }

/* NVLinks between the GPUs of a DGX-1 with V100. */
static const int dgx1v[8][8] = {
	{0, 1, 1, 2, 2, 0, 0, 0}, {1, 0, 2, 1, 0, 2, 0, 0}, {1, 2, 0, 2, 0, 0, 1, 0}, {2, 1, 2, 0, 0, 0, 0, 1},
	{2, 0, 0, 0, 0, 1, 1, 2}, {0, 2, 0, 0, 1, 0, 2, 1}, {0, 0, 1, 0, 1, 2, 0, 2}, {0, 0, 0, 1, 2, 1, 2, 0},
};

/* The machines: "none" without access between GPUs; "pcie" with access and no NVLink; "nvswitch" with NVLink between all;
 * "summit" with NVLink within each three GPUs; "dgx1v", in which NVLinks have one rank; "dgx1v-ranks", in which two
 * links rank before one. */
int mock_machine(const char *name) {
	static const struct link none = {0, 0, 0}, pcie = {1, 1, 0}, nvlink = {1, 0, 1};
	int known = 1;
	for (int a = 0; a < max_gpus; a++) {
		for (int b = 0; b < max_gpus; b++) {
			struct link l = none;
			if (!strcmp(name, "pcie")) {
				l = pcie;
			} else if (!strcmp(name, "nvswitch")) {
				l = nvlink;
			} else if (!strcmp(name, "summit")) {
				l = a / 3 == b / 3 ? nvlink : none;
			} else if (!strncmp(name, "dgx1v", 5)) {
				int n = a < 8 && b < 8 ? dgx1v[a][b] : 0;
				l = n ? nvlink : a / 4 == b / 4 ? pcie : none;
				l.rank = !strcmp(name, "dgx1v-ranks") ? 2 - n : l.rank;
			} else {
				known = !strcmp(name, "none");
			}
			set_link(a, b, a == b ? none : l);
		}
	}
	return known;
}

void mock_lie(int from, int to, int how) { lies[from][to] = how; }

void links_reset(int peers) {
	while (olds) {
		links_forget(olds->base, 1);
	}
	memset(lies, 0, sizeof lies);
	mock_machine(peers ? "nvswitch" : "none");
}

__attribute__((constructor)) static void start(void) {
	const char *name = getenv("MSREP_STANDIN_MACHINE");
	links_reset(1);
	if (name) {
		mock_machine(name);
	}
	const char *text = getenv("MSREP_STANDIN_LIES"); /* FROM>TO:HOW, separated by commas */
	for (int from, to, how, n; text && sscanf(text, "%d>%d:%d%n", &from, &to, &how, &n) == 3; text += n + (text[n] == ',')) {
		if (from >= 0 && from < max_gpus && to >= 0 && to < max_gpus) {
			lies[from][to] = how;
		}
	}
}

/* old returns the kept bytes of the allocation that contains p. The first call keeps those of now, or zeros. */
static struct old *old(const char *base, size_t size, int zeros) {
	struct old *o = olds;
	while (o && !(base >= o->base && base + size <= o->base + o->size)) {
		o = o->next;
	}
	if (!o) {
		o = calloc(1, sizeof *o);
		*o = (struct old){olds, base, size, calloc(1, size)};
		olds = o;
		if (!zeros) {
			memcpy(o->bytes, base, size);
		}
	}
	return o;
}

void links_forget(const char *base, size_t size) {
	for (struct old **p = &olds; *p;) {
		struct old *o = *p;
		if (o->base < base || o->base >= base + size) {
			p = &o->next;
			continue;
		}
		*p = o->next;
		free(o->bytes);
		free(o);
	}
}

int links_lie(int from, int to, int way, int pooled) {
	int how = lies[from][to];
	return how & way && (pooled || !(how & lie_pool)) ? how : 0;
}

void links_copy(char *dst, const char *src, size_t n, int lie) {
	if (!lie) {
		memmove(dst, src, n);
	} else if (lie & lie_stale) {
		struct old *o = old(src, n, 0);
		memcpy(dst, o->bytes + (src - o->base), n);
	}
}

void *links_read(int from, int to, char *base, size_t n, int pooled) {
	if (from == to || !links_lie(from, to, lie_read, pooled)) {
		return base;
	}
	return old(base, n, !(lies[from][to] & lie_stale))->bytes;
}
