// SPDX-License-Identifier: GPL-2.0-only
/*
 * What befalls packets sent with MSG_ZEROCOPY, on a kernel without a patch: how many segments each
 * is cut into, what is cloned and copied of it, and what its sender is told.
 *
 * A packet is a ubuf_info, from its first segmentation, clone or copy to its last completion. What
 * vhost sends has a ubuf_info too, whose completions another function counts; its segments, clones
 * and copies are here. A packet that the probe saw only the end of is in the totals alone.
 */

#define ZEROCOPY 1 /* SKBFL_ZEROCOPY_ENABLE, and bit 0 of what follows id and len */
#define SEGMENTS 1024

struct packet {
	u64 segments;
	u64 clones;
	u64 copies;
	u64 bytes;
	u64 completions;
	u64 copied;
};

BPF_ARRAY(segmentations, u64, 1); // packets: cut by skb_segment()
BPF_ARRAY(segments, u64, 1); // segments: of them
BPF_ARRAY(clones, u64, 1); // calls: of skb_clone()
BPF_ARRAY(copies, u64, 2); // calls: of skb_copy_ubufs(), 0 by skb_segment(), 1 by others
BPF_ARRAY(copied_bytes, u64, 1); // bytes: that those copied
BPF_ARRAY(completions, u64, 2); // calls: of msg_zerocopy_complete(), 0 copied, 1 sent
BPF_ARRAY(told, u64, 2); // packets: whose sender is told 0 copied, 1 sent
BPF_HASH(by_segments, u64, u64); // packets: by segments
BPF_HASH(by_clones, u64, u64); // packets: by clones
BPF_HASH(by_copies, u64, u64); // packets: by calls of skb_copy_ubufs()
BPF_HASH(by_copied_bytes, u64, u64); // packets: by bytes copied
BPF_HASH(by_completions, u64, u64); // packets: by completions
BPF_HASH(by_completions_copied, u64, u64); // packets: by completions that say copied
BPF_HASH(packets, u64, struct packet);
BPF_HASH(cutting, u64, u64); // by task: the ubuf_info of what it segments

static u64 ubuf_of(void *skb)
{
	void *head = NULL;
	u64 ubuf = 0;
	u32 end = 0;
	u8 flags = 0;

	bpf_probe_read_kernel(&head, sizeof(head), skb + OFFSET(sk_buff, head));
	bpf_probe_read_kernel(&end, sizeof(end), skb + OFFSET(sk_buff, end));
	bpf_probe_read_kernel(&flags, sizeof(flags), head + end + OFFSET(skb_shared_info, flags));
	if (!(flags & ZEROCOPY))
		return 0;
	bpf_probe_read_kernel(&ubuf, sizeof(ubuf),
			      head + end + OFFSET(skb_shared_info, destructor_arg));
	return ubuf;
}

static struct packet *packet_of(u64 ubuf)
{
	struct packet none = {};

	return packets.lookup_or_try_init(&ubuf, &none);
}

KFUNC_PROBE(skb_segment, void *head_skb, u64 features)
{
	u64 task = bpf_get_current_pid_tgid(), ubuf = ubuf_of(head_skb);

	if (ubuf && (cutting.update(&task, &ubuf) || !packet_of(ubuf)))
		lost.atomic_increment(0);
	return 0;
}

KRETFUNC_PROBE(skb_segment, void *head_skb, u64 features, void *ret)
{
	u64 task = bpf_get_current_pid_tgid(), *ubuf = cutting.lookup(&task), nr = 0;
	struct packet *packet;
	void *skb = ret;
	int i;

	if (!ubuf)
		return 0;
	segmentations.atomic_increment(0);
	/* An error is an address in the last page. */
	for (i = 0; i < SEGMENTS && skb && (u64)skb < -4095ULL; i++) {
		nr++;
		bpf_probe_read_kernel(&skb, sizeof(skb), skb);
	}
	if (i == SEGMENTS)
		lost.atomic_increment(0);
	segments.atomic_increment(0, nr);
	/* It is gone where all of it was copied first, and completed. */
	packet = packets.lookup(ubuf);
	if (packet)
		__sync_fetch_and_add(&packet->segments, nr);
	cutting.delete(&task);
	return 0;
}

KFUNC_PROBE(skb_clone, void *skb)
{
	u64 ubuf = ubuf_of(skb);
	struct packet *packet;

	if (!ubuf)
		return 0;
	clones.atomic_increment(0);
	packet = packet_of(ubuf);
	if (packet)
		__sync_fetch_and_add(&packet->clones, 1);
	else
		lost.atomic_increment(0);
	return 0;
}

KFUNC_PROBE(skb_copy_ubufs, void *skb)
{
	u64 task = bpf_get_current_pid_tgid(), ubuf = ubuf_of(skb);
	struct packet *packet;
	u32 bytes = 0;

	if (!ubuf)
		return 0;
	bpf_probe_read_kernel(&bytes, sizeof(bytes), skb + OFFSET(sk_buff, data_len));
	copies.atomic_increment(cutting.lookup(&task) ? 0 : 1);
	copied_bytes.atomic_increment(0, bytes);
	packet = packet_of(ubuf);
	if (packet) {
		__sync_fetch_and_add(&packet->copies, 1);
		__sync_fetch_and_add(&packet->bytes, bytes);
	} else {
		lost.atomic_increment(0);
	}
	return 0;
}

KFUNC_PROBE(msg_zerocopy_complete, void *skb, void *uarg, bool success)
{
	u64 ubuf = (u64)uarg;
	struct packet *packet = packets.lookup(&ubuf);
	u16 said[2] = {};
	u32 refs = 0;

	completions.atomic_increment(success ? 1 : 0);
	bpf_probe_read_kernel(&refs, sizeof(refs), uarg + OFFSET(ubuf_info, refcnt));
	if (packet) {
		__sync_fetch_and_add(&packet->completions, 1);
		if (!success)
			__sync_fetch_and_add(&packet->copied, 1);
	}
	if (refs != 1)
		return 0;
	/* struct ubuf_info_msgzc: id follows the ubuf_info, then len and the bit zerocopy. */
	bpf_probe_read_kernel(said, sizeof(said), uarg + SIZE(ubuf_info) + 4);
	if (said[0])
		told.atomic_increment(success && said[1] & ZEROCOPY ? 1 : 0);
	if (!packet)
		return 0;
	by_segments.atomic_increment(packet->segments);
	by_clones.atomic_increment(packet->clones);
	by_copies.atomic_increment(packet->copies);
	by_copied_bytes.atomic_increment(packet->bytes);
	by_completions.atomic_increment(packet->completions);
	by_completions_copied.atomic_increment(packet->copied);
	packets.delete(&ubuf);
	return 0;
}
