// SPDX-License-Identifier: GPL-2.0-only
/*
 * lorelab.gso.model.traffic in C, for `make bench`: the same loop and the same counters.
 */
#include <stdint.h>

typedef uint64_t u64;
typedef uint32_t u32;

struct setting {
	u64 sends, length, segment, zerocopy, held, loss, reorder, tap, received;
	u64 copies, at_send, counts, transfers, parent, clone_gets, flagged;
	u64 head_truesize, info_bytes;
};

struct counted {
	u64 told, copied, sent, wrong, segmentations, holds, clones, copies, copied_bytes;
	u64 completions, completions_copied, allocations, atomics, lines, truesize, tap_wrong;
};

struct rnd_state {
	u32 s1, s2, s3, s4;
};

static u32 seed_of(u32 x, u32 least)
{
	return x < least ? x + least : x;
}

#define TAUSWORTHE(s, a, b, c, d) (((s & c) << d) ^ (((s << a) ^ s) >> b))

static inline u32 prandom_u32_state(struct rnd_state *s)
{
	s->s1 = TAUSWORTHE(s->s1, 6U, 13U, 4294967294U, 18U);
	s->s2 = TAUSWORTHE(s->s2, 2U, 27U, 4294967288U, 2U);
	s->s3 = TAUSWORTHE(s->s3, 13U, 21U, 4294967280U, 7U);
	s->s4 = TAUSWORTHE(s->s4, 3U, 12U, 4294967168U, 13U);
	return s->s1 ^ s->s2 ^ s->s3 ^ s->s4;
}

static inline u64 pages(u64 start, u64 size)
{
	return (start + size - 1) / 4096 - start / 4096 + 1;
}

void run(const struct setting *s, u64 seed, struct counted *c)
{
	u32 i = (seed >> 32) ^ (seed << 10) ^ seed;
	struct rnd_state state = { seed_of(i, 2), seed_of(i, 8), seed_of(i, 16), seed_of(i, 128) };
	u64 k = (s->length + s->segment - 1) / s->segment;
	u64 whole = pages(0, s->length), n, at, seg;
	int user = s->zerocopy && !s->at_send, segmented = k > 1;
	int orphaned = user && s->copies && segmented, kept = user && !orphaned;
	int marked = kept && (s->counts || (s->parent && s->flagged) || k == 1);

	for (n = 0; n < s->sends; n++) {
		int any_copy = orphaned || (s->zerocopy && !user), last_early = 0;
		int kept_back;
		u64 waiting = 0, lent = 0;

		c->allocations += 2 + !!s->zerocopy + (user ? 0 : whole);
		c->atomics += 2 * whole;
		if (orphaned) {
			c->copies++;
			c->copied_bytes += s->length;
			c->allocations += whole;
			c->atomics += 2 * whole;
			c->completions++;
			c->completions_copied++;
		}
		for (seg = 0, at = 0; seg < k; seg++, at += s->segment) {
			u64 size = s->segment < s->length - at ? s->segment : s->length - at;
			u64 frags = pages(at, size);
			int last = seg == k - 1;
			int flagged = marked || (kept && s->transfers && last);
			int dropped, ahead;

			if (segmented) {
				c->allocations += 2;
				c->atomics += 2 * frags;
				c->truesize += s->head_truesize + size;
			}
			c->lines += (s->info_bytes + 16 * frags + 63) >> 6;
			dropped = s->loss && s->loss >= prandom_u32_state(&state);
			ahead = !dropped && s->reorder && s->reorder >= prandom_u32_state(&state);
			if (last && s->transfers && kept)
				last_early = dropped || ahead;
			if (!dropped) {
				c->sent++;
				waiting += s->held && !ahead;
				if (s->tap) {
					c->clones++;
					c->allocations++;
					c->atomics += 2;
					if (flagged) {
						c->copies++;
						c->copied_bytes += size;
						c->allocations += 1 + pages(0, size);
						any_copy = 1;
						if (s->counts || s->transfers || k == 1) {
							c->atomics += 2;
							c->completions++;
							c->completions_copied++;
						}
					} else if (kept) {
						lent++;
						c->atomics += s->clone_gets;
					}
				}
				if (s->received && flagged) {
					c->copies++;
					c->copied_bytes += size;
					c->allocations += pages(0, size);
					any_copy = 1;
					c->completions_copied += s->counts || k == 1;
				}
			}
			if (kept && segmented) {
				if (s->counts) {
					c->completions++;
					c->atomics += 2;
				}
				if (s->parent)
					c->atomics += 2;
			}
		}
		kept_back = lent && s->clone_gets;
		if (kept && !kept_back) {
			c->completions++;
			c->atomics++;
		}
		if (last_early ||
		    (kept && segmented && !(s->counts || s->parent || s->transfers)))
			c->wrong += waiting;
		if (s->zerocopy && !kept_back) {
			c->told++;
			c->tap_wrong += lent;
			c->copied += any_copy;
		}
	}
	if (segmented) {
		c->segmentations += s->sends;
		if (s->counts || s->copies || !s->zerocopy)
			c->holds += s->sends * k;
	}
}
