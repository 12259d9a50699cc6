#!/bin/sh
# Does this kernel keep what DAMON splits by in static variables, which all kdamonds share?
# As root; needs CONFIG_DAMON and CONFIG_KALLSYMS_ALL. It looks the variables up. Where the last
# patch and CONFIG_DAMON_KUNIT_TEST are in, it also reads what the test said at boot.
results=/sys/kernel/debug/kunit/damon/results
test=damon_test_split_counts_per_ctx
grep -q ' damon_registered_ops$' /proc/kallsyms || {
	echo "CONFIG_DAMON or CONFIG_KALLSYMS_ALL is not set" >&2
	exit 2
}
failed=
if grep -E ' [bd] (last_nr_regions|rotation)(\.[0-9]+)?$' /proc/kallsyms; then
	failed="static variables"
fi
if [ -e "$results" ] && grep -q "$test" "$results"; then
	grep -A 2 "# $test: EXPECTATION FAILED" "$results"
	grep "ok [0-9]* $test" "$results"
	if grep -q "not ok [0-9]* $test" "$results"; then
		failed="$failed, $test"
	fi
fi
if [ -n "$failed" ]; then
	echo "FAIL: ${failed#, }"
	exit 1
fi
echo PASS
