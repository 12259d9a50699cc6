// SPDX-License-Identifier: GPL-2.0-only
/*
 * usemem CGROUP PROCESSES MIB ORDER spin|sleep
 *
 * Processes in a memory cgroup, process n on CPU n + 1, each with MIB MiB of anonymous memory in
 * folios of ORDER; the program itself stays outside of the cgroup, on CPU 0. Between two commands
 * the processes spin, or sleep, on CPUs that nothing else runs on. Either way their page tables
 * stay loaded there, but a CPU that sleeps need not be interrupted for a flush.
 *
 * Commands, one a line on stdin, each for all processes at once but the last two:
 *   ping		nothing: brings in the pages that the program itself needs
 *   touch		write a word to each page, in order
 *   drop PAGES		MADV_DONTNEED the last PAGES of each folio
 *   age		clear the accessed bits, so that reclaim takes a folio the first time
 *   pageout		MADV_PAGEOUT everything
 *   own BYTES [TIMES]	the first process has BYTES of the cgroup reclaimed, TIMES
 *   reclaim BYTES [TIMES]	the program does
 * Each is answered with the ticks of the CPU's clock that it took, from the start of the first to
 * the end of the last of them. With QEMU's -icount shift=0 a tick is one instruction.
 */
#define _GNU_SOURCE
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <x86intrin.h>

#define PAGE 4096UL
#define PMD_SIZE (512 * PAGE)

enum what { PING, TOUCH, DROP, AGE, PAGEOUT, OWN, RECLAIM, COMMANDS, QUIT = COMMANDS };

static const char *const names[COMMANDS] = {
	"ping", "touch", "drop", "age", "pageout", "own", "reclaim",
};

/* Shared by all: a command is given by counting up `round`, and done when nobody is `left`. */
static struct {
	uint32_t round, left;
	enum what what;
	unsigned long number, times;
} *shared;

static const char *cgroup;
static bool spin;

static void futex(uint32_t *word, int op, uint32_t value)
{
	syscall(SYS_futex, word, op, value, NULL, NULL, 0);
}

static void stay_on(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		err(1, "CPU %d", cpu);
}

static int open_control(const char *name)
{
	char path[256];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", cgroup, name);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		err(1, "%s", path);
	return fd;
}

static void reclaim(int fd, unsigned long bytes, unsigned long times)
{
	char text[32];
	int length = snprintf(text, sizeof(text), "%lu", bytes);

	while (times--) {
		if (write(fd, text, length) == length)
			continue;
		/* All that can be reclaimed has been, and part of it not been counted. */
		if (errno == EAGAIN)
			return;
		err(1, "memory.reclaim of %lu bytes", bytes);
	}
}

static void work(char *memory, unsigned long size, unsigned long folio, int reclaim_fd)
{
	unsigned long at;
	int fd;

	switch (shared->what) {
	case TOUCH:
		/* No two pages alike, and none of them zero */
		for (at = 0; at < size; at += PAGE)
			*(volatile unsigned long *)(memory + at) = (unsigned long)memory + at;
		break;
	case DROP:
		for (at = folio; at <= size; at += folio)
			if (madvise(memory + at - shared->number * PAGE, shared->number * PAGE,
				    MADV_DONTNEED))
				err(1, "MADV_DONTNEED");
		break;
	case AGE:
		fd = open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC);
		if (fd < 0 || write(fd, "1", 1) != 1)
			err(1, "clear_refs");
		close(fd);
		break;
	case PAGEOUT:
		if (madvise(memory, size, MADV_PAGEOUT))
			err(1, "MADV_PAGEOUT");
		break;
	case OWN:
		reclaim(reclaim_fd, shared->number, shared->times);
		break;
	case QUIT:
		_exit(0);
	default:
		break;
	}
}

static _Noreturn void process(int number, unsigned long size, unsigned long folio)
{
	int procs, reclaim_fd;
	uint32_t seen = 0;
	char *memory;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	stay_on(number + 1);
	reclaim_fd = open_control("memory.reclaim");
	procs = open_control("cgroup.procs");
	if (write(procs, "0", 1) != 1)
		err(1, "cgroup.procs");
	/* Of all that this process has, only what it maps from here on may be reclaimed. */
	if (mlockall(MCL_CURRENT))
		err(1, "mlockall");
	memory = mmap(NULL, size + PMD_SIZE, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (memory == MAP_FAILED)
		err(1, "mmap");
	memory = (char *)(((uintptr_t)memory + PMD_SIZE - 1) & -PMD_SIZE);
	if (madvise(memory, size, folio > PAGE ? MADV_HUGEPAGE : MADV_NOHUGEPAGE))
		err(1, "madvise");

	for (;;) {
		if (__atomic_sub_fetch(&shared->left, 1, __ATOMIC_SEQ_CST) == 0)
			futex(&shared->left, FUTEX_WAKE, 1);
		while (__atomic_load_n(&shared->round, __ATOMIC_ACQUIRE) == seen)
			if (spin)
				__builtin_ia32_pause();
			else
				futex(&shared->round, FUTEX_WAIT, seen);
		seen++;
		if (shared->what != OWN || number == 0)
			work(memory, size, folio, reclaim_fd);
	}
}

static void start_all(void)
{
	__atomic_add_fetch(&shared->round, 1, __ATOMIC_SEQ_CST);
	futex(&shared->round, FUTEX_WAKE, INT_MAX);
}

static void wait_for_all(void)
{
	uint32_t left;

	while ((left = __atomic_load_n(&shared->left, __ATOMIC_ACQUIRE)))
		futex(&shared->left, FUTEX_WAIT, left);
}

int main(int argc, char **argv)
{
	unsigned long size, folio;
	int number, processes, reclaim_fd;
	char word[16], line[64];

	if (argc != 6)
		errx(2, "usage: usemem CGROUP PROCESSES MIB ORDER spin|sleep");
	cgroup = argv[1];
	processes = atoi(argv[2]);
	size = strtoul(argv[3], NULL, 10) << 20;
	folio = PAGE << atoi(argv[4]);

	spin = !strcmp(argv[5], "spin");

	shared = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED)
		err(1, "mmap");
	stay_on(0);
	reclaim_fd = open_control("memory.reclaim");
	shared->left = processes;
	for (number = 0; number < processes; number++) {
		pid_t child = fork();

		if (child < 0)
			err(1, "fork");
		if (child == 0)
			process(number, size, folio);
	}
	wait_for_all();

	/* A process that fails ends the program, and the program's end all processes. */
	signal(SIGCHLD, exit);
	while (fgets(line, sizeof(line), stdin)) {
		unsigned long long start;

		shared->number = 0;
		shared->times = 1;
		if (sscanf(line, "%15s %lu %lu", word, &shared->number, &shared->times) < 1)
			errx(2, "an empty command");
		for (shared->what = 0; shared->what < COMMANDS; shared->what++)
			if (!strcmp(word, names[shared->what]))
				break;
		if (shared->what == COMMANDS)
			errx(2, "unknown command %s", word);
		start = __rdtsc();
		if (shared->what == RECLAIM) {
			reclaim(reclaim_fd, shared->number, shared->times);
		} else {
			shared->left = processes;
			start_all();
			wait_for_all();
		}
		printf("%llu\n", __rdtsc() - start);
		fflush(stdout);
	}

	/* The cgroup is empty when the program has ended. */
	signal(SIGCHLD, SIG_DFL);
	shared->what = QUIT;
	start_all();
	while (wait(NULL) > 0)
		;
	return 0;
}
