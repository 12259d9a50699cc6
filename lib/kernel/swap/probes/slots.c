// SPDX-License-Identifier: GPL-2.0-only
/* Every swap slot range that is taken from the device, and every one that goes back to it. */

struct event {
	u64 ns;
	u64 offset;
	u32 pages;
	u32 freed;
};

BPF_RINGBUF_OUTPUT(events, 1024); // events: 4 MiB

KRETFUNC_PROBE(alloc_swap_scan_cluster, void *si, unsigned long offset, void *foundp,
	       unsigned int order, unsigned char usage, unsigned int ret)
{
	struct event event = { .ns = bpf_ktime_get_ns(), .pages = 1 << order };
	u32 found = 0;

	bpf_probe_read_kernel(&found, 4, foundp);
	event.offset = found;
	if (found)
		EMIT(events, event);
	return 0;
}

KFUNC_PROBE(swap_entry_range_free, void *si, u64 entry, unsigned int nr_pages)
{
	struct event event = { .ns = bpf_ktime_get_ns(), .pages = nr_pages, .freed = 1 };

	event.offset = entry & ((1ULL << 58) - 1);
	EMIT(events, event);
	return 0;
}
