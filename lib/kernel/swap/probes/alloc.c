// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which clusters serve swap slot allocations, and how much of swap_map they read (mm/swapfile.c
 * of 6.12), on a kernel without a patch.
 *
 * cluster_alloc_swap_entry(), which decides, is inlined into get_swap_pages(). What it decided
 * shows in alloc_swap_scan_cluster(), which it calls for each cluster it searches:
 *
 *   current   first call of an allocation, while the CPU's next[order] is set
 *   free      the cluster is flagged free
 *   steal     order 0, in a cluster of another order
 *   nonfull   frag_cluster_nr[order] went up since the call before: it came off the nonfull list
 *   frag      none of these
 *
 * si->lock is held throughout an allocation, so this is exact where one CPU allocates. Where
 * several do, another may change frag_cluster_nr between the entry of get_swap_pages() and the
 * lock, and nonfull and frag are then taken for each other. It is for one swap area, and counts
 * nothing for one without clusters.
 */
#define SWAPFILE_CLUSTER 512
#define SWAP_HAS_CACHE 0x40
#define SWAP_BATCH 64
#define CLUSTER_FLAG_FREE 1
#define NR_ORDERS 10

enum { CURRENT, FREE, NONFULL, FRAG, STEAL };

struct call {
	s64 goal;	/* allocations that get_swap_pages() goes for */
	u64 read;	/* bytes of swap_map so far */
	u32 frags;	/* frag_cluster_nr[order] when last seen */
	u32 first;	/* the next search is an allocation's first */
	u32 path;
};

struct read {
	u64 order;
	u64 bucket;
};

struct cluster {
	u8 map[SWAPFILE_CLUSTER];
};

BPF_ARRAY(by_current, u64, NR_ORDERS); // allocations: served by the CPU's current cluster, by order
BPF_ARRAY(by_free, u64, NR_ORDERS); // allocations: from the free list
BPF_ARRAY(by_nonfull, u64, NR_ORDERS); // allocations: from the order's nonfull list
BPF_ARRAY(by_frag, u64, NR_ORDERS); // allocations: from the order's frag list
BPF_ARRAY(by_steal, u64, NR_ORDERS); // allocations: of order 0, from another order's lists
BPF_ARRAY(failed, u64, NR_ORDERS); // allocations: that got nothing
BPF_ARRAY(visited, u64, NR_ORDERS); // clusters: searched
BPF_ARRAY(scanned, u64, NR_ORDERS); // slots: read in swap_map
BPF_HISTOGRAM(read, struct read, 1024); // calls: of get_swap_pages(), by slots read
BPF_HASH(calls, u64, struct call);
BPF_PERCPU_ARRAY(clusters, struct cluster, 1);

static u32 frag_clusters(void *si, u32 order)
{
	u32 nr = 0;

	bpf_probe_read_kernel(&nr, sizeof(nr),
			      si + OFFSET(swap_info_struct, frag_cluster_nr) + 4 * order);
	return nr;
}

/* this_cpu_ptr(si->percpu_cluster)->next[order] */
static u32 next_offset(void *si, u32 order)
{
	u64 percpu = 0, base = 0, cpu = bpf_get_smp_processor_id();
	u32 next = 0;

	bpf_probe_read_kernel(&percpu, 8, si + OFFSET(swap_info_struct, percpu_cluster));
	bpf_probe_read_kernel(&base, 8, (void *)ADDRESS(__per_cpu_offset) + 8 * cpu);
	bpf_probe_read_kernel(&next, 4, (void *)(percpu + base) + 4 * order);
	return next;
}

static void *cluster_info(void *si, u64 offset)
{
	void *info = NULL;

	bpf_probe_read_kernel(&info, 8, si + OFFSET(swap_info_struct, cluster_info));
	return info + offset / SWAPFILE_CLUSTER * SIZE(swap_cluster_info);
}

KFUNC_PROBE(get_swap_pages, int n_goal, void *entries, int order)
{
	u64 task = bpf_get_current_pid_tgid();
	struct call call = { .first = 1 };
	void *si = NULL;

	bpf_probe_read_kernel(&si, 8, (void *)ADDRESS(swap_info));
	bpf_probe_read_kernel(&call.goal, 8, (void *)ADDRESS(nr_swap_pages));
	call.goal >>= order;
	if (call.goal > n_goal)
		call.goal = n_goal;
	if (call.goal > SWAP_BATCH)
		call.goal = SWAP_BATCH;
	call.frags = frag_clusters(si, order);
	if (calls.update(&task, &call))
		lost.atomic_increment(0);
	return 0;
}

KFUNC_PROBE(alloc_swap_scan_cluster, void *si, unsigned long offset, void *foundp,
	    unsigned int order)
{
	u64 task = bpf_get_current_pid_tgid();
	struct call *call = calls.lookup(&task);
	u8 flags = 0, its_order = 0;
	void *ci;
	u32 nr;

	if (!call)
		return 0;
	visited.atomic_increment(order);
	nr = frag_clusters(si, order);
	ci = cluster_info(si, offset);
	bpf_probe_read_kernel(&flags, 1, ci + OFFSET(swap_cluster_info, flags));
	bpf_probe_read_kernel(&its_order, 1, ci + OFFSET(swap_cluster_info, order));
	if (call->first && next_offset(si, order))
		call->path = CURRENT;
	else if (flags == CLUSTER_FLAG_FREE)
		call->path = FREE;
	else if (!order && its_order)
		call->path = STEAL;
	else
		call->path = nr > call->frags ? NONFULL : FRAG;
	call->frags = nr;
	call->first = 0;
	return 0;
}

/* Bytes that cluster_scan_range() read: all of a range, or up to the first that stopped it. */
static u64 bytes_read(void *si, u64 from, u64 to, u32 order)
{
	u64 start = from & ~(SWAPFILE_CLUSTER - 1ULL), sum = 0, total = 0;
	s64 available = 0;
	int zero = 0, i, full, stopped = 0;
	struct cluster *cluster = clusters.lookup(&zero);
	void *map = NULL;

	if (!cluster)
		return 0;
	bpf_probe_read_kernel(&map, 8, si + OFFSET(swap_info_struct, swap_map));
	if (bpf_probe_read_kernel(cluster->map, SWAPFILE_CLUSTER, map + start))
		lost.atomic_increment(0);
	/* vm_swap_full() */
	bpf_probe_read_kernel(&available, 8, (void *)ADDRESS(nr_swap_pages));
	bpf_probe_read_kernel(&total, 8, (void *)ADDRESS(total_swap_pages));
	full = available * 2 < (s64)total;
	for (i = 0; i < SWAPFILE_CLUSTER; i++) {
		u8 use = cluster->map[i];

		if (start + i < from || start + i >= to)
			continue;
		if (!(i & ((1 << order) - 1)))
			stopped = 0;
		if (stopped)
			continue;
		sum++;
		if (use && !(full && use == SWAP_HAS_CACHE))
			stopped = 1;
	}
	return sum;
}

KRETFUNC_PROBE(alloc_swap_scan_cluster, void *si, unsigned long offset, void *foundp,
	       unsigned int order, unsigned char usage, unsigned int ret)
{
	u64 task = bpf_get_current_pid_tgid(), end, nr;
	struct call *call = calls.lookup(&task);
	u32 found = 0, max = 0;
	u16 count = 0;

	if (!call || order >= NR_ORDERS)
		return 0;
	bpf_probe_read_kernel(&found, 4, foundp);
	bpf_probe_read_kernel(&max, 4, si + OFFSET(swap_info_struct, max));
	bpf_probe_read_kernel(&count, 2,
			      cluster_info(si, offset) + OFFSET(swap_cluster_info, count));
	end = (offset | (SWAPFILE_CLUSTER - 1)) + 1;
	if (end > max)
		end = max;
	if (found)
		nr = bytes_read(si, offset, found, order) + (1 << order);
	else if (count + (1 << order) > SWAPFILE_CLUSTER)
		nr = 0;
	else
		nr = bytes_read(si, offset, end, order);
	call->read += nr;
	scanned.atomic_increment(order, nr);
	call->frags = frag_clusters(si, order);
	if (!found)
		return 0;
	call->first = 1;
	if (call->path == CURRENT)
		by_current.atomic_increment(order);
	else if (call->path == FREE)
		by_free.atomic_increment(order);
	else if (call->path == NONFULL)
		by_nonfull.atomic_increment(order);
	else if (call->path == FRAG)
		by_frag.atomic_increment(order);
	else
		by_steal.atomic_increment(order);
	return 0;
}

KRETFUNC_PROBE(get_swap_pages, int n_goal, void *entries, int order, int ret)
{
	u64 task = bpf_get_current_pid_tgid();
	struct call *call = calls.lookup(&task);
	struct read bucket = { .order = order };

	if (!call)
		return 0;
	if (call->goal <= 0 || ret < call->goal)
		failed.atomic_increment(order);
	bucket.bucket = BUCKET(call->read);
	read.atomic_increment(bucket);
	calls.delete(&task);
	return 0;
}
