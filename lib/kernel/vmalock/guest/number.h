/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef NUMBER_H
#define NUMBER_H

#include <err.h>
#include <stdlib.h>

/* An argument that has to be a number. */
static inline unsigned long number(const char *text)
{
	char *end;
	unsigned long found = strtoul(text, &end, 10);

	if (!*text || *end)
		errx(2, "%s: no number", text);
	return found;
}

#endif
