// SPDX-License-Identifier: GPL-2.0-only
/*
 * How long mmap_lock is waited for and held, by its tracepoints, on a kernel without a patch.
 *
 * In ns of the guest's clock, which under QEMU's icount is instructions executed, and under plain
 * emulation nothing but the emulator's speed. A hold is from acquire_returned to released of one
 * thread and one mm; a writer that downgrades begins a second hold, as a reader. A hold that began
 * before the probe was there is left out.
 */
struct lock {
	u64 mm;
	u64 task;
};

struct kind {
	u64 write;
	u64 bucket;
};

struct held {
	u64 from;
	u64 write;
};

BPF_ARRAY(taken, u64, 2); // times: mmap_lock, 0 for reading, 1 for writing
BPF_ARRAY(failed, u64, 2); // times: a trylock of it failed, by the same
BPF_ARRAY(wait_ns, u64, 2); // ns: from asking to having, by the same
BPF_ARRAY(hold_ns, u64, 2); // ns: from having to releasing, by the same
BPF_HISTOGRAM(wait, struct kind, 256); // times: by ns from asking to having, 0 read, 1 write
BPF_HISTOGRAM(hold, struct kind, 256); // times: by ns from having to releasing
BPF_HASH(asked, struct lock, u64);
BPF_HASH(since, struct lock, struct held);

static void holds(struct lock *lock, u64 now)
{
	struct held *held = since.lookup(lock);
	struct kind kind = {};

	if (!held)
		return;
	kind.write = held->write;
	kind.bucket = BUCKET(now - held->from);
	hold.atomic_increment(kind);
	hold_ns.atomic_increment(kind.write, now - held->from);
	since.delete(lock);
}

TRACEPOINT_PROBE(mmap_lock, mmap_lock_start_locking)
{
	struct lock lock = { .mm = (u64)args->mm, .task = (u32)bpf_get_current_pid_tgid() };
	u64 now = bpf_ktime_get_ns();

	if (asked.update(&lock, &now))
		lost.atomic_increment(0);
	return 0;
}

TRACEPOINT_PROBE(mmap_lock, mmap_lock_acquire_returned)
{
	struct lock lock = { .mm = (u64)args->mm, .task = (u32)bpf_get_current_pid_tgid() };
	u64 now = bpf_ktime_get_ns(), *from = asked.lookup(&lock);
	struct kind kind = { .write = args->write };
	struct held held = {};

	if (!args->success) {
		failed.atomic_increment(kind.write);
		asked.delete(&lock);
		return 0;
	}
	taken.atomic_increment(kind.write);
	if (from) {
		kind.bucket = BUCKET(now - *from);
		wait.atomic_increment(kind);
		wait_ns.atomic_increment(kind.write, now - *from);
		asked.delete(&lock);
	}
	/* Of a writer that downgrades. */
	holds(&lock, now);
	held.from = now;
	held.write = kind.write;
	if (since.update(&lock, &held))
		lost.atomic_increment(0);
	return 0;
}

TRACEPOINT_PROBE(mmap_lock, mmap_lock_released)
{
	struct lock lock = { .mm = (u64)args->mm, .task = (u32)bpf_get_current_pid_tgid() };

	holds(&lock, bpf_ktime_get_ns());
	return 0;
}
