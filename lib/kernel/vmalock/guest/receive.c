// SPDX-License-Identifier: GPL-2.0-only
/*
 * Threads that receive TCP without copying, and one that calls madvise() meanwhile.
 *
 *	receive RECEIVERS CALLS CHANGED LOG
 *
 * Each receiver has a connection over the loopback, and maps what comes, 64 KiB at a time, into its
 * part of one area (TCP_ZEROCOPY_RECEIVE); what can't be mapped it reads. It goes on until the last
 * of CALLS of madvise(). CHANGED says which VMA these change: "same", the one that all receive in, or
 * "other". LOG is the file of the kernel's log of VMA locks, or "-"; its first mark is of the area,
 * by a call before the others. Prints receives, bytes mapped, bytes read.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <err.h>
#include <errno.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "number.h"
#include "section.h"

#define PAGE 4096UL
#define STACK (64 * PAGE)
#define CHUNK (16 * PAGE)
#define MOST 32

static int in[MOST], out[MOST];
static char rest[MOST][CHUNK];
static pthread_barrier_t ready;
static char *area;
static atomic_bool over;
static atomic_ulong receives, mapped, copied;

static void connected(int *from, int *to)
{
	struct sockaddr_in at = { .sin_family = AF_INET };
	socklen_t length = sizeof(at);
	int one = 1, listener = socket(AF_INET, SOCK_STREAM, 0);

	at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	*from = socket(AF_INET, SOCK_STREAM, 0);
	if (bind(listener, (struct sockaddr *)&at, sizeof(at)) || listen(listener, 1) ||
	    getsockname(listener, (struct sockaddr *)&at, &length) ||
	    connect(*from, (struct sockaddr *)&at, sizeof(at)))
		err(1, "loopback");
	*to = accept(listener, NULL, NULL);
	if (*to < 0 || setsockopt(*from, SOL_SOCKET, SO_ZEROCOPY, &one, sizeof(one)))
		err(1, "loopback");
	close(listener);
}

static void *sends(void *arg)
{
	char *pages = mmap(NULL, CHUNK, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	long n = (long)arg;

	if (pages == MAP_FAILED)
		err(1, "mmap");
	pthread_barrier_wait(&ready);
	pthread_barrier_wait(&ready);
	/* With MSG_ZEROCOPY the loopback copies whole pages, which a receiver can map. */
	while (send(out[n], pages, CHUNK, MSG_ZEROCOPY | MSG_NOSIGNAL) > 0 || errno == ENOBUFS) {
		struct msghdr told = { 0 };
		char control[256];

		do {
			told.msg_control = control;
			told.msg_controllen = sizeof(control);
		} while (recvmsg(out[n], &told, MSG_ERRQUEUE | MSG_DONTWAIT) >= 0);
	}
	return NULL;
}

static void *receive(void *arg)
{
	long n = (long)arg;

	pthread_barrier_wait(&ready);
	pthread_barrier_wait(&ready);
	counted(1);
	while (!over) {
		struct tcp_zerocopy_receive zc = {
			.address = (unsigned long)(area + n * CHUNK),
			.length = CHUNK,
		};
		socklen_t length = sizeof(zc);
		ssize_t got;

		/* With less than a page to map, a receive does not come as far as a lock. */
		if (recv(in[n], rest[n], PAGE, MSG_PEEK | MSG_WAITALL) < (ssize_t)PAGE)
			err(1, "recv");
		if (getsockopt(in[n], IPPROTO_TCP, TCP_ZEROCOPY_RECEIVE, &zc, &length))
			err(1, "TCP_ZEROCOPY_RECEIVE");
		receives++;
		mapped += zc.length;
		if (!zc.recv_skip_hint)
			continue;
		got = recv(in[n], rest[n], zc.recv_skip_hint, 0);
		if (got <= 0)
			err(1, "recv");
		copied += got;
	}
	counted(0);
	/* Also a sender that waits for room. */
	shutdown(out[n], SHUT_RDWR);
	return NULL;
}

int main(int argc, char **argv)
{
	unsigned long receivers, calls, n;
	pthread_t threads[2 * MOST];
	char *other, *changed;
	pthread_attr_t attr;

	if (argc != 5)
		errx(2, "takes RECEIVERS, CALLS, same or other, and LOG; see the source");
	receivers = number(argv[1]);
	calls = number(argv[2]);
	if (!receivers || receivers > MOST)
		errx(2, "takes 1 to %d receivers", MOST);
	for (n = 0; n < receivers; n++)
		connected(&out[n], &in[n]);
	area = mmap(NULL, receivers * CHUNK, PROT_READ, MAP_SHARED, in[0], 0);
	other = mmap(NULL, receivers * CHUNK, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (area == MAP_FAILED || other == MAP_FAILED)
		err(1, "mmap");
	changed = strcmp(argv[3], "same") ? other : area;

	pthread_barrier_init(&ready, NULL, 2 * receivers + 1);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK);
	for (n = 0; n < receivers; n++)
		if (pthread_create(&threads[2 * n], &attr, sends, (void *)n) ||
		    pthread_create(&threads[2 * n + 1], &attr, receive, (void *)n))
			errx(1, "pthread_create");
	pthread_barrier_wait(&ready);
	begin(argv[4]);
	if (madvise(area, receivers * CHUNK, MADV_RANDOM))
		err(1, "madvise");
	pthread_barrier_wait(&ready);
	counted(1);
	for (n = 0; n < calls; n++) {
		if (madvise(changed, receivers * CHUNK, n % 2 ? MADV_RANDOM : MADV_SEQUENTIAL))
			err(1, "madvise");
		usleep(200);
	}
	counted(0);
	over = true;
	for (n = 0; n < 2 * receivers; n++)
		pthread_join(threads[n], NULL);
	end(argv[4]);
	printf("%lu %lu %lu\n", receives, mapped, copied);
	return 0;
}
