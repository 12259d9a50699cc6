// SPDX-License-Identifier: GPL-2.0-only
/*
 * Preloaded into a program that calls rand() but never srand(), and says nothing of CPUs.
 *
 * LORELAB_SEED		where rand() starts; without it as glibc does, from 1
 * LORELAB_MOVE_EVERY	the program starts on CPU 0 and, before each call of rand() that so many
 *			went before, or a multiple of it, moves to the next CPU; 0: it stays;
 *			without it the scheduler decides
 * LORELAB_CALLS	the program ends before the call of rand() that so many went before
 */
#define _GNU_SOURCE
#include <err.h>
#include <limits.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static unsigned long move_every, most = ULONG_MAX, calls;
static long cpu;

static void stay_on(long number)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(number, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		err(1, "CPU %ld", number);
}

__attribute__((constructor)) static void start(void)
{
	const char *value = getenv("LORELAB_SEED");

	if (value)
		srand((unsigned int)strtoul(value, NULL, 10));
	value = getenv("LORELAB_CALLS");
	if (value)
		most = strtoul(value, NULL, 10);
	value = getenv("LORELAB_MOVE_EVERY");
	if (value) {
		move_every = strtoul(value, NULL, 10);
		stay_on(0);
	}
}

/*
 * Have lru_add_drain() put what waits in this CPU's folio batches on the LRU lists: which of it would
 * wait on depends on what other tasks left there.
 */
static void drain(void)
{
	static void *page;

	if (!page)
		page = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (page == MAP_FAILED || madvise(page, 4096, MADV_COLD))
		err(1, "MADV_COLD");
}

/* In place of glibc's, which is random() too */
int rand(void)
{
	if (calls == most)
		exit(0);
	if (move_every && calls && calls % move_every == 0) {
		drain();
		cpu = (cpu + 1) % sysconf(_SC_NPROCESSORS_ONLN);
		stay_on(cpu);
	}
	calls++;
	return random();
}
