// SPDX-License-Identifier: GPL-2.0-only
/*
 * Touch anonymous memory and give it up at once.
 *
 *	lazyfree PAGES
 *
 * has room for so many pages, takes one command a line, and answers each with
 * one line:
 *
 *	touch PAGES	the next ones, a byte each, then MADV_FREE
 *
 * A page stays mapped until reclaim takes it, without a write to swap, as it
 * takes clean page cache.
 */
#define _GNU_SOURCE
#include <err.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define PAGE 4096ULL
#define CHUNK 256ULL	/* pages that are given up together */

int main(int argc, char **argv)
{
	uint64_t room = argc == 2 ? strtoull(argv[1], NULL, 0) : 0, at = 0;
	unsigned long long pages;
	char word[16], *map;

	if (!room)
		errx(2, "usage: lazyfree PAGES");
	map = mmap(NULL, room * PAGE, PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (map == MAP_FAILED)
		err(1, "mmap");
	setvbuf(stdout, NULL, _IOLBF, 0);
	while (scanf("%15s %llu", word, &pages) == 2 && !strcmp(word, "touch")) {
		if (pages > room - at)
			errx(1, "no room for %llu pages more", pages);
		while (pages) {
			uint64_t chunk = pages < CHUNK ? pages : CHUNK, each;

			for (each = 0; each < chunk; each++)
				map[(at + each) * PAGE] = 'f';
			if (madvise(map + at * PAGE, chunk * PAGE, MADV_FREE))
				err(1, "madvise");
			at += chunk;
			pages -= chunk;
		}
		puts("done");
	}
	return 0;
}
