// SPDX-License-Identifier: GPL-2.0-only
/*
 * Preloaded into a program that calls rand() but never srand(): starts it from LORELAB_SEED.
 * Without the variable the program runs as it is, which for glibc means seed 1.
 */
#include <stdlib.h>

__attribute__((constructor)) static void seed(void)
{
	const char *value = getenv("LORELAB_SEED");

	if (value)
		srand((unsigned int)strtoul(value, NULL, 10));
}
