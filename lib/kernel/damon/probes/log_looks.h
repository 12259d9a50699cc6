/* SPDX-License-Identifier: GPL-2.0-only */
/* Behind log_numbers.h: looks at the watermarks, and what is free then. */

/* What damos_get_wmark_metric_value() reads; NR_FREE_PAGES is the first of a zone's counters. */
static inline void look(u32 rest)
{
	u64 free = 0, total = 0;

	bpf_probe_read_kernel(&free, sizeof(free), (void *)ADDRESS(vm_zone_stat));
	bpf_probe_read_kernel(&total, sizeof(total), (void *)ADDRESS(_totalram_pages));
	note(0, free, total, rest, 0);
}

/* Behind kdamond_wait_activation(). */
KFUNC_PROBE(damon_va_prepare_access_checks, void *context)
{
	look(0);
	return 0;
}

KFUNC_PROBE(schedule_timeout_idle, long timeout)
{
	char name[16];

	bpf_get_current_comm(name, sizeof(name));
	if (name[0] == 'k' && name[1] == 'd' && name[2] == 'a' && name[3] == 'm')
		look(timeout);
	return 0;
}
