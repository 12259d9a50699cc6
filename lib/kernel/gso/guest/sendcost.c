// SPDX-License-Identifier: GPL-2.0-only
/*
 * What sends take: ns of all send() and, with MSG_ZEROCOPY, of being told of each.
 *
 *	sendcost ADDRESS PORT SENDS LENGTH SEGMENT ZEROCOPY
 *
 * The same pages each time, written once. A fifth as many sends come first and are not counted.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>

#define UDP_SEGMENT 103
#define SOL_UDP 17

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static long long now(void)
{
	struct timespec at;

	clock_gettime(CLOCK_MONOTONIC, &at);
	return at.tv_sec * 1000000000LL + at.tv_nsec;
}

static void once(int fd, const char *data, size_t length, int zerocopy)
{
	char control[256];
	struct msghdr msg = { .msg_control = control, .msg_controllen = sizeof(control) };

	if (send(fd, data, length, zerocopy ? MSG_ZEROCOPY : 0) != (ssize_t)length)
		die("send");
	while (zerocopy && recvmsg(fd, &msg, MSG_ERRQUEUE) < 0)
		if (errno != EAGAIN)
			die("recvmsg");
}

int main(int argc, char **argv)
{
	struct sockaddr_in to = { .sin_family = AF_INET };
	int fd = socket(AF_INET, SOCK_DGRAM, 0), one = 1, sends, segment, zerocopy, n;
	size_t length;
	long long begun;
	char *data;

	if (argc != 7)
		return 2;
	inet_pton(AF_INET, argv[1], &to.sin_addr);
	to.sin_port = htons(atoi(argv[2]));
	sends = atoi(argv[3]);
	length = atoi(argv[4]);
	segment = atoi(argv[5]);
	zerocopy = atoi(argv[6]);
	if (setsockopt(fd, SOL_SOCKET, SO_ZEROCOPY, &one, sizeof(one)) ||
	    setsockopt(fd, SOL_UDP, UDP_SEGMENT, &segment, sizeof(segment)) ||
	    connect(fd, (void *)&to, sizeof(to)))
		die("socket");
	data = mmap(NULL, length, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (data == MAP_FAILED)
		die("mmap");
	memset(data, 1, length);
	for (n = 0; n < sends / 5; n++)
		once(fd, data, length, zerocopy);
	begun = now();
	for (n = 0; n < sends; n++)
		once(fd, data, length, zerocopy);
	printf("%lld\n", now() - begun);
	return 0;
}
