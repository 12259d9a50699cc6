// SPDX-License-Identifier: GPL-2.0-only
/*
 * Threads that fault, and threads that change the address space meanwhile.
 *
 *	faulters threads MODE FAULTERS MAPPERS ROUNDS PAGES LOG FILES...
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
 * ready until all are done, and what FILES say at these two moments is printed. Between them nothing
 * of this program faults but the faulters' touches.
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

#include "number.h"
#include "section.h"

#define PAGE 4096UL
#define MOST 64
#define STACK (64 * 1024)	/* all of it is there, so not glibc's 8 MiB a thread */

enum mode { PRIVATE, SHARED, MERGING };

static enum mode mode;
static unsigned long rounds, pages;
static int faulters, mappers;
static pthread_barrier_t barrier;
static char *areas[MOST];
static char said[2][256 * 1024];

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
	counted(1);
	for (unsigned long r = 0; r < rounds; r++) {
		for (unsigned long p = 0; p < pages; p++)
			mine[p * PAGE] = 1;
		if (madvise(mine, pages * PAGE, MADV_DONTNEED))
			err(1, "madvise");
	}
	counted(0);
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
	counted(1);
	for (unsigned long r = 0; r < rounds; r++)
		change((long)arg, r);
	counted(0);
	pthread_barrier_wait(&barrier);
	return NULL;
}

/* What FILES say, each after a line of its name. */
static void look(char **files, char *into)
{
	char *end = into + sizeof(said[0]);
	ssize_t n;
	int fd;

	for (; *files; files++) {
		into += snprintf(into, end - into, "= %s\n", *files);
		fd = open(*files, O_RDONLY);
		if (fd < 0)
			err(1, "%s", *files);
		while ((n = read(fd, into, end - into - 1)) > 0)
			into += n;
		if (n || into == end - 1)
			errx(1, "%s: no such file to read, or too long", *files);
		close(fd);
	}
}

static void threads(char **argv)
{
	static const char *const modes[] = { "private", "shared", "merging" };
	pthread_t all[2 * MOST];
	pthread_attr_t attr;
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
	if (pthread_attr_init(&attr) || pthread_attr_setstacksize(&attr, STACK))
		errx(1, "pthread_attr_setstacksize");
	for (n = 0; n < faulters + mappers; n++)
		if (pthread_create(&all[n], &attr, n < faulters ? fault : map,
				   (void *)(n < faulters ? n : n - faulters)))
			errx(1, "pthread_create");
	present();
	for (n = 0; n < faulters; n++)
		if (madvise(areas[n], pages * PAGE, MADV_DONTNEED))
			err(1, "madvise");
	look(argv + 6, said[0]);
	tell(argv[5], "1");
	pthread_barrier_wait(&barrier);
	pthread_barrier_wait(&barrier);
	tell(argv[5], "0");
	look(argv + 6, said[1]);
	for (n = 0; n < faulters + mappers; n++)
		pthread_join(all[n], NULL);
	printf("%s=\n%s", said[0], said[1]);
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
	if (argc >= 8 && !strcmp(argv[1], "threads"))
		threads(argv + 2);
	else if (argc == 4 && !strcmp(argv[1], "faults"))
		faults(argv + 2);
	else if (argc == 4 && !strcmp(argv[1], "forks"))
		forks(argv + 2);
	else
		errx(2, "takes threads, faults or forks; see the source");
	return 0;
}
