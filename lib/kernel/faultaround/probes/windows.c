// SPDX-License-Identifier: GPL-2.0-only
/*
 * Each fault of a mapping of a memfd: the number of its page in the address space, and the window,
 * in pages of the file, that it was told to map; 1 to 0 for none. For one task that faults.
 */

struct fault {
	u64 page;
	u64 start;
	u64 end;
};

BPF_ARRAY(window, struct fault, 1);
BPF_RINGBUF_OUTPUT(faults, 256); // faults: of a mapping of a memfd

static __always_inline bool of_memfd(u64 vma)
{
	u64 ops = 0;

	bpf_probe_read_kernel(&ops, 8, (void *)vma + OFFSET(vm_area_struct, vm_ops));
	return ops == ADDRESS(shmem_anon_vm_ops);
}

KFUNC_PROBE(filemap_map_pages, void *vmf, unsigned long start, unsigned long end)
{
	struct fault fault = { .start = start, .end = end };
	u64 vma = 0;
	int only = 0;

	bpf_probe_read_kernel(&vma, 8, vmf);	/* the first field of struct vm_fault */
	if (of_memfd(vma))
		window.update(&only, &fault);
	return 0;
}

KRETFUNC_PROBE(handle_mm_fault, void *vma, unsigned long address, unsigned int flags, void *regs,
	       unsigned int ret)
{
	struct fault none = { .start = 1 }, fault = none, *seen;
	int only = 0;

	seen = window.lookup(&only);
	if (!seen || !of_memfd((u64)vma))
		return 0;
	fault = *seen;
	fault.page = address >> 12;
	EMIT(faults, fault);
	window.update(&only, &none);
	return 0;
}
