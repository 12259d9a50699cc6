// SPDX-License-Identifier: GPL-2.0-only
/*
 * A writer comes to a VMA that a fault is in, when mm_lock_seq has wrapped to the VMA's own number.
 *
 *	overlap mprotect|munmap FILE FOLDER
 *
 * FILE, of a page or more, is on a file system that the caller freezes. FOLDER is lorelab/vmalock of
 * debugfs. Prints "ready" when all is there, and waits for a line. Then a thread writes to the page,
 * and hangs under the VMA's lock, for a fault that makes a page of a frozen file system dirty waits
 * for the thaw. What follows is the writer, and "writer" is printed when it is through; and "fault"
 * when the thread's write is.
 *
 * Between the VMA's last write lock and this writer are 2^31 - 1 others. All but the last WRITERS of
 * them are left out: the kernel's file `sequence` adds their number to mm_lock_seq. It overflows on
 * the way, as the process had fewer than WRITERS before.
 */
#define _GNU_SOURCE
#include <err.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "section.h"

#define PAGE 4096UL
#define WRITERS 10000UL

static volatile char *map;
static sem_t go;
static sigjmp_buf out;

static void say(const char *line)
{
	if (write(STDOUT_FILENO, line, strlen(line)) < 0)
		err(1, "stdout");
}

static void *fault(void *unused)
{
	sem_wait(&go);
	if (!sigsetjmp(out, 1))
		map[0] = 1;
	return unused;
}

/* The writer has made the page one that can't be written to. */
static void gone(int signal)
{
	siglongjmp(out, signal);
}

int main(int argc, char **argv)
{
	char log[256], sequence[256], words[64], line[8];
	bool unmap = argc == 4 && !strcmp(argv[1], "munmap");
	pthread_t thread;
	int fd;

	if (argc != 4)
		errx(2, "takes mprotect or munmap, FILE and FOLDER; see the source");
	snprintf(log, sizeof(log), "%s/log", argv[3]);
	snprintf(sequence, sizeof(sequence), "%s/sequence", argv[3]);
	fd = open(argv[2], O_RDWR);
	map = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (fd < 0 || map == MAP_FAILED)
		err(1, "%s", argv[2]);
	(void)map[0];
	signal(SIGSEGV, gone);
	sem_init(&go, 0, 0);
	if (pthread_create(&thread, NULL, fault, NULL))
		errx(1, "pthread_create");
	snprintf(words, sizeof(words), "%lx %lu", (unsigned long)map, WRITERS);
	say("ready\n");
	if (read(STDIN_FILENO, line, sizeof(line)) <= 0)
		err(1, "stdin");

	/* Its number is the second one's. No call from here to the writer takes mmap_lock otherwise. */
	if (mprotect((void *)map, PAGE, PROT_READ) ||
	    mprotect((void *)map, PAGE, PROT_READ | PROT_WRITE))
		err(1, "mprotect");
	fd = open(sequence, O_WRONLY);
	if (fd < 0 || write(fd, words, strlen(words)) != (ssize_t)strlen(words))
		err(1, "%s", sequence);
	for (unsigned long n = 1; n < WRITERS; n++)
		syscall(SYS_brk, 0);

	tell(log, "1");
	sem_post(&go);
	usleep(500000);
	if (unmap ? munmap((void *)map, PAGE) : mprotect((void *)map, PAGE, PROT_READ))
		err(1, "%s", argv[1]);
	say("writer\n");
	pthread_join(thread, NULL);
	say("fault\n");
	return 0;
}
