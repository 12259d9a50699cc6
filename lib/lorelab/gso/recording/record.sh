# SPDX-License-Identifier: GPL-2.0-only
# Records what becomes of zero-copy packets, on any kernel since 6.1 that has kprobes, as root:
#
#	sh record.sh SECONDS > FILE; lorelab gso FILE
#
# Ctrl-C ends it early; what was recorded until then is whole. Events, buffer and triggers are its
# own, so it disturbs no other tracing, and none is left, nor if nobody reads what it prints.
# Without BTF of function arguments (before 6.6) the bytes of a copy are not recorded.
cd /sys/kernel/tracing || exit 1
seconds=${1:-10}
release=$(uname -r)
case $release in
[0-5].* | 6.0 | 6.0.* | 6.0-*)
	echo "record.sh: struct ubuf_info of $release has other offsets; takes 6.1 or later" >&2
	exit 1
	;;
esac
group=gso_$$
mine=instances/$group
kinds='done vhost uring packet'
reader=
say() { echo "$1" >>kprobe_events; } 2>/dev/null

# watch KIND FUNCTION [FIELD...]: a completion, (skb, uarg, success), and its return.
watch() {
	kind=$1 function=$2 packet='packet=$arg2:x64 sent=$arg3:u8'
	shift 2
	for uarg in uarg ubuf_base ubuf; do
		say "p:$group/$kind $function $packet left=$uarg->refcnt.refs.counter:u32 $*" && break
	done || {
		# With BTF of arguments and no such field the offset would be another, too.
		for uarg in uarg ubuf_base ubuf; do
			say "p:$group/$kind $function flags=$uarg->flags" || continue
			say "-:$group/$kind"
			echo "record.sh: struct ubuf_info of $release has no refcnt" >&2
			return 1
		done
		say "p:$group/$kind $function $packet left=+8(\$arg2):u32 $*" || return 1
	}
	say "r:$group/${kind}_end $function"
	return 0
}

finish() {
	trap '' INT QUIT PIPE TERM HUP # a second Ctrl-C would leave the rest
	trap - EXIT
	[ -d "$mine" ] && {
		echo 0 >$mine/events/enable
		reader=${reader:-$!} # a signal may come between the two lines that start it
		[ -n "$reader" ] && {
			sleep 1 # it reads what is left
			kill $reader $! # the timer, if it was started
			wait $reader
			echo "# end"
		}
		echo '!stacktrace' >$mine/events/$group/copied/trigger
		rmdir $mine
	}
	for kind in $kinds; do
		say "-:$group/$kind"
		say "-:$group/${kind}_end"
	done
	say "-:$group/copied"
} 2>/dev/null
trap finish EXIT
trap 'exit 130' INT
trap 'exit 131' QUIT
trap 'exit 141' PIPE
trap 'exit 143' TERM HUP

say "p:$group/copied skb_copy_ubufs bytes=skb->data_len:u32" ||
	say "p:$group/copied skb_copy_ubufs" || {
	echo "record.sh: no probe on skb_copy_ubufs; are you root, and has $release kprobes?" >&2
	exit 1
}
# In struct ubuf_info_msgzc: sends of the packet, and whether none of it was copied so far.
told='sends=+20($arg2):u16 zerocopy=+22($arg2):u16'
watch done msg_zerocopy_complete "$told" || watch done msg_zerocopy_callback "$told"
watch vhost vhost_zerocopy_complete || watch vhost vhost_zerocopy_callback
watch uring io_tx_ubuf_complete || watch uring io_tx_ubuf_callback
watch packet tpacket_ubuf_complete
mkdir $mine || exit 1
echo "# $release, skb_copy_ubufs, of $seconds s"
for event in copied $kinds; do
	[ -d $mine/events/$group/$event ] && echo "# watches $event"
done
echo stacktrace >$mine/events/$group/copied/trigger
# Completions of several CPUs in their order.
echo global >$mine/trace_clock
cat $mine/trace_pipe &
reader=$!
echo 1 >$mine/events/$group/enable
sleep "$seconds" &
wait $!
