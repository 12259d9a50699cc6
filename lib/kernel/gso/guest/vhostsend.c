// SPDX-License-Identifier: GPL-2.0-only
/*
 * A guest's network driver without the guest: hands packets to vhost-net over a virtqueue, and
 * rewrites each buffer the moment vhost says that it was used.
 *
 *	vhostsend TAP udp|tcp SENDS LENGTH SEGMENT BUFFERS
 *
 * A packet goes from 192.0.2.9 to 192.0.2.2 with LENGTH bytes of payload as zerosend has them, to be
 * segmented at SEGMENT (VIRTIO_NET_HDR_GSO_UDP_L4 or _TCPV4; 0: not). Of TCP there is no connection.
 * One line comes out: packets given back, packets that were not, and ns that the thread of vhost
 * ran.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <linux/vhost.h>
#include <linux/virtio_net.h>
#include <linux/virtio_ring.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#ifndef TUN_F_USO4
#define TUN_F_USO4 0x20
#define TUN_F_USO6 0x40
#endif
#define GSO_UDP_L4 5	/* VIRTIO_NET_HDR_GSO_UDP_L4, which older headers lack */
#define ENTRIES 256
#define TX 1
#define BELOW 34	/* Ethernet, IPv4 */
#define PAGE 4096
#define RETURNED 0xee
#define LATEST_MS 3000

struct frame {
	uint8_t to[6], from[6];
	uint16_t type;
	uint8_t version, tos;
	uint16_t length, id, fragment;
	uint8_t ttl, protocol;
	uint16_t sum;
	uint32_t source, destination;
	uint16_t source_port, port;
	union {
		struct {
			uint16_t size, sum;
		} udp;
		struct {
			uint32_t seq, ack;
			uint8_t words, flags;
			uint16_t window, sum, urgent;
		} __attribute__((packed)) tcp;
	};
} __attribute__((packed));

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static uint32_t add(const void *from, unsigned int bytes, uint32_t sum)
{
	const uint8_t *at = from;
	unsigned int n;

	for (n = 0; n < bytes; n += 2)
		sum += at[n] << 8 | at[n + 1];
	return sum;
}

static uint16_t fold(uint32_t sum)
{
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return htons(sum);
}

/* Write the headers, and say what they take. */
static unsigned int fill(struct frame *f, int tcp, unsigned int seq, unsigned int length)
{
	unsigned int own = tcp ? 20 : 8;
	uint32_t sum;

	memcpy(f->to, "\x52\x54\0\0\0\x02", 6);
	memcpy(f->from, "\x52\x54\0\0\0\x09", 6);
	f->type = htons(0x0800);
	f->version = 0x45;
	f->length = htons(20 + own + length);
	f->ttl = 64;
	f->protocol = tcp ? 6 : 17;
	f->source = inet_addr("192.0.2.9");
	f->destination = inet_addr("192.0.2.2");
	f->sum = ~fold(add(&f->version, 20, 0));
	f->source_port = f->port = htons(4791);
	/* What the checksum starts from: the pseudo-header. */
	sum = add(&f->source, 8, f->protocol + own + length);
	if (tcp) {
		f->tcp.seq = htonl(seq);
		f->tcp.words = own / 4 << 4;
		f->tcp.flags = 0x10; /* ACK */
		f->tcp.window = 0xffff;
		f->tcp.sum = fold(sum);
	} else {
		f->udp.size = htons(own + length);
		f->udp.sum = fold(sum);
	}
	return BELOW + own;
}

static int open_tap(const char *name)
{
	struct ifreq ifr = { .ifr_flags = IFF_TAP | IFF_NO_PI | IFF_VNET_HDR };
	int fd = open("/dev/net/tun", O_RDWR | O_NONBLOCK);

	if (fd < 0)
		die("/dev/net/tun");
	strncpy(ifr.ifr_name, name, IFNAMSIZ - 1);
	if (ioctl(fd, TUNSETIFF, &ifr))
		die("TUNSETIFF");
	if (ioctl(fd, TUNSETOFFLOAD, TUN_F_CSUM | TUN_F_TSO4 | TUN_F_TSO6 | TUN_F_USO4 | TUN_F_USO6))
		die("TUNSETOFFLOAD");
	return fd;
}

static long long ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return now.tv_sec * 1000000000LL + now.tv_nsec;
}

/* What the process has run but not this thread: vhost's thread, which is one of the process. */
static long long elsewhere(void)
{
	return ns(CLOCK_PROCESS_CPUTIME_ID) - ns(CLOCK_THREAD_CPUTIME_ID);
}

int main(int argc, char **argv)
{
	struct vhost_vring_file file = { .index = TX };
	struct vhost_vring_state state = { .index = TX, .num = ENTRIES };
	struct vhost_vring_addr addr = { .index = TX };
	unsigned int sends, length, segment, buffers, s, n, told = 0, idles = 0;
	unsigned int idle[ENTRIES];
	struct vhost_memory *table;
	struct vring_desc *desc;
	struct vring_avail *avail;
	volatile struct vring_used *used;
	size_t each, whole;
	uint64_t features = 0, one = 1;
	int tap, vhost, kick, call, tcp;
	long long begun, ended;
	char *arena, *data;

	if (argc != 7)
		return 2;
	tcp = !strcmp(argv[2], "tcp");
	sends = atoi(argv[3]);
	length = atoi(argv[4]);
	segment = atoi(argv[5]);
	buffers = atoi(argv[6]);
	while (idles < buffers) {
		idle[idles] = idles;
		idles++;
	}
	each = PAGE + ((length + PAGE - 1) & ~(size_t)(PAGE - 1));
	whole = 8 * PAGE + buffers * each;
	arena = mmap(NULL, whole, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (arena == MAP_FAILED)
		die("mmap");
	desc = (void *)arena;
	avail = (void *)(arena + 2 * PAGE);
	used = (void *)(arena + 4 * PAGE);
	data = arena + 8 * PAGE;

	tap = open_tap(argv[1]);
	vhost = open("/dev/vhost-net", O_RDWR);
	if (vhost < 0)
		die("/dev/vhost-net");
	kick = eventfd(0, 0);
	call = eventfd(0, 0);
	if (ioctl(vhost, VHOST_SET_OWNER, NULL) || ioctl(vhost, VHOST_SET_FEATURES, &features))
		die("VHOST_SET_FEATURES");
	table = calloc(1, sizeof(*table) + sizeof(table->regions[0]));
	table->nregions = 1;
	/* What the guest calls an address is ours. */
	table->regions[0].guest_phys_addr = table->regions[0].userspace_addr = (uintptr_t)arena;
	table->regions[0].memory_size = whole;
	if (ioctl(vhost, VHOST_SET_MEM_TABLE, table))
		die("VHOST_SET_MEM_TABLE");
	if (ioctl(vhost, VHOST_SET_VRING_NUM, &state))
		die("VHOST_SET_VRING_NUM");
	state.num = 0;
	if (ioctl(vhost, VHOST_SET_VRING_BASE, &state))
		die("VHOST_SET_VRING_BASE");
	addr.desc_user_addr = (uintptr_t)desc;
	addr.avail_user_addr = (uintptr_t)avail;
	addr.used_user_addr = (uintptr_t)used;
	if (ioctl(vhost, VHOST_SET_VRING_ADDR, &addr))
		die("VHOST_SET_VRING_ADDR");
	file.fd = kick;
	if (ioctl(vhost, VHOST_SET_VRING_KICK, &file))
		die("VHOST_SET_VRING_KICK");
	file.fd = call;
	if (ioctl(vhost, VHOST_SET_VRING_CALL, &file))
		die("VHOST_SET_VRING_CALL");
	/* The tap is bridged by who runs us; wait for the word. */
	puts("ready");
	fflush(stdout);
	getchar();
	file.fd = tap;
	if (ioctl(vhost, VHOST_NET_SET_BACKEND, &file))
		die("VHOST_NET_SET_BACKEND");

	begun = elsewhere();
	for (s = 0; s < sends || told < sends;) {
		struct pollfd ready = { .fd = call, .events = POLLIN };
		uint16_t seen = used->idx;

		/* Not in order: what vhost copies itself it gives back at once. */
		for (; (uint16_t)told != seen; told++) {
			unsigned int b = used->ring[told % ENTRIES].id / 3;

			memset(data + b * each + PAGE, RETURNED, length);
			idle[idles++] = b;
		}
		if (s < sends && idles) {
			unsigned int b = idle[--idles];
			char *at = data + b * each;
			struct virtio_net_hdr *hdr = (void *)at;
			uint64_t *words = (void *)(at + PAGE);
			unsigned int d = 3 * b, headers;

			memset(hdr, 0, sizeof(*hdr));
			hdr->flags = VIRTIO_NET_HDR_F_NEEDS_CSUM;
			if (segment)
				hdr->gso_type = tcp ? VIRTIO_NET_HDR_GSO_TCPV4 : GSO_UDP_L4;
			hdr->gso_size = segment;
			memset(at + 64, 0, sizeof(struct frame));
			headers = fill((void *)(at + 64), tcp, s * length, length);
			hdr->hdr_len = headers;
			hdr->csum_start = BELOW;
			hdr->csum_offset = tcp ? 16 : 6;
			for (n = 0; n < length / 8; n++)
				words[n] = (uint64_t)s << 32 | n;
			desc[d] = (struct vring_desc){ (uintptr_t)hdr, sizeof(*hdr),
						       VRING_DESC_F_NEXT, d + 1 };
			desc[d + 1] = (struct vring_desc){ (uintptr_t)at + 64, headers,
							   VRING_DESC_F_NEXT, d + 2 };
			desc[d + 2] = (struct vring_desc){ (uintptr_t)words, length, 0, 0 };
			avail->ring[s % ENTRIES] = d;
			__atomic_thread_fence(__ATOMIC_SEQ_CST);
			avail->idx = ++s;
			__atomic_thread_fence(__ATOMIC_SEQ_CST);
			if (write(kick, &one, sizeof(one)) < 0)
				die("kick");
			continue;
		}
		if (poll(&ready, 1, LATEST_MS) == 0 && used->idx == seen)
			break;
		if (ready.revents && read(call, &one, sizeof(one)) < 0)
			die("call");
		one = 1;
	}
	ended = elsewhere();
	printf("%u %u %lld\n", told, s - told, ended - begun);
	return 0;
}
