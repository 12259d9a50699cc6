// SPDX-License-Identifier: GPL-2.0-only
/*
 * Whose page table entries are cleared with a flush, by whether it waits: at once
 * (ptep_clear_flush()), or left to a batch (set_tlb_ubc_flush_pending()), which x86 does for a
 * process whose page tables another CPU has loaded (arch_tlbbatch_should_defer()).
 *
 * Reclaim clears them so; a copy on write does too, in its own process and at once.
 */
#include <uapi/linux/ptrace.h>

BPF_ARRAY(own, u64, 2); // entries: of the process that runs, flushed 0 at once, 1 later
BPF_ARRAY(loaded, u64, 2); // entries: of one that another CPU has loaded, 0 at once, 1 later
BPF_ARRAY(unloaded, u64, 2); // entries: of one that no other CPU has loaded, 0 at once, 1 later

static int count(u64 mm, int later)
{
	u64 task = bpf_get_current_task(), running = 0, cpus = 0;

	bpf_probe_read_kernel(&running, sizeof(running), (void *)(task + OFFSET(task_struct, mm)));
	/* The first 64 CPUs of mm_cpumask() */
	bpf_probe_read_kernel(&cpus, sizeof(cpus), (void *)(mm + OFFSET(mm_struct, cpu_bitmap)));
	if (running == mm)
		own.atomic_increment(later);
	else if (cpus & ~(1ULL << bpf_get_smp_processor_id()))
		loaded.atomic_increment(later);
	else
		unloaded.atomic_increment(later);
	return 0;
}

int kprobe__ptep_clear_flush(struct pt_regs *ctx)
{
	u64 mm = 0;

	bpf_probe_read_kernel(&mm, sizeof(mm),
			      (void *)(PT_REGS_PARM1(ctx) + OFFSET(vm_area_struct, vm_mm)));
	return count(mm, 0);
}

int kprobe__set_tlb_ubc_flush_pending(struct pt_regs *ctx)
{
	return count(PT_REGS_PARM1(ctx), 1);
}
