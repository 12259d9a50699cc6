#!/bin/sh
# Does this kernel keep what DAMON splits by in static variables, which all kdamonds share?
# As root; needs CONFIG_DAMON and CONFIG_KALLSYMS_ALL. It looks the variables up and runs nothing:
# what splits do is in the kunit test of the first patch, which fails without it.
grep -q ' damon_registered_ops$' /proc/kallsyms || {
	echo "CONFIG_DAMON or CONFIG_KALLSYMS_ALL is not set" >&2
	exit 2
}
if grep -E ' [bd] (last_nr_regions|rotation)(\.[0-9]+)?$' /proc/kallsyms; then
	echo "FAIL: static"
	exit 1
fi
echo PASS
