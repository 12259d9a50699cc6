#!/bin/sh
# Runs the reproducer beside this file on a kernel in QEMU: sh boot.sh arch/x86/boot/bzImage [CPUS]
# The guest has this machine's own files, and can't change them. ACCEL=kvm sh boot.sh ... is faster.
kit=$(cd "$(dirname "$0")" && pwd)
if [ $$ -ne 1 ]; then
	[ -f "$1" ] || { echo "usage: sh $0 arch/x86/boot/bzImage [CPUS]" >&2; exit 2; }
	exec qemu-system-x86_64 -machine q35 -accel "${ACCEL:-tcg}" -cpu max -smp "${2:-1}" \
		-m 512 -no-reboot -nic none -display none -monitor none -serial stdio -kernel "$1" \
		-virtfs local,path=/,mount_tag=files,security_model=none,readonly=on,multidevs=remap \
		-append "console=ttyS0 quiet panic=-1 no_timer_check root=files rootfstype=9p \
rootflags=trans=virtio,version=9p2000.L,cache=loose ro init=/bin/sh -- \"$kit/boot.sh\""
fi
# From here on in the guest, as its first process.
export PATH=/usr/sbin:/usr/bin:/sbin:/bin
mount -t devtmpfs devices /dev
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t debugfs debugfs /sys/kernel/debug
mount -t tmpfs run /run
cp "$kit"/reproduce.* /run  # /tmp may be where this folder is
mount -t tmpfs tmp /tmp
case $(echo /run/reproduce.*) in
*.py) python3 /run/reproduce.py ;;
*) sh /run/reproduce.sh ;;
esac
echo o >/proc/sysrq-trigger
while :; do :; done
