// SPDX-License-Identifier: GPL-2.0-only
/*
 * The yardstick of the performance model: the same events in C, where nobody writes.
 *
 * As many CPUs as threads and VMAs, 6.12's lock, faults only: no lock is ever waited for, so that of
 * the model's places a thread is at start, early, try, late and end, and of its rwsem at the count
 * of readers alone. Tournament, cache lines, random numbers, histogram and counters are the model's.
 */
#include <stdint.h>
#include <stdlib.h>

typedef uint64_t u64;

enum { START, EARLY, TRY, LATE, END };
enum { MM_SEQ = 1, TREE = 2, VMA_LINES = 4 };
enum { LOCAL, REMOTE, WALK, CHECKS, BODY, THINK, STOP, SEED };
enum { EVENTS, FAULTS, FAULT_TIME, LAST, FETCHED, THOUGHT };

#define WAITS INT64_MAX
#define TIE 23
#define NONE 0xFFFFFFFFULL
#define GOLDEN 0x9E3779B97F4A7C15ULL
#define STREAM 0xD1342543DE82EF95ULL
#define BUCKETS (32 * 40)

struct task { u64 pc, cpu, began, drawn, thinks, ended; };
struct due { u64 key, thread; };
struct line { u64 owner, shared, stamp, free; };
struct vma { u64 vm_lock_seq, readers; };

static struct task *task;
static struct line *line;
static struct vma *vma;
static struct due *tournament;
static u64 *copy, leaves, lines, sequence, now;
static const u64 *given;
static u64 *said, *histogram;

static u64 draw(u64 thread)
{
	u64 z = given[SEED] + thread * STREAM + ++task[thread].drawn * GOLDEN;

	z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9ULL;
	z = (z ^ z >> 27) * 0x94D049BB133111EBULL;
	return z ^ z >> 31;
}

static u64 max(u64 a, u64 b)
{
	return a > b ? a : b;
}

static void put(u64 thread, u64 key)
{
	u64 node = leaves + thread;

	tournament[node].key = key;
	while (node > 1) {
		struct due other = tournament[node ^ 1];
		u64 first = -((other.key - key) >> 63);

		thread ^= (thread ^ other.thread) & first;
		key = key < other.key ? key : other.key;
		node >>= 1;
		tournament[node] = (struct due){ key, thread };
	}
}

static void next(u64 thread, u64 pc, u64 time)
{
	task[thread].pc = pc;
	put(thread, time << TIE | (++sequence & ((1 << TIE) - 1)));
}

static u64 write_line(u64 n, u64 cpu)
{
	struct line *l = &line[n];
	u64 done;

	if (l->owner == cpu && !l->shared) {
		done = max(now, l->free) + given[LOCAL];
	} else {
		done = max(now, l->free) + given[REMOTE];
		l->free = done;
		l->owner = cpu;
		l->shared = 0;
		said[FETCHED]++;
	}
	copy[cpu * lines + n] = ++l->stamp;
	return done;
}

static u64 read_line(u64 n, u64 cpu, u64 done)
{
	struct line *l = &line[n];

	if (copy[cpu * lines + n] == l->stamp)
		return done;
	copy[cpu * lines + n] = l->stamp;
	if (l->owner == NONE)
		return done;
	done = max(done, l->free) + given[REMOTE];
	if (!l->shared) {
		l->free = done;
		l->shared = 1;
	}
	said[FETCHED]++;
	return done;
}

static u64 bucket(u64 value)
{
	u64 bits = value ? 64 - __builtin_clzll(value) : 0;
	u64 octave = (bits > 6 ? bits : 6) - 6;

	octave = octave * 32 + (value >> octave);
	return octave < BUCKETS ? octave : BUCKETS - 1;
}

static void finish(u64 thread, u64 time)
{
	u64 took = time - task[thread].began;

	said[FAULTS]++;
	said[FAULT_TIME] += took;
	histogram[bucket(took)]++;
	said[LAST] = max(said[LAST], time);
	said[THOUGHT] += task[thread].thinks;
	next(thread, START, time + task[thread].thinks);
}

static void step(u64 thread)
{
	struct task *t = &task[thread];
	u64 lock = VMA_LINES + 2 * thread + 1, time;

	switch (t->pc) {
	case START:
		if (now >= given[STOP]) {
			t->ended = now;
			put(thread, WAITS);
			break;
		}
		draw(thread);	/* whether it writes: nobody does */
		t->began = now;
		t->thinks = (given[THINK] >> 1) + draw(thread) % (given[THINK] + 1);
		next(thread, EARLY, read_line(TREE, t->cpu, now + given[WALK]));
		break;
	case EARLY:
		time = read_line(MM_SEQ, t->cpu, read_line(lock - 1, t->cpu, now));
		if (vma[thread].vm_lock_seq)
			next(thread, TRY, time + given[CHECKS]);
		break;
	case TRY:
		vma[thread].readers++;
		next(thread, LATE, write_line(lock, t->cpu));
		break;
	case LATE:
		next(thread, END, read_line(MM_SEQ, t->cpu, now) + given[BODY]);
		break;
	case END:
		vma[thread].readers--;
		finish(thread, write_line(lock, t->cpu));
		break;
	}
}

/*
 * Run to the end. `costs` is in the order of the enum above, `found` gets what it counted in the
 * order of the other, `latency` has BUCKETS words.
 */
void faults(u64 threads, const u64 *costs, u64 *found, u64 *latency)
{
	u64 n;

	for (leaves = 2; leaves < threads; leaves <<= 1)
		;
	lines = VMA_LINES + 2 * threads;
	task = calloc(threads, sizeof(*task));
	line = calloc(lines, sizeof(*line));
	vma = calloc(threads, sizeof(*vma));
	copy = calloc(threads * lines, sizeof(*copy));
	tournament = malloc(2 * leaves * sizeof(*tournament));
	given = costs;
	said = found;
	histogram = latency;
	sequence = 0;
	for (n = 0; n < 2 * leaves; n++)
		tournament[n] = (struct due){ WAITS, n >= leaves ? n - leaves : 0 };
	for (n = 0; n < lines; n++)
		line[n] = (struct line){ .owner = NONE, .stamp = 1 };
	for (n = 0; n < threads; n++) {
		vma[n].vm_lock_seq = 0xFFFFFFFF;
		next(n, START, 0);
	}
	/* Each takes a CPU first, an event of its own. */
	for (n = 0; n < threads; n++) {
		task[n].cpu = n;
		next(n, START, 0);
	}
	said[EVENTS] = threads;
	while (tournament[1].key != WAITS) {
		now = tournament[1].key >> TIE;
		said[EVENTS]++;
		step(tournament[1].thread);
	}
	free(task);
	free(line);
	free(vma);
	free(copy);
	free(tournament);
}
