// SPDX-License-Identifier: GPL-2.0-only
/*
 * faults FIRST CACHED
 *
 * Maps a file at entry FIRST of a page table and reads the pages whose numbers come on stdin. The
 * file is in tmpfs and has a page for each character of CACHED: 1 is written first, 0 stays a hole.
 * For each read that faulted a line: the page, how many pages got mapped, and in how many cache
 * lines their page-table entries stand. All memory of its own is touched before.
 */
#define _GNU_SOURCE
#include <err.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#define PAGE 4096UL
#define TABLE (512 * PAGE)
#define MOST 4096
#define PRESENT (1ULL << 63)

static uint64_t now[MOST], before[MOST];
static unsigned long wanted[MOST], found[MOST][3];

static long minor_faults(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_minflt;
}

int main(int argc, char **argv)
{
	unsigned long first, pages, reads = 0, n = 0;
	int file = memfd_create("file", 0), pagemap = open("/proc/self/pagemap", O_RDONLY);
	char *area, *map;

	if (argc != 3 || file < 0 || pagemap < 0)
		errx(2, "faults FIRST CACHED");
	first = strtoul(argv[1], NULL, 10);
	pages = strlen(argv[2]);
	if (pages > MOST || ftruncate(file, pages * PAGE))
		err(1, "%lu pages", pages);
	for (unsigned long page = 0; page < pages; page++)
		if (argv[2][page] == '1' && pwrite(file, "x", 1, page * PAGE) != 1)
			err(1, "pwrite");
	while (reads < MOST && scanf("%lu", &wanted[reads]) == 1)
		reads++;
	memset(now, 1, sizeof(now));
	memset(before, 0, sizeof(before));
	memset(found, 1, sizeof(found));

	area = mmap(NULL, (pages + 1024) * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	map = (char *)(((uintptr_t)area + TABLE - 1) & ~(TABLE - 1)) + first * PAGE;
	map = mmap(map, pages * PAGE, PROT_READ, MAP_PRIVATE | MAP_FIXED, file, 0);
	if (area == MAP_FAILED || map == MAP_FAILED)
		err(1, "mmap");
	minor_faults();

	for (unsigned long read = 0; read < reads; read++) {
		unsigned long line = -1UL, mapped = 0, lines = 0;
		long faults = minor_faults();

		(void)*(volatile char *)(map + wanted[read] * PAGE);
		faults = minor_faults() - faults;
		if (!faults)
			continue;
		if (faults != 1)
			errx(1, "%ld faults of one read", faults);
		if (pread(pagemap, now, pages * 8, (uintptr_t)map / PAGE * 8) != (ssize_t)pages * 8)
			err(1, "pagemap");
		for (unsigned long page = 0; page < pages; page++) {
			if (!(now[page] & PRESENT) || before[page] & PRESENT)
				continue;
			mapped++;
			lines += (first + page) / 8 != line;
			line = (first + page) / 8;
		}
		memcpy(before, now, sizeof(now));
		memcpy(found[n++], (unsigned long[]){ wanted[read], mapped, lines }, sizeof(*found));
	}
	for (unsigned long one = 0; one < n; one++)
		printf("%lu %lu %lu\n", found[one][0], found[one][1], found[one][2]);
	return 0;
}
