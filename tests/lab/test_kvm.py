"""A /dev/kvm that opens and runs no guest: emulation takes its place, said once and remembered."""

import pytest

from lorelab.lab import boot

SAYS = {
    "no vCPU": (
        "echo 'qemu-system-x86_64: kvm_init_vcpu failed (0): Invalid argument' >&2; exit 1",
        "QEMU ended with status 1 before the job did: qemu-system-x86_64: kvm_init_vcpu failed",
    ),
    "a guest that stops in its first second": (
        "echo '[    0.000000] Linux version 6.12' >&2; sleep 100",
        "the guest did not come up within 1 s: [    0.000000] Linux version 6.12",
    ),
    "an MSR that is refused": (
        "echo 'error: failed to set MSR 0x48f to 0x7fffff' >&2; kill -ABRT $$",
        "QEMU was killed by signal 6: error: failed to set MSR 0x48f to 0x7fffff",
    ),
    "a guest without a console": (
        "sleep 100",
        "the guest did not come up within 1 s; guests are emulated",
    ),
}


@pytest.mark.parametrize("name", SAYS)
def test_where_kvm_runs_no_guest_it_is_emulated(tmp_path, monkeypatch, capsys, name):
    """A shell stands for QEMU."""
    script, says = SAYS[name]
    started = []

    def command(image, root, folder, machine, accelerator):
        started.append(accelerator)
        return ["sh", "-c", script]

    monkeypatch.setattr(boot, "_command", command)
    monkeypatch.setattr(boot, "KVM_BOOT_SECONDS", 1.0)
    monkeypatch.setattr(boot, "qemu_version", lambda: "QEMU emulator version 7.2")
    monkeypatch.setattr(boot.os, "access", lambda *_: True)
    monkeypatch.setattr(boot.cache, "root", lambda: tmp_path)
    assert boot.fastest(tmp_path / "bzImage", tmp_path) == "tcg"
    [line] = capsys.readouterr().err.splitlines()
    assert line.startswith("/dev/kvm opens and runs no guest (")
    assert says.replace("; guests", "); guests") in line
    assert boot.fastest(tmp_path / "bzImage", tmp_path) == "tcg"
    assert started == ["kvm"], "it is asked once"
    assert capsys.readouterr().err == ""


def test_that_kvm_does_not_work_is_known_within_20_s():
    assert boot.KVM_BOOT_SECONDS + boot.KVM_JOB_SECONDS <= 20
