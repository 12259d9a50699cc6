// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sends with MSG_ZEROCOPY and rewrites each buffer the moment it is told it may.
 *
 *	zerosend udp|tcp ADDRESS PORT SENDS LENGTH SEGMENT BUFFERS ZEROCOPY
 *
 * Word n of send s is s << 32 | n, so that a reader knows each word it gets; a buffer that was
 * given back is filled with RETURNED. SEGMENT is UDP_SEGMENT's size, 0 for none. One line comes
 * out: sends told of, those told of as copied, those not told of, and errors of sendmsg().
 */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/errqueue.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#ifndef SO_ZEROCOPY
#define SO_ZEROCOPY 60
#endif
#ifndef MSG_ZEROCOPY
#define MSG_ZEROCOPY 0x4000000
#endif
#ifndef UDP_SEGMENT
#define UDP_SEGMENT 103
#endif
#define SOL_UDP 17
#define RETURNED 0xee
#define LATEST_MS 3000

static unsigned int sends, length, buffers, told, copied, failed;
static uint64_t **buffer;
static char *done;

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static void give_back(unsigned int send)
{
	if (done[send])
		return;
	done[send] = 1;
	told++;
	memset(buffer[send % buffers], RETURNED, length);
}

/* Take in what the error queue says; returns whether it said something. */
static int hear(int fd)
{
	char control[256];
	struct msghdr msg = { .msg_control = control, .msg_controllen = sizeof(control) };
	struct sock_extended_err *said;
	unsigned int n;

	if (recvmsg(fd, &msg, MSG_ERRQUEUE) < 0) {
		if (errno == EAGAIN)
			return 0;
		die("recvmsg");
	}
	if (!CMSG_FIRSTHDR(&msg))
		return 1;
	said = (void *)CMSG_DATA(CMSG_FIRSTHDR(&msg));
	if (said->ee_origin != SO_EE_ORIGIN_ZEROCOPY)
		return 1;
	for (n = said->ee_info; n <= said->ee_data && n < sends; n++) {
		if (!done[n] && said->ee_code & SO_EE_CODE_ZEROCOPY_COPIED)
			copied++;
		give_back(n);
	}
	return 1;
}

/* Wait until a send is told of; the order in which they are is the kernel's. */
static void wait_for(int fd, unsigned int send)
{
	struct pollfd ready = { .fd = fd };

	while (!done[send]) {
		if (hear(fd))
			continue;
		if (poll(&ready, 1, LATEST_MS) == 0)
			return;
	}
}

int main(int argc, char **argv)
{
	struct sockaddr_in to = { .sin_family = AF_INET };
	int tcp, fd, one = 1, segment, zerocopy;
	unsigned int send_, n;

	if (argc != 9)
		return 2;
	tcp = !strcmp(argv[1], "tcp");
	inet_pton(AF_INET, argv[2], &to.sin_addr);
	to.sin_port = htons(atoi(argv[3]));
	sends = atoi(argv[4]);
	length = atoi(argv[5]);
	segment = atoi(argv[6]);
	buffers = atoi(argv[7]);
	zerocopy = atoi(argv[8]);

	fd = socket(AF_INET, tcp ? SOCK_STREAM : SOCK_DGRAM, 0);
	if (fd < 0)
		die("socket");
	n = 4 << 20;
	setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &n, sizeof(n));
	if (zerocopy && setsockopt(fd, SOL_SOCKET, SO_ZEROCOPY, &one, sizeof(one)))
		die("SO_ZEROCOPY");
	if (!tcp && segment && setsockopt(fd, SOL_UDP, UDP_SEGMENT, &segment, sizeof(segment)))
		die("UDP_SEGMENT");
	if (connect(fd, (void *)&to, sizeof(to)))
		die("connect");

	done = calloc(sends, 1);
	buffer = calloc(buffers, sizeof(*buffer));
	for (n = 0; n < buffers; n++) {
		buffer[n] = mmap(NULL, length, PROT_READ | PROT_WRITE,
				 MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
		if (buffer[n] == MAP_FAILED)
			die("mmap");
	}
	for (send_ = 0; send_ < sends; send_++) {
		uint64_t *words = buffer[send_ % buffers];
		unsigned int left = length;

		if (zerocopy && send_ >= buffers)
			wait_for(fd, send_ - buffers);
		if (zerocopy && send_ >= buffers && !done[send_ - buffers])
			break;		/* no buffer comes back any more */
		for (n = 0; n < length / 8; n++)
			words[n] = (uint64_t)send_ << 32 | n;
		while (left) {
			ssize_t sent = send(fd, (char *)words + length - left, left,
					    zerocopy ? MSG_ZEROCOPY : 0);

			if (sent < 0) {
				failed++;
				break;
			}
			left -= sent;
		}
		while (zerocopy && hear(fd))
			;
	}
	for (n = 0; zerocopy && n < send_; n++)
		wait_for(fd, n);
	printf("%u %u %u %u\n", told, copied, zerocopy ? send_ - told : 0, failed);
	return 0;
}
