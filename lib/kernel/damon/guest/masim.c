// SPDX-License-Identifier: GPL-2.0-only
/*
 * Plays a program in masim's configuration language, as `lorelab.damon.masim` has parsed it, and
 * says what it really did. In a phase it draws an access pattern by weight, makes 131,072
 * accesses with it, looks at the clock, and so on, as masim does.
 *
 * Standard input, numbers only:
 *	flush_us seed there
 *	regions, then the bytes of each
 *	phases, then for each: its milliseconds, its patterns, then for each pattern:
 *		region, random (0 or 1), stride, weight
 *
 * With there=1 the memory that it is going to access is there from the start; with 0 it comes with
 * the first accesses, as masim's does, for which an emulator takes as long as for a phase or two;
 * with 2 it comes so, too, and what waits for an LRU list as playing begins goes there first.
 *
 * Standard output: `region NUMBER ADDRESS BYTES` for each; `own NAME ADDRESS BYTES` for what
 * playing touches besides, which DAMON sees too: code all the time, stack and data (the patterns)
 * with each draw, log (an entry of 16 bytes) as the pattern changes, and rseq, where the kernel
 * writes with each switch to the process, as libc asks it to; then `ready`. On SIGUSR1 it begins.
 * When it is done, `at NANOSECONDS PATTERN` for each time that another pattern than before began,
 * patterns counted over all phases, and `end NANOSECONDS DRAWS`, on CLOCK_MONOTONIC. Then it waits
 * to be killed.
 *
 * The last pages that came to be there wait in a batch of 31 until they go on an LRU list together
 * (folio_add_lru(), mm/swap.c), and DAMON does not see a page that is on none (damon_get_folio(),
 * mm/damon/ops-common.c). On this CPU that would be for all of the time: its code, read from the
 * file as playing begins, and the end of its memory. With there=1 it touches code and log, too, and
 * a munmap() sends all of them to the list before `ready`. With there=2 the munmap() comes first of
 * all in playing, so that what waits is the end of what comes then.
 *
 * With flush_us a second process wakes up that often on the same CPU, so that the switch to it
 * and back flushes the TLB as another program's turn would. It wakes up at multiples of flush_us:
 * a sleep of that length each time would begin when it gets the CPU, up to a tick late.
 */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/rseq.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define ACCESSES 131072
#define NS_PER_S 1000000000ull
#define PAGE 4096
#define CHANGES 16384
/* All that runs while it plays is in one page, and calls nothing. */
#define PLAY __attribute__((section("playing"), aligned(PAGE), noinline))
#define INLINE static inline __attribute__((always_inline))

struct pattern {
	unsigned long region, random, stride, weight;
	size_t offset, size;
	char *start;
};

struct phase {
	unsigned long ms, first, end, weights;
};

struct change {
	uint64_t at, pattern;
};

extern char __start_playing[], __stop_playing[];
static struct change changes[CHANGES] __attribute__((aligned(PAGE)));

/* By system call: the vDSO and libc would be two more pages. */
INLINE uint64_t now(void)
{
	struct timespec t;
	long result;

	asm volatile("syscall"
		     : "=a"(result)
		     : "a"(SYS_clock_gettime), "D"(CLOCK_MONOTONIC), "S"(&t)
		     : "rcx", "r11", "memory");
	return t.tv_sec * NS_PER_S + t.tv_nsec;
}

/* xorshift64 (Marsaglia, 2003) */
INLINE uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

static unsigned long number(void)
{
	unsigned long n;

	if (scanf("%lu", &n) != 1) {
		fprintf(stderr, "masim: takes numbers on its standard input\n");
		exit(2);
	}
	return n;
}

static void *allocate(size_t size)
{
	void *p = calloc(size, 1);

	if (!p) {
		perror("masim");
		exit(1);
	}
	return p;
}

static void interrupt_every(unsigned long us)
{
	uint64_t at;

	if (fork())
		return;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (at = now();; at += us * 1000) {
		struct timespec t = { at / NS_PER_S, at % NS_PER_S };

		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
	}
}

/* A page that nobody needs, for drain_batches(). */
static void *map_spare(void)
{
	void *page = mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (page == MAP_FAILED) {
		perror("masim");
		exit(1);
	}
	return page;
}

/* vms_clear_ptes() (mm/vma.c), below munmap(), does lru_add_drain(). */
INLINE void drain_batches(void *spare)
{
	long result;

	asm volatile("syscall"
		     : "=a"(result)
		     : "a"(SYS_munmap), "D"(spare), "S"(PAGE)
		     : "rcx", "r11", "memory");
}

INLINE void access_memory(volatile char *region, size_t size, struct pattern *p, uint64_t *state)
{
	/* The compiler can't know that the stores leave it alone. */
	const size_t stride = p->stride;
	size_t offset = p->offset;

	if (p->random) {
		for (int i = 0; i < ACCESSES; i++)
			region[(next_random(state) >> 32) * size >> 32] = 1;
		return;
	}
	for (int i = 0; i < ACCESSES; i++) {
		region[offset] = 1;
		offset += stride;
		if (offset >= size)
			offset = 0;
	}
	p->offset = offset;
}

INLINE struct pattern *draw(struct pattern *patterns, struct phase *phase, uint64_t *state)
{
	struct pattern *p = patterns + phase->first;
	unsigned long n;

	if (phase->end - phase->first == 1)
		return p;
	n = next_random(state) % phase->weights;
	while (n >= p->weight) {
		n -= p->weight;
		p++;
	}
	return p;
}

static void tell(unsigned long nr_changes)
{
	for (unsigned long i = 0; i < nr_changes; i++)
		printf("at %lu %lu\n", changes[i].at, changes[i].pattern);
}

static void own(const char *name, void *start, void *end)
{
	printf("own %s %lu %zu\n", name, (unsigned long)start, (size_t)((char *)end - (char *)start));
}

static PLAY void play(struct phase *phases, unsigned long nr_phases, struct pattern *patterns,
		      uint64_t state, void *spare)
{
	unsigned long nr_changes = 0, draws = 0;
	struct pattern *last = NULL;
	char *stack_pointer;
	sigset_t begin;
	uint64_t end;
	int signal;

	asm volatile("mov %%rsp, %0" : "=r"(stack_pointer));
	own("stack", stack_pointer, __builtin_frame_address(0));
	printf("ready\n");
	fflush(stdout);
	sigemptyset(&begin);
	sigaddset(&begin, SIGUSR1);
	sigwait(&begin, &signal);

	if (spare)
		drain_batches(spare);
	end = now();
	for (unsigned long i = 0; i < nr_phases; i++) {
		uint64_t at = end;

		end += phases[i].ms * 1000000ull;
		while (at < end) {
			struct pattern *p = draw(patterns, &phases[i], &state);

			draws++;
			if (p != last) {
				if (nr_changes == CHANGES) {
					tell(nr_changes);
					nr_changes = 0;
				}
				changes[nr_changes++] = (struct change){ at, p - patterns };
			}
			last = p;
			access_memory(p->start, p->size, p, &state);
			at = now();
		}
		/* A phase ends when its last accesses are done, and the next one begins then. */
		end = at;
	}
	tell(nr_changes);
	printf("end %lu %lu\n", end, draws);
	fflush(stdout);
}

int main(void)
{
	unsigned long flush_us, there, nr_regions, nr_phases, nr_patterns = 0;
	struct pattern *patterns = NULL;
	struct phase *phases;
	size_t *sizes;
	char **regions;
	char *rseq = (char *)__builtin_thread_pointer() + __rseq_offset;
	uint64_t state;
	sigset_t begin;

	sigemptyset(&begin);
	sigaddset(&begin, SIGUSR1);
	sigprocmask(SIG_BLOCK, &begin, NULL);

	flush_us = number();
	state = number() * 2654435761u + 1;
	there = number();
	nr_regions = number();
	sizes = allocate(nr_regions * sizeof(*sizes));
	regions = allocate(nr_regions * sizeof(*regions));
	for (unsigned long i = 0; i < nr_regions; i++)
		sizes[i] = number();
	nr_phases = number();
	phases = allocate(nr_phases * sizeof(*phases));
	for (unsigned long i = 0; i < nr_phases; i++) {
		phases[i].ms = number();
		phases[i].first = nr_patterns;
		nr_patterns += number();
		phases[i].end = nr_patterns;
		patterns = realloc(patterns, nr_patterns * sizeof(*patterns));
		if (!patterns) {
			perror("masim");
			return 1;
		}
		for (unsigned long k = phases[i].first; k < nr_patterns; k++) {
			patterns[k].region = number();
			patterns[k].random = number();
			patterns[k].stride = number();
			patterns[k].weight = number();
			patterns[k].offset = 0;
			phases[i].weights += patterns[k].weight;
		}
	}
	if (flush_us)
		interrupt_every(flush_us);
	for (unsigned long i = 0; i < nr_regions; i++) {
		regions[i] = allocate(sizes[i]);
		printf("region %lu %lu %zu\n", i, (unsigned long)regions[i], sizes[i]);
	}
	for (unsigned long k = 0; k < nr_patterns; k++) {
		patterns[k].size = sizes[patterns[k].region];
		patterns[k].start = regions[patterns[k].region];
		for (size_t at = 0; there == 1 && at < patterns[k].size; at += PAGE)
			*(volatile char *)(patterns[k].start + at) = 1;
		if (there == 1)
			patterns[k].start[patterns[k].size - 1] = 1;
	}
	if (there == 1) {
		(void)*(volatile char *)__start_playing;
		for (size_t i = 0; i < CHANGES; i += PAGE / sizeof(*changes))
			*(volatile uint64_t *)&changes[i].at = 0;
		drain_batches(map_spare());
	}
	own("code", __start_playing, __stop_playing);
	own("data", patterns, patterns + nr_patterns);
	own("log", changes, changes + CHANGES);
	own("rseq", rseq, rseq + __rseq_size);
	play(phases, nr_phases, patterns, state, there == 2 ? map_spare() : NULL);
	pause();
	return 0;
}
