// SPDX-License-Identifier: GPL-2.0-only
/*
 * Threads that start: each maps areas of its own and touches them first.
 *
 *	launch THREADS AREAS PAGES
 *
 * As `vmalock/launch` of the model has it: the creator's pthread_create() maps a stack and protects
 * its guard page; the thread maps the other areas, between pages that nobody may touch, and touches
 * PAGES pages of all its areas together.
 */
#define _GNU_SOURCE
#include <err.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>

#define PAGE 4096UL
#define STACK (256 * PAGE)

static unsigned long areas, pages;

static unsigned long number(const char *text)
{
	char *end;
	unsigned long found = strtoul(text, &end, 10);

	if (!*text || *end)
		errx(2, "%s: no number", text);
	return found;
}

static void *start(void *arg)
{
	for (unsigned long a = 1; a < areas; a++) {
		unsigned long mine = pages / areas + (a < pages % areas);
		char *map = mmap(NULL, (mine + 2) * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (map == MAP_FAILED || mprotect(map + PAGE, mine * PAGE, PROT_READ | PROT_WRITE))
			err(1, "mmap");
		for (unsigned long p = 1; p <= mine; p++)
			map[p * PAGE] = 1;
	}
	return arg;
}

int main(int argc, char **argv)
{
	pthread_attr_t attr;
	unsigned long threads;
	pthread_t *all;

	if (argc != 4)
		errx(2, "takes THREADS, AREAS and PAGES; see the source");
	threads = number(argv[1]);
	areas = number(argv[2]);
	pages = number(argv[3]);
	all = calloc(threads, sizeof(*all));
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK);
	for (unsigned long t = 0; t < threads; t++)
		if (pthread_create(&all[t], &attr, start, NULL))
			errx(1, "pthread_create");
	for (unsigned long t = 0; t < threads; t++)
		pthread_join(all[t], NULL);
	return 0;
}
