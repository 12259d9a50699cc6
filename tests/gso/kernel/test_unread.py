"""A neighbour's tap that nobody reads: the model, and the model against both kernels."""

import pytest

from lorelab.errors import BadInput
from lorelab.experiments import experiment
from lorelab.gso.kernel import unread
from lorelab.gso.model.unread import Left, charge, left, notifications
from lorelab.gso.params import Unread
from lorelab.judging.agreement import AgreementVerdict
from lorelab.lab import records


def counted(**given):
    table = experiment("gso/unread").simulate(Unread(**given))
    return dict(zip(table["counter"], table["value"], strict=True))


def test_the_laboratory_s_kernel_has_no_macvtap():
    with pytest.raises(BadInput, match="takes --kernel PATH"):
        unread.measure([Unread()])


@pytest.mark.parametrize(("optmem", "most"), [(128 << 10, 136), (20 << 10, 21), (576, 1)])
def test_notifications_that_fit(optmem, most):
    assert notifications(optmem) == most
    # The last of them fits by at most one notification, and not by a byte less.
    least = 576 + 960 * (most - 1)
    assert (notifications(least), notifications(least - 1)) == (most, most - 1)


@pytest.mark.parametrize("zerocopy", [True, False])
def test_a_send_buffer_takes_what_is_below_it(zerocopy):
    each = charge(1400, zerocopy)
    for sndbuf, taken in ((each, 1), (each + 1, 2), (10 * each, 10), (10 * each + 1, 11)):
        found = left(64, 1400, sndbuf, zerocopy, copies=False, orphans=False)
        assert found.taken == taken
    # What is taken off the socket is not charged.
    assert left(64, 1400, each, zerocopy, copies=True, orphans=True).taken == 64


def test_who_copies_tells_and_who_orphans_lets_go():
    silent = {"told": 0, "copied": 0, "refused": 1, "left": 1, "pinned": 64}
    assert counted() | silent == counted() == counted(receiver="ipvtap")
    linear = {"told": 64, "copied": 64, "refused": 0, "left": 1, "pinned": 0}
    assert counted(csum=False) | linear == counted(csum=False)
    for csum in (True, False):
        free = linear | {"left": 0}
        assert counted(receiver="tun", csum=csum) | free == counted(receiver="tun", csum=csum)
    # A fix copies, and leaves the packet on its socket's account.
    assert counted(fixed=True) == counted(csum=False) == counted(receiver="ipvtap", fixed=True)
    plain = counted(zerocopy=False)
    assert not {"told", "copied"} & set(plain)
    assert (plain["refused"], plain["left"], plain["pinned"]) == (0, 1, 0)
    assert left(64, 1400, 1 << 22, False, copies=True, orphans=True) == Left(64, 0, 0, 0, False)


def test_a_raw_socket_has_pages_where_only_local_delivery_copies():
    # ip_rcv_core() orphans, so that a packet whose pages are copied leaves nothing behind.
    assert counted(receiver="raw") == counted(receiver="tun")
    found = counted(receiver="raw", deferred=True)
    assert found == counted()
    # A notification that did not complete holds the socket, and so the namespace.
    assert (found["pinned"], found["left"]) == (64, 1)
    assert counted(receiver="raw", deferred=True, zerocopy=False)["left"] == 0


@pytest.mark.parametrize("on", ["veth", "bridge"])
def test_the_way_to_a_macvtap_makes_no_difference(on):
    for given in ({}, {"csum": False}, {"sends": 200}, {"fixed": True}):
        assert counted(receiver=f"macvtap-on-{on}", **given) == counted(**given)


@pytest.mark.parametrize(
    "given",
    [{"receiver": "raw", "csum": False}, {"receiver": "raw", "fixed": True}, {"deferred": True}],
)
def test_what_a_receiver_has_not_is_refused(given):
    with pytest.raises(ValueError, match="takes"):
        Unread(**given)


def test_a_socket_runs_out_of_notifications_before_its_user_does_of_pages():
    found = counted(sends=200)
    assert (found["taken"], found["pinned"], found["refused"]) == (136, 136, 0)
    assert counted(sends=200, receiver="tun")["taken"] == 200
    assert counted(sends=200, fixed=True)["taken"] == 200


def test_records_with_a_fix_name_its_patch_and_have_another_module():
    fixed = [run for run in records.others("gso/unread", Unread) if run[1].fixed]
    assert fixed
    for release, params in fixed:
        with_it = records.load("gso/unread", params, release=release).provenance
        before = params.model_copy(update={"fixed": False})
        without = records.load("gso/unread", before, release=release).provenance
        assert [name[:13] for name in with_it.kernel.patches] == ["0001-net-tap-"]
        assert without.kernel.patches is None
        assert with_it.kernel.image_sha256 == without.kernel.image_sha256
        assert with_it.programs["tap.ko"] != without.programs["tap.ko"]


def test_recorded_runs_agree_on_each_kernel():
    asked = experiment("gso/unread")
    runs = records.others("gso/unread", asked.Params)
    assert {release.split(".")[0] for release, _ in runs} == {"6", "7"}
    receivers = {(release, params.receiver) for release, params in runs}
    assert len(receivers) == 12
    for release, params in runs:
        record = records.load("gso/unread", params, release=release)
        assert asked.agree(params, record).verdict == AgreementVerdict.PASSED, (release, params)
