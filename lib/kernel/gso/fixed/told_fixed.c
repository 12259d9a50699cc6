// SPDX-License-Identifier: GPL-2.0
/*
 * msg_zerocopy_complete() of a running kernel, with upstream/one-word-for-many: patched.h, which the
 * Makefile makes, has the three functions of the patched source.
 */
#include <linux/errqueue.h>
#include <linux/livepatch.h>
#include <linux/module.h>
#include <linux/skbuff.h>
#include <net/sock.h>

#include "patched.h"

static struct klp_func funcs[] = {
	{ .old_name = "msg_zerocopy_complete", .new_func = msg_zerocopy_complete },
	{ }
};

static struct klp_object objects[] = {
	{ .funcs = funcs },	/* of vmlinux */
	{ }
};

static struct klp_patch patch = { .mod = THIS_MODULE, .objs = objects };

static int __init told_fixed_init(void)
{
	return klp_enable_patch(&patch);
}

static void __exit told_fixed_exit(void)
{
}

module_init(told_fixed_init);
module_exit(told_fixed_exit);
MODULE_DESCRIPTION("A MSG_ZEROCOPY notification that is extended tells of copies");
MODULE_LICENSE("GPL");
MODULE_INFO(livepatch, "Y");
