// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads what zerosend sends and checks every word of it.
 *
 *	zeroread udp|tcp PORT WAIT_MS [SLEEP_MS]
 *
 * Says "ready" when it can be sent to, sleeps, then reads until nothing came for WAIT_MS. One line
 * comes out: packets (of TCP: reads), bytes, packets with a word that was not sent so.
 */
#include <arpa/inet.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static uint64_t words[1 << 14];

static void die(const char *what)
{
	perror(what);
	exit(1);
}

int main(int argc, char **argv)
{
	struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = INADDR_ANY };
	unsigned long packets = 0, bytes = 0, wrong = 0, held = 0;
	int tcp, fd, from, size = 64 << 20, one = 1;
	uint64_t next = 0;
	struct pollfd ready;

	if (argc < 4)
		return 2;
	tcp = !strcmp(argv[1], "tcp");
	at.sin_port = htons(atoi(argv[2]));
	fd = socket(AF_INET, tcp ? SOCK_STREAM : SOCK_DGRAM, 0);
	if (fd < 0)
		die("socket");
	setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size));
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(fd, (void *)&at, sizeof(at)))
		die("bind");
	if (tcp && listen(fd, 1))
		die("listen");
	puts("ready");
	fflush(stdout);
	from = tcp ? accept(fd, NULL, NULL) : fd;
	if (argc > 4)
		usleep(1000 * atoi(argv[4]));
	ready = (struct pollfd){ .fd = from, .events = POLLIN };
	while (poll(&ready, 1, atoi(argv[3])) > 0) {
		ssize_t got = recv(from, (char *)words + held, sizeof(words) - held, 0);
		unsigned long n, bad = 0;

		if (got <= 0)
			break;
		packets++;
		bytes += got;
		got += held;
		if (!tcp)
			next = words[0];
		for (n = 0; n < (unsigned long)got / 8; n++, next++) {
			/* A send of TCP begins where its upper half counts on. */
			if (tcp && words[n] != next && words[n] == ((next >> 32) + 1) << 32)
				next = words[n];
			bad |= words[n] != next || words[n] == 0xeeeeeeeeeeeeeeee;
		}
		wrong += bad;
		held = tcp ? got % 8 : 0;
		memmove(words, (char *)words + got - held, held);
	}
	printf("%lu %lu %lu\n", packets, bytes, wrong);
	return 0;
}
