/* SPDX-License-Identifier: GPL-2.0-only */
/* Behind log.h: how many checks there were, where none of them is logged. */

KFUNC_PROBE(damon_update_region_access_rate, void *r, bool accessed, void *attrs)
{
	add(1, 1);
	return 0;
}
