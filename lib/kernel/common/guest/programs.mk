# SPDX-License-Identifier: GPL-2.0-only
# How a design's Makefile compiles the programs that run in the guest. KERNEL is the kernel's source
# tree, OUT where they go; the Makefile names what to make:
#
#	TOOLS		the kernel's own, straight out of its tools/mm
#	PROGRAMS	ours; static, so that a program's mappings are its own and the same in every guest
#	PRELOADS	ours, preloaded into a tool

all: $(TOOLS:%=$(OUT)/%) $(PROGRAMS:%=$(OUT)/%) $(PRELOADS:%=$(OUT)/%.so)

$(TOOLS:%=$(OUT)/%): $(OUT)/%: $(KERNEL)/tools/mm/%.c
	$(CC) -O2 -Wall -o $@ $<

$(PROGRAMS:%=$(OUT)/%): $(OUT)/%: %.c
	$(CC) -O2 -Wall -Wextra -Werror -static -o $@ $<

$(PRELOADS:%=$(OUT)/%.so): $(OUT)/%.so: %.c
	$(CC) -O2 -Wall -Wextra -Werror -shared -fPIC -o $@ $<

.PHONY: all
