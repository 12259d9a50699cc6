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
 *
 * The device stays open, for its cache goes with the last close.
 */
#define _GNU_SOURCE
#include <err.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGE 4096ULL

static char page[PAGE];

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

/* mincore() looks pages up in the page cache; that uses none, and reads none. */
static void map(int fd, uint64_t pages, uint64_t parts)
{
	unsigned char *cached = malloc(pages);
	void *at = mmap(NULL, pages * PAGE, PROT_READ, MAP_SHARED, fd, 0);
	uint64_t part, each;

	if (!cached || at == MAP_FAILED || mincore(at, pages * PAGE, cached))
		err(1, "map");
	for (part = 0, each = 0; part < parts; part++) {
		unsigned int found = 0;

		for (; each < pages * (part + 1) / parts; each++)
			found += cached[each] & 1;
		printf("%u ", found);
	}
	puts("");
	munmap(at, pages * PAGE);
	free(cached);
}

int main(int argc, char **argv)
{
	char word[16];
	unsigned long long a, b;
	int fd;

	if (argc != 2)
		errx(2, "usage: stream DEVICE");
	fd = open(argv[1], O_RDWR);
	if (fd < 0)
		err(1, "%s", argv[1]);
	/* Else kswapd evicts this program, too, and has it read again as the workload runs. */
	if (mlockall(MCL_CURRENT))
		err(1, "mlockall");
	memset(page, 'f', PAGE);
	setvbuf(stdout, NULL, _IOLBF, 0);
	while (scanf("%15s %llu %llu", word, &a, &b) == 3) {
		if (!strcmp(word, "map"))
			map(fd, a, b);
		else
			touch(fd, !strcmp(word, "write"), a, b);
	}
	return 0;
}
