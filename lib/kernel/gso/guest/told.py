"""Sends with MSG_ZEROCOPY that are copied and such that are not, and what their socket says."""

import socket
import struct

import traffic

SO_ZEROCOPY, MSG_ZEROCOPY = 60, 0x4000000
ORIGIN_ZEROCOPY, CODE_COPIED = 5, 1
LENT, COPIED = (traffic.OTHER, int(traffic.PORT)), ("127.0.0.1", int(traffic.PORT))


def run(params):
    """Yield what each of `params["runs"]` was told.

    A run has `copied`, a list of whether each send is to be, and whether it reads `late`. A row has
    `said`, a list of first send, last send and whether it said copied; and how many sends the
    kernel did copy, as its function was called.
    """
    traffic.EVENTS = {"copies": traffic.EVENTS["copies"]}
    traffic.attach()
    traffic.up("dummy")
    for number, wanted in enumerate(params["runs"]):
        before = traffic.counted()["copies"]
        said = one(wanted)
        copied = traffic.counted()["copies"] - before
        yield {"run": number, "said": said, "copied": copied}


def one(wanted):
    said = []
    with (
        socket.socket(type=socket.SOCK_DGRAM) as sender,
        socket.socket(type=socket.SOCK_DGRAM) as reader,
    ):
        reader.bind(COPIED)
        sender.setsockopt(socket.SOL_SOCKET, SO_ZEROCOPY, 1)
        for copied in wanted["copied"]:
            sender.sendto(bytes(1000), MSG_ZEROCOPY, COPIED if copied else LENT)
            if copied:
                # It has come in, so it was copied and completed.
                reader.recv(2000)
            if not wanted["late"]:
                said += heard(sender)
        return said + heard(sender)


def heard(sender):
    """All that the socket's error queue has."""
    found = []
    while True:
        try:
            _, control, _, _ = sender.recvmsg(0, 256, socket.MSG_ERRQUEUE)
        except BlockingIOError:
            return found
        # struct sock_extended_err
        _, origin, _, code, _, low, high = struct.unpack_from("IBBBBII", control[0][2])
        if origin == ORIGIN_ZEROCOPY:
            found.append((low, high, bool(code & CODE_COPIED)))
