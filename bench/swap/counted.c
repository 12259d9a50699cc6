// SPDX-License-Identifier: GPL-2.0-only
/* counted FILE PAGES CPUS FROM MADE: events of a file, those from FROM on inside counted(). */
#include <stdio.h>
#include "swap_6_12.c"

/* callgrind collects while this runs. MADE allocations are among the events before. */
__attribute__((noinline)) static void counted(struct swap *si, const int64_t *events, int64_t n,
					      uint32_t *offsets, int64_t made)
{
	run(si, events, n, offsets, made);
}

int main(int argc, char **argv)
{
	FILE *file = argc == 6 ? fopen(argv[1], "rb") : NULL;
	int64_t n, from, made, *events;
	uint32_t *offsets;
	struct swap *si;

	if (!file || fseek(file, 0, SEEK_END))
		return 1;
	n = ftell(file) / sizeof(*events);
	rewind(file);
	events = malloc(n * sizeof(*events));
	offsets = calloc(n, sizeof(*offsets));
	if (fread(events, sizeof(*events), n, file) != (size_t)n)
		return 1;
	si = swapon(atoi(argv[2]), atoi(argv[3]), true, true);
	from = atoll(argv[4]);
	made = atoll(argv[5]);
	run(si, events, from, offsets, 0);
	counted(si, events + from, n - from, offsets, made);
	return 0;
}
