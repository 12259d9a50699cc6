// SPDX-License-Identifier: GPL-2.0-only
/*
 * When khugepaged looks at which 2 MiB, and what comes of it: `result` is an enum scan_result of
 * mm/khugepaged.c, where 1 is a collapse. ns is the guest's clock.
 */

struct look {
	u64 ns;
	u64 address;
	u64 result;
};

BPF_RINGBUF_OUTPUT(looks, 64); // looks: at 2 MiB
BPF_ARRAY(collapses, u64, 1); // huge pages: made by khugepaged

KRETFUNC_PROBE(hpage_collapse_scan_pmd, void *mm, void *vma, unsigned long address,
	       void *mmap_locked, void *cc, int ret)
{
	struct look look = { bpf_ktime_get_ns(), address, ret };

	if (ret == 1)
		collapses.atomic_increment(0);
	EMIT(looks, look);
	return 0;
}
