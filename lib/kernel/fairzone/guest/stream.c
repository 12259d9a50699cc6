// SPDX-License-Identifier: GPL-2.0-only
/*
 * Write and read a block device through the page cache, page by page.
 *
 *	stream DEVICE
 *
 * takes one command a line, and answers each with one line:
 *
 *	write FIRST PAGES	from page FIRST on, then fsync()
 *	read FIRST PAGES
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
	memset(page, 'f', PAGE);
	setvbuf(stdout, NULL, _IOLBF, 0);
	while (scanf("%15s %llu %llu", word, &a, &b) == 3) {
		touch(fd, !strcmp(word, "write"), a, b);
	}
	return 0;
}
