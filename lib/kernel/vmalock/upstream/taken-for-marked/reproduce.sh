#!/bin/sh
# Does a writer wait for the page fault in its VMA when mm_lock_seq has wrapped? Says PASS or FAIL.
# As root; takes cc, mkfs.ext4, a loop device. A wrap is 2^31 writers, each a brk(0); it first says
# how long they take. An argument is the number of writers instead: with fewer it says PASS.
# A fault that makes a page of a frozen file system dirty waits for the thaw, its VMA locked.
set -e
dir=$(mktemp -d)
trap 'umount "$dir/m"; rm -r "$dir"' EXIT
mkdir "$dir/m"
truncate -s 16M "$dir/image"
mkfs.ext4 -q "$dir/image"
mount -o loop "$dir/image" "$dir/m"
cc -O2 -pthread -o "$dir/wrap" -x c - <<'C'
#include <fcntl.h>
#include <linux/fs.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
static volatile char *page;
static volatile int thawed, fd;
static sem_t go, held;
static void brks(long n) { while (n-- > 0) syscall(SYS_brk, 0); }
static void *fault(void *x) { sem_wait(&go); page[0] = 1; return x; }
static void *thaw(void *x) { sem_wait(&held); sleep(2); thawed = 1; ioctl(fd, FITHAW, 0); return x; }
int main(int nr, char **argv)
{
	long n = nr == 3 ? atol(argv[1]) : 0, tried = 1000000;
	struct timespec a, b;
	pthread_t one, two;
	int waited;
	if (n < 1 || (fd = open(argv[2], O_RDWR | O_CREAT, 0600)) < 0) return 2;
	if (ftruncate(fd, 4096) || fsync(fd)) return 2;
	page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (page == MAP_FAILED || page[0]) return 2;
	if (pthread_create(&one, NULL, fault, NULL) || pthread_create(&two, NULL, thaw, NULL)) return 2;
	clock_gettime(CLOCK_MONOTONIC, &a); brks(tried); clock_gettime(CLOCK_MONOTONIC, &b);
	double each = (b.tv_sec - a.tv_sec + (b.tv_nsec - a.tv_nsec) / 1e9) / tried;
	printf("brk(0) takes %.0f ns; %ld take %.1f minutes\n", each * 1e9, n, n * each / 60);
	fflush(stdout);
	/* The VMA's number. From here to the next madvise() all writers are counted. */
	if (madvise((void *)page, 4096, MADV_DONTDUMP)) return 2;
	brks(n - 1);
	if (ioctl(fd, FIFREEZE, 0)) return 2;
	sem_post(&go); sleep(1); sem_post(&held);
	if (madvise((void *)page, 4096, MADV_DODUMP)) return 2;
	waited = thawed;
	puts(waited ? "PASS" : "FAIL: the writer was through before the fault was");
	return pthread_join(one, NULL) || pthread_join(two, NULL) ? 2 : !waited;
}
C
"$dir/wrap" "${1:-2147483648}" "$dir/m/page"
