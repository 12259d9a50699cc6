"""Every parameter has an effect, on the model and on what the kernel's guest is given to do."""

import pytest

from lorelab.errors import BadInput, NoModel
from lorelab.experiments import experiment, experiments
from lorelab.gso.kernel import breakeven, broken, tcp, told, traffic, vhost, vhost_cost
from lorelab.params import only

LOSSY = {"variant": "last-segment", "held": True, "loss": 5, "reorder": 10}
TRAFFIC = {
    "variant": ({}, "orphan"),
    "sends": ({}, 41),
    "length": ({}, 64_000),
    "segment": ({}, 1000),
    "zerocopy": ({}, False),
    "held": ({"variant": "head-only"}, True),
    "loss": ({"held": True}, 5),
    "reorder": (LOSSY, 0),
    "seed": (LOSSY, 7),
    "tap": ({}, True),
    "received": ({}, True),
}
WATCHED = {name: TRAFFIC[name] for name in TRAFFIC if name not in ("held", "reorder")}
WATCHED |= {"loss": ({"tap": True}, 5), "seed": ({"loss": 5, "tap": True}, 7)}
SEARCHED = {"clone": False, "local": False, "direct": False}
OTHERWISE = {
    "gso/layout": {
        "kernel": ({}, "6.12"), "struct": ({}, "sk-buff"), "pointer": ({}, "end"),
    },
    "gso/lifetimes": {
        "variant": ({}, "parent"),
        "segments": ({}, 2),
        "clone": ({}, False),
        "local": ({}, False),
        "direct": ({"variant": "parent"}, False),
        "member": ({"variant": "parent", **SEARCHED}, True),
        "rx_orphan": ({}, False),
        "gather": ({}, False),
        "readable": ({}, False),
        "fails": ({}, True),
        "nested": ({}, True),
        "retransmit": ({}, True),
        "straddles": ({}, True),
        "joined": ({}, True),
        "once": ({"segments": 2, "cpus": 2}, True),
        "cpus": ({"segments": 2}, 2),
    },
    "gso/traffic": TRAFFIC,
    "gso/probed": WATCHED,
    "gso/traced": WATCHED,
    "gso/tcp": {
        "variant": ({}, "orphan"),
        "sends": ({}, 201),
        "length": ({}, 64_000),
        "loss": ({"variant": "last-segment"}, 1),
        "reorder": ({"variant": "last-segment"}, 1),
    },
    "gso/broken": {"variant": ({}, "orphan"), "tap": ({}, False)},
    "gso/lastsegment": {"segments": ({}, 5), "packets": ({}, 1000), "seed": ({}, 2)},
    "gso/flag": {"sent": ({}, 2), "copied": ({}, 2), "mended": ({}, True)},
    "gso/told": {
        "sends": ({}, 9),
        "alike": ({}, 8),
        "copied_first": ({}, True),
        "late": ({}, False),
        "mended": ({}, True),
        "fixed": ({}, True),
    },
    "gso/unread": {
        "receiver": ({}, "tun"),
        "csum": ({}, False),
        "zerocopy": ({}, False),
        "sends": ({}, 65),
        "length": ({"zerocopy": False, "sndbuf": 65536}, 64),
        "sndbuf": ({}, 65536),
        "fixed": ({}, True),
        "deferred": ({"receiver": "raw"}, True),
    },
    "gso/vhost": {
        "refcnt": ({}, True), "sends": ({}, 65), "length": ({}, 57_400), "segment": ({}, 1000),
        "unread": ({}, True), "protocol": ({}, "tcp"), "zerocopy": ({}, False),
    },
}  # fmt: skip
"""By experiment and parameter: the others, and a value with which the model counts otherwise."""
CASES = [(name, field) for name, fields in OTHERWISE.items() for field in fields]


def counted(name, given):
    asked = experiment(name)
    table = asked.simulate(asked.Params(**given))
    return table[["step", "counter", "value"]].to_numpy().tolist()


def test_every_parameter_of_a_model_is_here():
    for name, asked in experiments("gso").items():
        if "model" not in asked.backends:
            continue
        unread = only(asked.Params, "kernel")
        unread |= {"held", "reorder"} if OTHERWISE[name] is WATCHED else set()
        assert set(OTHERWISE[name]) == set(asked.Params.model_fields) - unread, name


@pytest.mark.parametrize(("name", "field"), CASES)
def test_a_model_reads_its_parameters(name, field):
    given, other = OTHERWISE[name][field]
    assert counted(name, given) != counted(name, given | {field: other})


@pytest.mark.parametrize(
    ("name", "field", "value"),
    [
        ("gso/vhost", "held", True),
        ("gso/vhost", "cpus", 2),
        ("gso/tcp", "seed", 2),
        ("gso/broken", "sends", 2),
        ("gso/broken", "config", "lab"),
    ],
)
def test_what_only_a_kernel_reads_is_refused_by_the_model(name, field, value):
    asked = experiment(name)
    with pytest.raises(NoModel, match=f"{field}=.*: only the kernel reads it"):
        asked.simulate(asked.Params(**{field: value}))


KERNELS = {
    "gso/traffic": lambda params: (traffic.program(params, ""), traffic.link(params)),
    "gso/tcp": tcp.program,
    "gso/broken": lambda params: (broken.program(params), params.config),
    "gso/told": told.program,
    "gso/vhost": lambda params: (vhost.program(params), vhost.measure.machine(params)),
    "gso/breakeven": lambda params: (breakeven.program(params), params.pointer),
    "gso/vhost-cost": lambda params: (
        vhost_cost.program(params),
        vhost_cost.measure.machine(params),
    ),
}
OTHERS = {
    "variant": "last-segment", "zerocopy": False, "held": True, "loss": 5, "reorder": 10, "seed": 7,
    "tap": None, "received": True, "unread": True, "refcnt": True, "config": "lab",
    "pointer": "sk-buff-tail", "protocol": "tcp", "cpus": 2,
    "sends": 3, "length": 2816, "segment": 1408, "alike": 2, "copied_first": True, "late": False,
}  # fmt: skip


@pytest.mark.parametrize("name", KERNELS)
def test_a_guest_is_given_every_parameter(name):
    asked = experiment(name)
    held = {"held": True} if name == "gso/traffic" else {}
    for field in set(asked.Params.model_fields) - {"mended", "fixed"}:
        given = held if field in ("loss", "reorder", "seed") else {}
        other = not asked.Params().tap if field == "tap" else OTHERS[field]
        programs = [
            KERNELS[name](asked.Params(**values)) for values in (given, given | {field: other})
        ]
        assert programs[0] != programs[1], field


def test_no_kernel_speaks_of_sends_of_one_kind_only():
    asked = experiment("gso/told")
    with pytest.raises(BadInput, match="no kernel has the patch"):
        asked.measure([asked.Params(mended=True)])
