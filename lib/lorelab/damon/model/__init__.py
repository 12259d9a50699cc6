"""kdamond of Linux 6.12.117 and the machine that it watches, under the kernel's names.

Read in this order:

    state         one context: attributes, lists of regions, the random numbers (damon.h)
    vaddr         regions from a process' mappings, and how they follow them (vaddr.c)
    core          kdamond's loop: sample, merge, report, split; tuned intervals of 6.15 (core.c)
    damos         schemes: match, quota, priority, watermarks (core.c, ops-common.c)
    madvise       what their actions, faults and khugepaged do to pages (madvise.c, khugepaged.c)
    v7_3          what 7.3.4's kdamond does otherwise (core.c, vaddr.c, damon.h)
    prandom       the random numbers that it draws (random32.c)
    kdamond       either of them, and the program that it watches
    replay        the same through the windows of a kernel's own log

and for what is watched:

    memory        a program's patterns, pages and TLB, as arrays
    program       the program as it runs: masim's loop
    scheduler     how kdamond and the program share a CPU (fair.c, timer.c)
    young         whether a page shows an access (vaddr.c)

`alternatives` has what else was proposed to learn the same: a scan of all pages, and hardware that
reports accesses. `reports` gives kdamond the reports of such hardware in place of accessed bits.
"""
