# SPDX-License-Identifier: GPL-2.0-only
# Records what becomes of zero-copy packets, on any kernel since 6.1 that has kprobes, as root:
#
#	sh record.sh SECONDS > FILE; lorelab gso FILE
#
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
refs='packet=$arg2:x64 sent=$arg3:u8 left=+8($arg2):u32'
say() { echo "$1" >>kprobe_events; }

echo "# $release, skb_copy_ubufs, of $seconds s"
{
	say 'p:gso/copied skb_copy_ubufs bytes=skb->data_len:u32' ||
		say 'p:gso/copied skb_copy_ubufs' || exit 1
	# In struct ubuf_info_msgzc: sends of the packet, and whether none of it was copied so far.
	told='sends=+20($arg2):u16 zerocopy=+22($arg2):u16'
	say "p:gso/done msg_zerocopy_complete $refs $told" ||
		say "p:gso/done msg_zerocopy_callback $refs $told"
	say "p:gso/vhost vhost_zerocopy_complete $refs" || say "p:gso/vhost vhost_zerocopy_callback $refs"
} 2>/dev/null
for event in copied done vhost; do
	[ -d events/gso/$event ] && echo "# watches $event"
done
echo stacktrace >events/gso/copied/trigger
echo 1 >events/gso/enable
timeout "$seconds" cat trace_pipe
echo 0 >events/gso/enable
echo '!stacktrace' >events/gso/copied/trigger
for event in copied done vhost; do
	[ -d events/gso/$event ] && say "-:gso/$event"
done
echo "# end"
