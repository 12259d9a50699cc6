/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The part of a program that is counted: its threads call themselves "counted" there, by which the
 * kernel's trace points know them, and the kernel logs its VMA locks from begin() to end().
 */
#ifndef SECTION_H
#define SECTION_H

#include <err.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

/* Of the calling thread, and of those that it creates. */
static inline void counted(int on)
{
	if (prctl(PR_SET_NAME, on ? "counted" : "left out"))
		err(1, "PR_SET_NAME");
}

/* FILE is the kernel's log, or "-". */
static inline void tell(const char *file, const char *word)
{
	int fd;

	if (!strcmp(file, "-"))
		return;
	fd = open(file, O_WRONLY);
	if (fd < 0 || write(fd, word, 1) != 1)
		err(1, "%s", file);
	close(fd);
}

/* What is mapped is there from now on: no page of it faults in the section. */
static inline void present(void)
{
	if (mlockall(MCL_CURRENT) || munlockall())
		err(1, "mlockall");
}

static inline void begin(const char *log)
{
	present();
	tell(log, "1");
}

static inline void end(const char *log)
{
	tell(log, "0");
}

#endif
