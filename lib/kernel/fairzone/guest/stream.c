// SPDX-License-Identifier: GPL-2.0-only
/*
 * Write and read a block device through the page cache, page by page, and say
 * which parts of it are cached.
 *
 *	stream DEVICE
 *
 * takes one command a line, and answers each with one line:
 *
 *	write FIRST PAGES	from page FIRST on, then fsync()
 *	read FIRST PAGES
 *	map PAGES PARTS		cached pages of each part of the first PAGES
 *	reopen 0 0		the device, whose cache goes with the last close
 */
#define _GNU_SOURCE
#include <err.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PAGE 4096ULL
/* Of include/uapi/linux/mman.h and asm-generic/unistd.h since 6.5. */
#ifndef SYS_cachestat
#define SYS_cachestat 451
#endif

struct range {
	uint64_t off, len;
};

struct stat_of_cache {
	uint64_t nr_cache, nr_dirty, nr_writeback, nr_evicted, nr_recently_evicted;
};

static char page[PAGE];

static int opened(const char *device)
{
	int fd = open(device, O_RDWR);

	if (fd < 0)
		err(1, "%s", device);
	return fd;
}

static void touch(int fd, int writes, uint64_t first, uint64_t pages)
{
	uint64_t at;

	for (at = first; at < first + pages; at++) {
		ssize_t done = writes ? pwrite(fd, page, PAGE, at * PAGE) :
					pread(fd, page, PAGE, at * PAGE);

		if (done != (ssize_t)PAGE)
			err(1, "page %llu", (unsigned long long)at);
	}
	if (writes && fsync(fd))
		err(1, "fsync");
	puts("done");
}

/* cachestat() looks pages up in the page cache; that uses none, and reads none. */
static void map(int fd, uint64_t pages, uint64_t parts)
{
	uint64_t part, first = 0, end;

	for (part = 0; part < parts; part++, first = end) {
		struct stat_of_cache found = { .nr_cache = 0 };
		struct range asked;

		end = pages * (part + 1) / parts;
		asked.off = first * PAGE;
		asked.len = (end - first) * PAGE;
		/* A length of 0 would ask for all to the end. */
		if (asked.len && syscall(SYS_cachestat, fd, &asked, &found, 0))
			err(1, "cachestat");
		printf("%llu ", (unsigned long long)found.nr_cache);
	}
	puts("");
}

int main(int argc, char **argv)
{
	char word[16];
	unsigned long long a, b;
	int fd;

	if (argc != 2)
		errx(2, "usage: stream DEVICE");
	fd = opened(argv[1]);
	/* Else kswapd evicts this program, too, and has it read again as the workload runs. */
	if (mlockall(MCL_CURRENT | MCL_FUTURE))
		err(1, "mlockall");
	memset(page, 'f', PAGE);
	setvbuf(stdout, NULL, _IOLBF, 0);
	while (scanf("%15s %llu %llu", word, &a, &b) == 3) {
		if (!strcmp(word, "map")) {
			map(fd, a, b);
		} else if (!strcmp(word, "reopen")) {
			close(fd);
			fd = opened(argv[1]);
			puts("done");
		} else {
			touch(fd, !strcmp(word, "write"), a, b);
		}
	}
	return 0;
}
