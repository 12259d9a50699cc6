// SPDX-License-Identifier: GPL-2.0-only
/*
 * Threads that fault, and threads that change the address space meanwhile.
 *
 *	faulters threads MODE FAULTERS MAPPERS ROUNDS PAGES LOG
 *	faulters faults ROUNDS PAGES
 *	faulters forks ROUNDS VMAS
 *
 * threads: each faulter touches PAGES pages and drops them, ROUNDS times; each mapper changes the
 * address space as often. MODE says what:
 *
 *	private		a faulter has an area of its own; a mapper maps, protects and unmaps another
 *	shared		all fault in one area, whose flags the mappers change with madvise()
 *	merging		a mapper maps pages beside the faulters' area, which become part of it, and
 *			unmaps them
 *
 * LOG is the file of the kernel's log of VMA locks, or "-". The log is on from when all threads are
 * ready until all are done.
 *
 * faults, forks: print what touching a page takes, or a fork of a process with VMAS mappings more,
 * in ns of the guest's clock, a line a round. Under icount that is instructions.
 */
#define _GNU_SOURCE
#include <err.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PAGE 4096UL
#define MOST 64

enum mode { PRIVATE, SHARED, MERGING };

static enum mode mode;
static unsigned long rounds, pages;
static int faulters, mappers;
static pthread_barrier_t barrier;
static char *areas[MOST];

static unsigned long number(const char *text)
{
	char *end;
	unsigned long found = strtoul(text, &end, 10);

	if (!*text || *end)
		errx(2, "%s: no number", text);
	return found;
}

static unsigned long now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000UL + ts.tv_nsec;
}

/* An area between two pages that nobody may touch, so that it merges with nothing. */
static char *area(unsigned long size)
{
	char *map = mmap(NULL, size + 2 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (map == MAP_FAILED || mprotect(map + PAGE, size, PROT_READ | PROT_WRITE))
		err(1, "mmap");
	return map + PAGE;
}

static void *fault(void *arg)
{
	char *mine = areas[(long)arg];

	pthread_barrier_wait(&barrier);
	for (unsigned long r = 0; r < rounds; r++) {
		for (unsigned long p = 0; p < pages; p++)
			mine[p * PAGE] = 1;
		if (madvise(mine, pages * PAGE, MADV_DONTNEED))
			err(1, "madvise");
	}
	pthread_barrier_wait(&barrier);
	return NULL;
}

static void change(long n, unsigned long round)
{
	char *map;

	switch (mode) {
	case PRIVATE:
		map = mmap(NULL, 4 * PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (map == MAP_FAILED || mprotect(map, PAGE, PROT_READ | PROT_WRITE) ||
		    munmap(map, 4 * PAGE))
			err(1, "mapper");
		break;
	case SHARED:
		if (madvise(areas[0], pages * PAGE, round % 2 ? MADV_DODUMP : MADV_DONTDUMP))
			err(1, "madvise");
		break;
	case MERGING:
		/* A place of its own beside the area, so that mappers do not meet. */
		map = areas[0] + (pages + n) * PAGE;
		if (mmap(map, PAGE, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED ||
		    munmap(map, PAGE))
			err(1, "mapper");
		break;
	}
}

static void *map(void *arg)
{
	pthread_barrier_wait(&barrier);
	for (unsigned long r = 0; r < rounds; r++)
		change((long)arg, r);
	pthread_barrier_wait(&barrier);
	return NULL;
}

static void tell(const char *file, const char *word)
{
	int fd;

	if (!strcmp(file, "-"))
		return;
	fd = open(file, O_WRONLY);
	if (fd < 0 || write(fd, word, 1) != 1)
		err(1, "%s", file);
	close(fd);
}

static void threads(char **argv)
{
	static const char *const modes[] = { "private", "shared", "merging" };
	pthread_t all[2 * MOST];
	long n;

	for (mode = PRIVATE; strcmp(argv[0], modes[mode]); mode++)
		if (mode == MERGING)
			errx(2, "%s: takes private, shared, merging", argv[0]);
	faulters = number(argv[1]);
	mappers = number(argv[2]);
	rounds = number(argv[3]);
	pages = number(argv[4]);
	if (faulters > MOST || mappers > MOST)
		errx(2, "takes %d threads of a kind at most", MOST);

	areas[0] = area((pages + (mode == MERGING ? mappers : 0)) * PAGE);
	if (mode == MERGING && munmap(areas[0] + pages * PAGE, mappers * PAGE))
		err(1, "munmap");
	for (n = 1; n < faulters; n++)
		areas[n] = mode == PRIVATE ? area(pages * PAGE) : areas[0];
	for (n = 0; n < faulters; n++)
		areas[n][0] = 1;	/* its anon_vma */

	pthread_barrier_init(&barrier, NULL, faulters + mappers + 1);
	for (n = 0; n < faulters + mappers; n++)
		if (pthread_create(&all[n], NULL, n < faulters ? fault : map,
				   (void *)(n < faulters ? n : n - faulters)))
			errx(1, "pthread_create");
	/* Nothing but the loops faults from here on. */
	if (mlockall(MCL_CURRENT | MCL_ONFAULT))
		err(1, "mlockall");
	if (munlockall())
		err(1, "munlockall");
	tell(argv[5], "1");
	pthread_barrier_wait(&barrier);
	pthread_barrier_wait(&barrier);
	tell(argv[5], "0");
	for (n = 0; n < faulters + mappers; n++)
		pthread_join(all[n], NULL);
}

static void faults(char **argv)
{
	unsigned long from;
	char *mine;

	rounds = number(argv[0]);
	pages = number(argv[1]);
	mine = area(pages * PAGE);
	for (unsigned long r = 0; r < rounds; r++) {
		from = now();
		for (unsigned long p = 0; p < pages; p++)
			mine[p * PAGE] = 1;
		printf("%lu\n", (now() - from) / pages);
		if (madvise(mine, pages * PAGE, MADV_DONTNEED))
			err(1, "madvise");
	}
}

static void forks(char **argv)
{
	unsigned long from, vmas, n;
	int status;
	pid_t pid;
	char *map;

	rounds = number(argv[0]);
	vmas = number(argv[1]);
	/* Neighbours that may be read differ from those that may not: none of them merges. */
	map = mmap(NULL, vmas * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (map == MAP_FAILED)
		err(1, "mmap");
	for (n = 0; n < vmas; n += 2)
		if (mprotect(map + n * PAGE, PAGE, PROT_READ))
			err(1, "mprotect");
	for (unsigned long r = 0; r < rounds; r++) {
		from = now();
		pid = fork();
		if (!pid)
			_exit(0);
		if (pid < 0)
			err(1, "fork");
		n = now() - from;
		if (waitpid(pid, &status, 0) != pid || status)
			errx(1, "a child failed");
		printf("%lu\n", n);
	}
}

int main(int argc, char **argv)
{
	if (argc == 8 && !strcmp(argv[1], "threads"))
		threads(argv + 2);
	else if (argc == 4 && !strcmp(argv[1], "faults"))
		faults(argv + 2);
	else if (argc == 4 && !strcmp(argv[1], "forks"))
		forks(argv + 2);
	else
		errx(2, "takes threads, faults or forks; see the source");
	return 0;
}
