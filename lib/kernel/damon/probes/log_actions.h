/* SPDX-License-Identifier: GPL-2.0-only */
/* Behind log.h: the time that actions of schemes take. */

BPF_ARRAY(applying, u64, 2);

KFUNC_PROBE(damon_va_apply_scheme, void *context)
{
	u32 one = 1;
	u64 *began = applying.lookup(&one);

	if (began)
		*began = bpf_ktime_get_ns();
	return 0;
}

KRETFUNC_PROBE(damon_va_apply_scheme, void *context)
{
	u32 zero = 0, one = 1;
	u64 *took = applying.lookup(&zero), *began = applying.lookup(&one);

	if (took && began)
		*took += bpf_ktime_get_ns() - *began;
	return 0;
}
