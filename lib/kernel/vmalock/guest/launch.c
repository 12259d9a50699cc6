// SPDX-License-Identifier: GPL-2.0-only
/*
 * Threads that start: each has areas of its own and touches them first.
 *
 *	launch THREADS AREAS PAGES LOG
 *
 * As `vmalock/launch` of the model has it: the creator maps a stack and protects all but its guard
 * page, as glibc does in pthread_create(), which gets the stack from here; the thread maps the other
 * areas, where nobody may touch the pages between, and touches PAGES pages of all its areas
 * together, the stack's among them. LOG is the file of the kernel's log of VMA locks, or "-".
 */
#define _GNU_SOURCE
#include <err.h>
#include <malloc.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "number.h"
#include "section.h"

#define PAGE 4096UL
#define BEHIND (4 * PAGE)	/* more of a stack than is touched, for what a thread needs itself */

static unsigned long areas, pages;
static char **stacks;
static char *room;

/* Bytes that are touched of a thread's area; the stack is area 0. */
static unsigned long share(unsigned long area)
{
	return (pages / areas + (area < pages % areas)) * PAGE;
}

/* From an area's end on, for a stack is used from there, by writes that change nothing. */
static void touch(char *end, unsigned long bytes)
{
	for (unsigned long at = PAGE; at <= bytes; at += PAGE)
		__atomic_fetch_or(end - at, 0, __ATOMIC_RELAXED);
}

static void *start(void *arg)
{
	unsigned long thread = (unsigned long)arg;
	char *at = room + thread * (pages + areas) * PAGE;

	touch(stacks[thread], share(0));
	for (unsigned long a = 1; a < areas; a++) {
		if (mmap(at, share(a), PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED)
			err(1, "mmap");
		touch(at + share(a), share(a));
		at += share(a) + PAGE;
	}
	counted(0);
	return NULL;
}

/* Maps the thread's stack and starts it. */
static pthread_t create(unsigned long thread)
{
	unsigned long size = share(0) + BEHIND;
	char *map = mmap(NULL, PAGE + size, PROT_NONE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
	pthread_attr_t attr;
	pthread_t made;

	if (map == MAP_FAILED || mprotect(map + PAGE, size, PROT_READ | PROT_WRITE))
		err(1, "stack");
	stacks[thread] = map + PAGE + size;
	pthread_attr_init(&attr);
	if (pthread_attr_setstack(&attr, map + PAGE, size) ||
	    pthread_create(&made, &attr, start, (void *)thread))
		errx(1, "pthread_create");
	return made;
}

int main(int argc, char **argv)
{
	unsigned long threads;
	pthread_t *all;

	if (argc != 5)
		errx(2, "takes THREADS, AREAS, PAGES and LOG; see the source");
	threads = number(argv[1]);
	areas = number(argv[2]);
	pages = number(argv[3]);
	/* What pthread_create() allocates for each is there from the start, too. */
	mallopt(M_TOP_PAD, (threads + 64) * PAGE);
	all = calloc(threads, sizeof(*all));
	stacks = calloc(threads, sizeof(*stacks));
	room = mmap(NULL, (threads * (pages + areas) + 1) * PAGE, PROT_NONE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (!all || !stacks || room == MAP_FAILED)
		err(1, "memory");
	room += PAGE;
	begin(argv[4]);
	counted(1);
	for (unsigned long t = 0; t < threads; t++)
		all[t] = create(t);
	counted(0);
	for (unsigned long t = 0; t < threads; t++)
		pthread_join(all[t], NULL);
	end(argv[4]);
	return 0;
}
