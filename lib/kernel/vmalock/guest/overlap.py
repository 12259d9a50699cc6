"""Runs overlap.c: a fault that is held in its VMA, and a writer that comes to it after a wrap."""

import base64
import fcntl
import gzip
import os
import select
import subprocess
from pathlib import Path

from switches import mount
from threads import FOLDER, entries

HERE = Path(__file__).parent
FIFREEZE, FITHAW = 0xC0045877, 0xC0045878
"""ioctls of linux/fs.h."""
WAIT = 3.0
"""Seconds that the writer has before the fault may go on."""
EMPTY = """
H4sIAAAAAAACA+3ZsUrDUBQG4ORGqbQdOroI7kJwryDqI/gK4qDFDtXNobO4+jYOOvgOPoKLOOge0yQtqYqLRaz5PjghlyRtEvJ
fctooApqql9e4Wh/ktZpXXN9hs6xeNdx5bJ9GUZYdvsTFfuW4ND2uU/vM/T90rde3D/3LcLBxtXtzf9JPR5Pz7c5d1+LFDXmOWq
K0lJK8VqrcD/JlKEZAE2TZ3Mw9zoDmaLkF0FRRrf+d1m++fzzvlQ3I5+9P8l5kYq1Ytl/juc4k1nMCP3Q3mX+2v5p/QrT+zfzTn
W2B5RWKZzkO6Ww9hDQtf8N/StphMBydbx0PL86O3Cv4bzof8v+WlPkHGsJffiD/gPwD8g/IPyD/gPwD8g/IPyD/gPwDAAAAAAAA
AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA
AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAs0Dve4RbAAAACAA==
"""
"""`mkfs.ext4 -b 1024 -N 16 -m 0 -I 128 -O none,extent,filetype` of 128 KiB: the guest has no mkfs,
and of the kernel's file systems ext4 alone can be frozen and has a disk."""


def run(params):
    """Yield whether the writer `returned` while the fault was held, and the log; then the rest.

    `params` has `writer`, mprotect or munmap. The last row is `ended`, when the fault went on and
    all returned; a kernel that dies of it gives none.
    """
    mount()
    if not (FOLDER / "sequence").exists():
        raise NotImplementedError("lorelab/vmalock/sequence; it takes lib/kernel/vmalock/patches")
    place = frozen_place()
    file = place / "page"
    file.write_bytes(bytes(4096))
    folder = os.open(place, os.O_RDONLY)
    with subprocess.Popen(
        [HERE / "overlap", params["writer"], file, FOLDER],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as program:
        expect(program, "ready")
        subprocess.run(["sync", "-f", file], check=True)
        fcntl.ioctl(folder, FIFREEZE, 0)
        program.stdin.write(b"go\n")
        program.stdin.flush()
        returned = bool(select.select([program.stdout], [], [], WAIT)[0])
        # Logged until here: whatever comes next, the fault is still held.
        (FOLDER / "log").write_text("0")
        yield {"run": 0, "returned": returned}
        yield from ({"run": 0, **row} for row in entries())
        # No other program now, whose VMAs would take the place of a freed one.
        fcntl.ioctl(folder, FITHAW, 0)
        expect(program, "writer")
        expect(program, "fault")
    yield {"run": 0, "ended": True}


def expect(program, word):
    """Wait for a line of the program."""
    if (line := program.stdout.readline().decode().strip()) != word:
        raise RuntimeError(f"{word} was due, and it said {line!r}")


def frozen_place():
    """Mount an ext4 that can be frozen."""
    image, place = Path("/tmp/ext4.image"), Path("/tmp/ext4")
    image.write_bytes(gzip.decompress(base64.b64decode(EMPTY)))
    place.mkdir()
    subprocess.run(["mount", "-o", "loop", image, place], check=True)
    return place
