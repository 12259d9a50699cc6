/*
 * Faults, mprotect() and munmap() under per-VMA locks, in Promela, for spin.
 *
 * Written by hand beside lorelab.vmalock.model.protocol, a statement for each of its steps, so that
 * both reach the same states:
 *
 *	VERSION	2 (the thread's v2), 612 (6.12) or 73 (7.3)
 *	FAULTS	threads that fault at page 0
 *	WRITERS	as many of them run mprotect(), the first at page 0, the others at FLAGS_PAGE
 *	UNMAP	another runs munmap() of page 0
 *	MASK	the sequences count modulo MASK + 1
 *
 * NO_LATE, NO_DETACHED, NO_WAIT and FREE_AT_ONCE leave out what breaks the protocol. VMA 1 covers
 * page 0, VMA 2 page 1; both have their anon_vma.
 */

#ifndef FLAGS_PAGE
#define FLAGS_PAGE 1
#endif

#define UNUSED	0
#define LIVE	1
#define WAITING	2
#define FREED	3

typedef Vma {
	byte seq = MASK;
#if VERSION == 73
	byte count = 1;		/* vm_refcnt without its flag */
#else
	byte count = 0;		/* readers of the semaphore */
#endif
	bit exclusive = 0;
	bit waiters = 0;
	bit detached = 0;
	bit may_write = 1;
	bit marked = 0;
	byte life = LIVE;
	byte grace = 0;
	byte inside = 0;	/* faults that are handled under its lock */
};

Vma vma[3];
byte mm_seq, readers, writer;
byte tree[2], pte[2];
bit zapped[2];

#define ME (_pid - 1)

#if VERSION == 73
#define TOUCH assert(vma[v].life != FREED || rcu)
#else
#define TOUCH assert(vma[v].life != FREED)
#endif

inline clear_grace(n)
{
	vma[n].grace = vma[n].grace & ~(1 << ME);
	if
	:: vma[n].life == WAITING && vma[n].grace == 0 -> vma[n].life = FREED
	:: else
	fi
}

inline end_rcu()
{
	rcu = 0;
	in_rcu = in_rcu & ~(1 << ME);
	clear_grace(1);
	clear_grace(2)
}

inline begin_rcu()
{
	rcu = 1;
	in_rcu = in_rcu | (1 << ME)
}

inline enter()
{
	assert(vma[v].life == LIVE && !vma[v].detached && !vma[v].marked);
	vma[v].inside++
}

byte in_rcu;

inline set_pte()
{
	assert(vma[v].may_write == loaded);
	assert(!zapped[p]);
	if
	:: loaded -> pte[p] = 2
	:: else -> pte[p] = 1
	fi
}

/* Macros, not inline: a label is no argument of an inline. */

#define put(woken)                                       \
	atomic { TOUCH; loaded = 0 };                    \
	atomic {                                         \
		TOUCH;                                   \
		assert(vma[v].count > 0);                \
		vma[v].count--;                          \
		if                                       \
		:: vma[v].exclusive && vma[v].count <= 1 \
		:: else -> goto woken                    \
		fi                                       \
	};                                               \
	skip

#define up_read(woken)                    \
	atomic {                          \
		TOUCH;                    \
		assert(vma[v].count > 0); \
		vma[v].count--;           \
		if                        \
		:: vma[v].waiters         \
		:: else -> goto woken     \
		fi                        \
	};                                \
	atomic { TOUCH; skip }

proctype fault(byte p)
{
	byte v, seq, loaded;
	bit rcu;

#if VERSION == 73
retry:
	atomic { begin_rcu() };
#else
	atomic { begin_rcu() };
retry:
#endif
	atomic {
		v = tree[p];
		if
		:: v == 0 -> goto inval
		:: else
		fi
	};
	atomic { TOUCH; seq = vma[v].seq };
	atomic {
		TOUCH;
		if
		:: seq == mm_seq -> goto inval
		:: else
		fi
	};
#if VERSION == 73
	atomic {
		TOUCH;
		if
		:: vma[v].exclusive -> goto inval
		:: !vma[v].exclusive && vma[v].count == 0 -> goto isolated
		:: else -> vma[v].count++
		fi
	};
	atomic { TOUCH; skip };		/* vm_mm is ours */
#else
	atomic {
		TOUCH;
		if
		:: vma[v].exclusive || vma[v].waiters -> goto inval
		:: else -> vma[v].count++
		fi
	};
#endif
#ifndef NO_LATE
	atomic { TOUCH; seq = vma[v].seq };
	atomic {
		TOUCH;
		if
		:: seq == mm_seq -> goto inval_up
		:: else
		fi
	};
#endif
#if VERSION == 73
	atomic { end_rcu() };
	atomic { TOUCH; enter() };	/* the address is in the range */
#else
#ifndef NO_DETACHED
	atomic {
		TOUCH;
		if
		:: vma[v].detached -> goto miss
		:: else
		fi
	};
#endif
	atomic { TOUCH; skip };		/* the address is in the range */
	atomic { end_rcu(); enter() };
#endif
	atomic { TOUCH; skip };		/* anon_vma is set */
	atomic { TOUCH; loaded = v - 1 };
	atomic { TOUCH; skip };		/* vm_pgoff */
	atomic { TOUCH; loaded = vma[v].may_write };
	atomic { TOUCH; set_pte(); vma[v].inside-- };
#if VERSION == 73
	put(done);
	goto done;
isolated:
	atomic { end_rcu() };
	goto retry;
inval_up:
	put(inval);
#else
	atomic { begin_rcu() };
	up_read(woken);
woken:
	atomic { end_rcu() };
	goto done;
miss:
	up_read(retry);
	goto retry;
inval_up:
	up_read(inval);
#endif
inval:
	atomic { end_rcu() };
	atomic { writer == 0 -> readers++ };
	atomic {
		v = tree[p];
		if
		:: v == 0 -> goto no_vma
		:: else
		fi
	};
	skip;				/* anon_vma_prepare() */
	loaded = vma[v].may_write;
	atomic { set_pte() };
no_vma:
	readers--;
done:
end:
	false
}

inline mmap_write_lock()
{
	atomic { writer == 0 && readers == 0 -> writer = ME + 1 };
#if VERSION != 2
	mm_seq = (mm_seq + 1) & MASK
#endif
}

inline vma_end_write_all()
{
	atomic {
		mm_seq = (mm_seq + 1) & MASK;
		vma[1].marked = 0;
		vma[2].marked = 0
	}
}

#define unless_marked(marked_it)                    \
	atomic {                                    \
		if                                  \
		:: vma[v].seq == mm_seq ->          \
			vma[v].marked = 1;          \
			assert(vma[v].inside == 0); \
			goto marked_it              \
		:: else                             \
		fi                                  \
	}

#if VERSION == 73
#define wait_for_readers(store)                                         \
	atomic {                                                        \
		if                                                      \
		:: vma[v].count == 0 && !vma[v].exclusive -> goto store \
		:: else -> vma[v].exclusive = 1                         \
		fi                                                      \
	};                                                              \
	vma[v].count == 1
#else
#define wait_for_readers(store)                                           \
	atomic {                                                          \
		if                                                        \
		:: vma[v].count || vma[v].exclusive -> vma[v].waiters = 1 \
		:: else -> vma[v].exclusive = 1; goto store               \
		fi                                                        \
	};                                                                \
	atomic {                                                          \
		vma[v].count == 0 && !vma[v].exclusive;                   \
		vma[v].exclusive = 1;                                     \
		vma[v].waiters = 0                                        \
	}
#endif

inline store_seq()
{
	atomic {
		vma[v].seq = mm_seq;
		vma[v].marked = 1;
		assert(vma[v].inside == 0)
	}
}

#ifdef NO_WAIT
#define vma_start_write(store, marked_it) unless_marked(marked_it); store_seq()
#else
#define vma_start_write(store, marked_it) \
	unless_marked(marked_it);         \
	wait_for_readers(store);          \
store:                                    \
	store_seq();                      \
	vma[v].exclusive = 0
#endif

proctype flags(byte p)
{
	byte v;

	mmap_write_lock();
	atomic {
		v = tree[p];
		if
		:: v == 0 -> goto unlock
		:: else
		fi
	};
	vma_start_write(store_f, marked_f);
marked_f:
	atomic { assert(vma[v].inside == 0); vma[v].may_write = 0 };
	atomic {
		if
		:: pte[v - 1] == 2 -> pte[v - 1] = 1
		:: else
		fi
	};
unlock:
	vma_end_write_all();
	writer = 0;
end:
	false
}

proctype unmap(byte p)
{
	byte v;

	mmap_write_lock();
	atomic {
		v = tree[p];
		if
		:: v == 0 -> goto unlock
		:: else
		fi
	};
	vma_start_write(store_u, marked_u);
marked_u:
#if VERSION == 73
	atomic {
		assert(vma[v].count > 0 && vma[v].inside == 0);
		vma[v].count--;
		vma[v].detached = 1;
		if
		:: vma[v].count == 0 -> goto isolated
		:: else
		fi
	};
	atomic {
		if
		:: vma[v].count == 0 && !vma[v].exclusive -> goto isolated
		:: else -> vma[v].exclusive = 1
		fi
	};
	vma[v].count == 0;
	vma[v].exclusive = 0;
isolated:
#else
	atomic { assert(vma[v].inside == 0); vma[v].detached = 1 };
#endif
	tree[v - 1] = 0;
	vma_end_write_all();
	atomic { writer = 0; readers++ };
	atomic { pte[v - 1] = 0; zapped[v - 1] = 1 };
	atomic {
		vma[v].marked = 0;
#if VERSION == 73 || defined(FREE_AT_ONCE)
		vma[v].life = FREED
#else
		vma[v].grace = in_rcu;
		if
		:: in_rcu == 0 -> vma[v].life = FREED
		:: else -> vma[v].life = WAITING
		fi
#endif
	};
	readers--;
	goto end;
unlock:
	vma_end_write_all();
	writer = 0;
end:
	false
}

init {
	byte n;

	atomic {
		tree[0] = 1;
		tree[1] = 2;
		do
		:: n < FAULTS -> run fault(0); n++
		:: else -> break
		od;
		n = 0;
		do
		:: n < WRITERS ->
			if
			:: n == 0 -> run flags(0)
			:: else -> run flags(FLAGS_PAGE)
			fi;
			n++
		:: else -> break
		od;
#if UNMAP
		run unmap(0);
#endif
		n = 0
	}
}
