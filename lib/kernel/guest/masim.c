// SPDX-License-Identifier: GPL-2.0-only
/*
 * Plays a program in masim's configuration language, as `lorelab.damon.masim` has parsed it, and
 * says what it really did. In a phase it draws an access pattern by weight, makes 131,072
 * accesses with it, looks at the clock, and so on, as masim does.
 *
 * Standard input, numbers only:
 *	flush_us seed
 *	regions, then the bytes of each
 *	phases, then for each: its milliseconds, its patterns, then for each pattern:
 *		region, random (0 or 1), stride, weight
 *
 * Its memory is faulted in by the first accesses, as masim's is.
 *
 * Standard output: `region NUMBER ADDRESS BYTES` for each, then `ready`; on SIGUSR1 it begins.
 * Then `at NANOSECONDS PATTERN` whenever another pattern than before begins, patterns counted
 * over all phases, and `end NANOSECONDS`, on CLOCK_MONOTONIC. Then it waits to be killed.
 *
 * With flush_us a second process wakes up that often on the same CPU, so that the switch to it
 * and back flushes the TLB as another program's turn would.
 */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#define ACCESSES 131072
#define NS_PER_S 1000000000ull

struct pattern {
	unsigned long region, random, stride, weight;
	size_t offset;
};

struct phase {
	unsigned long ms, first, end, weights;
};

static uint64_t state;

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * NS_PER_S + t.tv_nsec;
}

/* xorshift64 (Marsaglia, 2003) */
static uint64_t next_random(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
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
	struct timespec t = { us / 1000000, us % 1000000 * 1000 };

	if (fork())
		return;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (1)
		nanosleep(&t, NULL);
}

static void access_memory(volatile char *region, size_t size, struct pattern *p)
{
	size_t offset = p->offset;

	if (p->random) {
		for (int i = 0; i < ACCESSES; i++)
			region[(next_random() >> 32) * size >> 32] = 1;
		return;
	}
	for (int i = 0; i < ACCESSES; i++) {
		region[offset] = 1;
		offset += p->stride;
		if (offset >= size)
			offset = 0;
	}
	p->offset = offset;
}

static struct pattern *draw(struct pattern *patterns, struct phase *phase)
{
	struct pattern *p = patterns + phase->first;
	unsigned long n;

	if (phase->end - phase->first == 1)
		return p;
	n = next_random() % phase->weights;
	while (n >= p->weight) {
		n -= p->weight;
		p++;
	}
	return p;
}

int main(void)
{
	unsigned long flush_us, nr_regions, nr_phases, nr_patterns = 0;
	struct pattern *patterns = NULL, *last = NULL;
	struct phase *phases;
	size_t *sizes;
	char **regions;
	sigset_t begin;
	uint64_t end;
	int signal;

	sigemptyset(&begin);
	sigaddset(&begin, SIGUSR1);
	sigprocmask(SIG_BLOCK, &begin, NULL);

	flush_us = number();
	state = number() * 2654435761u + 1;
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
	printf("ready\n");
	fflush(stdout);
	sigwait(&begin, &signal);

	end = now();
	for (unsigned long i = 0; i < nr_phases; i++) {
		uint64_t at = end;

		end += phases[i].ms * 1000000ull;
		while (at < end) {
			struct pattern *p = draw(patterns, &phases[i]);

			if (p != last)
				printf("at %lu %zu\n", at, (size_t)(p - patterns));
			last = p;
			access_memory(regions[p->region], sizes[p->region], p);
			at = now();
		}
		/* A phase ends when its last accesses are done, and the next one begins then. */
		end = at;
	}
	printf("end %lu\n", end);
	fflush(stdout);
	pause();
	return 0;
}
