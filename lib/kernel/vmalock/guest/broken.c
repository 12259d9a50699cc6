// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a process sees of its memory while a step of the VMA lock is left out.
 *
 *	broken fork ROUNDS VMAS [LOG]
 *	broken remap ROUNDS PAGES
 *
 * fork: one thread writes to a page without end and reads back what it wrote; one forks ROUNDS
 * times, with VMAS mappings to copy behind that page's; one writes to the page while a fork is under
 * way, so that it is copied on write. A fork leaves the page's old translation in the TLBs until it
 * is over. Who copies the page before that loses what the first thread writes meanwhile.
 *
 * remap: one thread maps one of two files, looks whether each of PAGES places shows it, drops the
 * pages and unmaps the file, ROUNDS times; others touch these places all the time. So they fault
 * when the mapping goes. munmap() downgrades mmap_lock once the mapping has left the tree, and with
 * that unlocks it, before it clears the page table: who has found it before and still locks it puts
 * a page where the next mapping will be.
 *
 * Prints "ROUNDS WRONG", writes lost, or places that showed the other file; of forks also how many
 * VMAs each of them copies. Wants four CPUs. LOG is the file of the kernel's log of VMA locks, or "-".
 */
#define _GNU_SOURCE
#include <err.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
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
#define APART (16 * PAGE)	/* what one fault maps of a file at most: fault_around_bytes */
#define READERS 3

static unsigned long rounds, size, wrong;
static atomic_ulong begun;	/* forks */
static atomic_bool over, mapped;
static char *memory;

static void on_cpu(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu % sysconf(_SC_NPROCESSORS_ONLN), &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		err(1, "CPU %d", cpu);
}

static void wait_ns(unsigned long ns)
{
	struct timespec from, now;

	clock_gettime(CLOCK_MONOTONIC, &from);
	do
		clock_gettime(CLOCK_MONOTONIC, &now);
	while ((now.tv_sec - from.tv_sec) * 1000000000UL + now.tv_nsec - from.tv_nsec < ns);
}

/* The page's first word. */
static void *write_and_read(void *unused)
{
	volatile unsigned long *word = (unsigned long *)memory;
	unsigned long n = 0;

	counted(1);
	on_cpu(1);
	*word = n;
	while (!over) {
		/* Before the next write hides that the last one is gone. */
		if (*word != n)
			wrong++;
		*word = ++n;
	}
	counted(0);
	return unused;
}

/* Another word of it, once a fork, at another moment of each. */
static void *copy_on_write(void *unused)
{
	volatile unsigned long *word = (unsigned long *)memory;
	unsigned long seen = 0;

	counted(1);
	on_cpu(2);
	while (!over) {
		if (begun == seen)
			continue;
		seen = begun;
		wait_ns(seen * 37 % 100 * 20000);
		word[64] = seen;
	}
	counted(0);
	return unused;
}

static void forks(void)
{
	int status;
	pid_t pid;

	counted(1);
	on_cpu(3);
	for (unsigned long r = 0; r < rounds; r++) {
		begun++;
		pid = fork();
		if (!pid)
			_exit(0);
		if (pid < 0)
			err(1, "fork");
		if (waitpid(pid, &status, 0) != pid || status)
			errx(1, "a child failed");
		usleep(2000);
	}
	counted(0);
}

/* Lines of /proc/self/maps; vsyscall's is of no VMA. */
static unsigned long vmas(void)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	unsigned long nr = 0;
	char line[512];

	if (!maps)
		err(1, "/proc/self/maps");
	while (fgets(line, sizeof(line), maps))
		nr += !strstr(line, "[vsyscall]");
	fclose(maps);
	return nr;
}

/* Nothing was mapped there. The place is touched again once there is. */
static void again(int signal)
{
	(void)signal;
	while (!mapped)
		;
}

static void *touch(void *unused)
{
	volatile char *place = memory;

	while (!over)
		for (unsigned long n = 0; n < size; n++)
			place[n * APART];
	return unused;
}

static void remap(void)
{
	const char names[] = "ab";
	int files[2];

	for (int f = 0; f < 2; f++) {
		char *page = malloc(APART);

		memset(page, names[f], APART);
		files[f] = memfd_create("broken", 0);
		for (unsigned long n = 0; n < size; n++)
			if (files[f] < 0 || write(files[f], page, APART) != (ssize_t)APART)
				err(1, "memfd");
		free(page);
	}
	for (unsigned long r = 0; r < rounds; r++) {
		if (mmap(memory, size * APART, PROT_READ, MAP_SHARED | MAP_FIXED, files[r % 2], 0) ==
		    MAP_FAILED)
			err(1, "mmap");
		mapped = true;
		for (unsigned long n = 0; n < size; n++)
			wrong += *(volatile char *)(memory + n * APART) != names[r % 2];
		if (r + 1 == rounds)
			break;
		mapped = false;
		if (madvise(memory, size * APART, MADV_DONTNEED) || munmap(memory, size * APART))
			err(1, "munmap");
	}
}

int main(int argc, char **argv)
{
	pthread_t threads[READERS];
	bool fork_mode = argc > 1 && !strcmp(argv[1], "fork");
	const char *log = argc == 5 ? argv[4] : "-";
	unsigned long copied = 0;
	int nr = 0;

	if (argc != 4 && !(argc == 5 && fork_mode))
		errx(2, "takes fork or remap, rounds, size; see the source");
	rounds = number(argv[2]);
	size = number(argv[3]);

	if (fork_mode) {
		/* Mapped first it lies above the page, and is copied after it. */
		char *many = mmap(NULL, size * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		for (unsigned long n = 0; n < size; n += 2)
			if (many == MAP_FAILED || mprotect(many + n * PAGE, PAGE, PROT_READ))
				err(1, "mprotect");
	}
	memory = mmap(NULL, fork_mode ? PAGE : size * APART, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		err(1, "mmap");
	memory[0] = 1;
	if (fork_mode) {
		pthread_create(&threads[nr++], NULL, write_and_read, NULL);
		pthread_create(&threads[nr++], NULL, copy_on_write, NULL);
		copied = vmas();
		wait_ns(0);	/* The clock's page can't be mapped for it. */
		begin(log);
		forks();
		end(log);
	} else {
		signal(SIGSEGV, again);
		while (nr < READERS)
			pthread_create(&threads[nr++], NULL, touch, NULL);
		remap();
	}
	over = true;
	while (nr)
		pthread_join(threads[--nr], NULL);
	printf("%lu %lu", rounds, wrong);
	if (fork_mode)
		printf(" %lu", copied);
	printf("\n");
	return 0;
}
