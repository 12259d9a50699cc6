// SPDX-License-Identifier: GPL-2.0-only
/*
 * Faults and writers around the moment when the mm's sequence has come around to a VMA's.
 *
 *	collide N DELAY_US FOLDER
 *
 * FOLDER is lorelab/vmalock of debugfs. Moves the sequence so that the N-th writer from then on finds
 * the VMA `still` marked, though nobody marked it, and prints for each writer from the first to two
 * after the N-th, a line each, what the kernel counted meanwhile:
 *
 *	reader I EARLY		while the I-th writer dawdles in another VMA, a thread faults in `still`:
 *				how often it was refused for equal sequences
 *	writer I MARKED AGAIN	the I-th writer is about `still` itself: VMAs that it marked, and took
 *				for marked
 *
 * Nothing else in the guest may change its memory meanwhile. Wants two CPUs.
 */
#define _GNU_SOURCE
#include <err.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "number.h"

#define PAGE 4096UL
#define PAGES 64UL

static const char *folder;
static char *still, *other;
static atomic_int go;	/* writes that the writer is to begin */
static atomic_int done;	/* those that it is through with */

static int opened(const char *name, int how)
{
	char file[256];
	int fd;

	snprintf(file, sizeof(file), "%s/%s", folder, name);
	fd = open(file, how);
	if (fd < 0)
		err(1, "%s", file);
	return fd;
}

static void tell(const char *name, const char *text)
{
	int fd = opened(name, O_WRONLY);

	if (write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		err(1, "%s %s", name, text);
	close(fd);
}

static unsigned long counted(const char *name)
{
	static char text[4096];
	int fd = opened("counters", O_RDONLY);
	ssize_t got = read(fd, text + 1, sizeof(text) - 2);
	char line[64], *at;

	close(fd);
	text[0] = '\n';
	text[got > 0 ? got + 1 : 1] = 0;
	snprintf(line, sizeof(line), "\n%s ", name);
	at = strstr(text, line);
	if (!at)
		errx(1, "no counter %s", name);
	return strtoul(at + strlen(line), NULL, 10);
}

/* An area between two pages that nobody may touch. */
static char *area(void)
{
	char *map = mmap(NULL, (PAGES + 2) * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (map == MAP_FAILED || mprotect(map + PAGE, PAGES * PAGE, PROT_READ | PROT_WRITE))
		err(1, "mmap");
	map[PAGE] = 1;	/* its anon_vma */
	return map + PAGE;
}

/* A writer: changes the flags of an area, each time to others, or it would not have to mark it. */
static void change(char *map)
{
	static unsigned long writers[2];

	if (madvise(map, PAGES * PAGE, writers[map == still]++ % 2 ? MADV_DODUMP : MADV_DONTDUMP))
		err(1, "madvise");
}

static void *write_when_told(void *unused)
{
	for (;;) {
		while (go == done)
			sched_yield();
		if (go < 0)
			return unused;
		change(other);
		done++;
	}
}

static void move(unsigned long n)
{
	char words[64];

	snprintf(words, sizeof(words), "%lx %lu", (unsigned long)still, n);
	tell("sequence", words);
}

/* A fault in `still` while the I-th writer is in its section: how often it is refused. */
static unsigned long refused(unsigned long n, unsigned long i, const char *delay)
{
	unsigned long early, marked;
	bool inside;

	do {
		if (madvise(still, PAGES * PAGE, MADV_DONTNEED))
			err(1, "madvise");
		tell("delay_us", "0");
		move(n);
		for (unsigned long j = 1; j < i; j++)
			change(other);
		tell("delay_us", delay);
		early = counted("early");
		marked = counted("marked");
		go++;
		while (counted("marked") == marked)
			;
		still[PAGE] = 1;
		/* Whoever is refused waits for the writer's end; who is not must have come before it. */
		inside = done < go;
		early = counted("early") - early;
		while (done < go)
			sched_yield();
	} while (!inside && !early);
	return early;
}

int main(int argc, char **argv)
{
	unsigned long n, i, j, before, again;
	pthread_t thread;

	if (argc != 4)
		errx(2, "takes N, DELAY_US and FOLDER; see the source");
	n = number(argv[1]);
	number(argv[2]);
	folder = argv[3];
	still = area();
	other = area();
	counted("early");
	printf("\n");
	if (pthread_create(&thread, NULL, write_when_told, NULL))
		errx(1, "pthread_create");
	while (go != done)
		;
	for (i = 1; i <= n + 2; i++)
		printf("reader %lu %lu\n", i, refused(n, i, argv[2]));
	tell("delay_us", "0");
	go = -1;
	pthread_join(thread, NULL);

	for (i = 1; i <= n + 2; i++) {
		change(still);	/* so that its number is a recent one */
		move(n);
		for (j = 1; j < i; j++)
			change(other);
		before = counted("marked");
		again = counted("marked_again");
		change(still);
		printf("writer %lu %lu %lu\n", i, counted("marked") - before,
		       counted("marked_again") - again);
	}
	return 0;
}
