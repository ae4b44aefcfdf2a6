"""How options fold from the config to the eval, and what a profile's limit and the flags do to them."""

import pytest

from reeval.plan.cascade import Cascade, Flags, Layer, narrowed, start
from reeval.schema.environment import Egress, Secret


def fold(*layers: tuple[str, dict], harnesses=("a", "b")) -> Cascade:
    cascade = start(harnesses)
    for source, options in layers:
        cascade = cascade.push(Layer(source, lambda option, source=source: f"{source}:{option}", options))
    return cascade


CASES = [
    ("nobody sets it", [], "runs", None, "default"),
    ("the nearest wins", [("config", {"runs": 1}), ("eval", {"runs": 3})], "runs", 3, "eval"),
    ("a level that is silent keeps it", [("config", {"runs": 1}), ("eval", {"timeout": 3})], "runs", 1, "config"),
    (
        "a group beats the profile",
        [("profile ci", {"gate": "none"}), ("group g", {"gate": "all"})],
        "gate",
        "all",
        "group g",
    ),
    (
        "an inner group beats an outer",
        [("group o", {"sandbox": "x"}), ("group i", {"sandbox": "y"})],
        "sandbox",
        "y",
        "group i",
    ),
    ("tags add", [("config", {"tags": ["x"]}), ("eval", {"tags": ["y", "x"]})], "tags", ("x", "y"), "config, eval"),
    (
        "env merges",
        [("config", {"env": {"A": "1", "B": "2"}}), ("eval", {"env": {"B": "3"}})],
        "env",
        {"A": "1", "B": "3"},
        "default",
    ),
    (
        "a secret replaces a text",
        [("config", {"env": {"A": "1"}}), ("eval", {"env": {"A": Secret(name="H")}})],
        "env",
        {"A": Secret(name="H")},
        "default",
    ),
    (
        "egress replaces",
        [("config", {"egress": Egress(mode="allow", hosts=("h",))}), ("eval", {"egress": "deny-all"})],
        "egress",
        "deny-all",
        "eval",
    ),
    ("a text is a judge's model", [("config", {"judge": "p/m"})], "judge", {"model": "p/m"}, "default"),
    (
        "judge merges by field and its state by key",
        [
            ("config", {"judge": {"model": "m", "threshold": 0.5, "state": {"diff": True, "output": True}}}),
            ("eval", {"judge": {"threshold": 0.9, "state": {"diff": ["*.py"]}}}),
        ],
        "judge",
        {"model": "m", "threshold": 0.9, "state": {"diff": ["*.py"], "output": True}},
        "default",
    ),
    (
        "question merges likewise",
        [("config", {"question": "m"}), ("group g", {"question": {"state": {"checks": True}}})],
        "question",
        {"model": "m", "state": {"checks": True}},
        "default",
    ),
    ("every harness, unless one is named", [], "harness", ("a", "b"), "default"),
    ("one harness", [("eval", {"harness": "c"})], "harness", ("c",), "eval"),
    (
        "a list of harnesses",
        [("config", {"harness": "c"}), ("eval", {"harness": ["d", "e", "d"]})],
        "harness",
        ("d", "e"),
        "eval",
    ),
    (
        "add extends",
        [("config", {"harness": ["a"]}), ("eval", {"harness": {"add": ["c", "a"]}})],
        "harness",
        ("a", "c"),
        "eval",
    ),
    ("add extends every harness", [("eval", {"harness": {"add": ["c"]}})], "harness", ("a", "b", "c"), "eval"),
    (
        "only narrows",
        [("config", {"harness": ["a", "b", "c"]}), ("eval", {"harness": {"only": ["c", "a"]}})],
        "harness",
        ("a", "c"),
        "eval",
    ),
    ("only narrows every harness", [("eval", {"harness": {"only": ["b"]}})], "harness", ("b",), "eval"),
]


@pytest.mark.parametrize(
    ("layers", "option", "value", "source"), [case[1:] for case in CASES], ids=[case[0] for case in CASES]
)
def test_options_cascade(layers, option, value, source):
    cascade = fold(*layers)
    assert cascade.get(option) == value
    assert cascade.source(option) == source


def test_each_merged_key_keeps_its_own_source():
    cascade = fold(
        ("config", {"env": {"A": "1", "B": "2"}, "judge": {"model": "m", "state": {"diff": True}}}),
        ("profile ci", {"env": {"B": "3"}}),
        ("eval", {"judge": {"state": {"diff": False}}}),
    )
    sources = {key: layer.source for key, layer in cascade.origins.items()}
    assert sources == {"env.A": "config", "env.B": "profile ci", "judge.model": "config", "judge.state.diff": "eval"}
    assert cascade.place("env.B", "here") == "profile ci:env.B"
    assert cascade.place("env.C", "here") == "here"


def test_a_level_never_changes_the_one_above_it():
    outer = fold(("config", {"env": {"A": "1"}, "judge": {"state": {"diff": True}}, "tags": ["x"]}))
    before = (
        dict(outer.values["env"]),
        dict(outer.values["judge"]["state"]),
        outer.values["tags"],
        dict(outer.origins),
    )
    outer.push(Layer("eval", str, {"env": {"B": "2"}, "judge": {"state": {"checks": True}}, "tags": ["y"]}))
    assert (outer.values["env"], outer.values["judge"]["state"], outer.values["tags"], outer.origins) == before


def test_only_names_what_is_inherited():
    cascade = fold(("config", {"harness": ["terse", "chatty"]}), ("eval", {"harness": {"only": ["tersee"]}}))
    assert cascade.problems == (
        "eval:harness: harness only='tersee' is not among the inherited harnesses; did you mean 'terse'?",
    )


CI = Layer("profile ci", lambda option: f"ci:{option}")
LIMITS = [
    ("no limit changes nothing", {"runs": 5}, {}, Flags(), {"runs": 5, "harness": ("a", "b")}, ()),
    ("runs are cut", {"runs": 5}, {"runs": 2}, Flags(), {"runs": 2}, ()),
    ("runs are never raised", {"runs": 1}, {"runs": 2}, Flags(), {"runs": 1}, ()),
    ("runs that nobody set are set", {}, {"runs": 2}, Flags(), {"runs": 2}, ()),
    (
        "the most runs of a rule are cut",
        {"runs": {"until_decided": 20}},
        {"runs": 8},
        Flags(),
        {"runs": {"until_decided": 8}},
        (),
    ),
    ("one run needs no rule", {"runs": {"best_of": 5}}, {"runs": 1}, Flags(), {"runs": 1}, ()),
    ("harnesses are narrowed", {}, {"harness": ["b", "z"]}, Flags(), {"harness": ("b",)}, ()),
    ("harnesses may be narrowed to none", {"harness": ["c"]}, {"harness": ["b"]}, Flags(), {"harness": ()}, ()),
    (
        "a pin holds against a limit and is told",
        {"runs": 5, "pin": ["runs", "harness"]},
        {"runs": 1, "harness": ["a"]},
        Flags(),
        {"runs": 5, "harness": ("a", "b")},
        (
            "harness is pinned: the limit of profile ci does not hold here",
            "runs is pinned: the limit of profile ci does not hold here",
        ),
    ),
    ("a pin that changes nothing is not told", {"runs": 1, "pin": ["runs"]}, {"runs": 4}, Flags(), {"runs": 1}, ()),
    ("a flag wins over a pin", {"runs": 5, "pin": ["runs"]}, {}, Flags(runs=2), {"runs": 2}, ()),
    ("a flag wins over a limit", {"runs": 5}, {"runs": 1}, Flags(runs=9), {"runs": 9}, ()),
    (
        "a flag replaces the harnesses",
        {"pin": ["harness"]},
        {"harness": ["b"]},
        Flags(harnesses=("c", "c")),
        {"harness": ("c",)},
        (),
    ),
]


@pytest.mark.parametrize(
    ("options", "limit", "flags", "values", "notes"), [case[1:] for case in LIMITS], ids=[case[0] for case in LIMITS]
)
def test_limits_narrow_and_flags_replace(options, limit, flags, values, notes):
    cascade, said = narrowed(fold(("eval", options)), limit, CI, flags)
    assert {option: cascade.get(option) for option in values} == values
    assert said == notes


def test_what_a_limit_or_flag_set_is_its_source():
    cascade, _ = narrowed(fold(("eval", {"runs": 5})), {"runs": 2, "harness": ["a"]}, CI, Flags())
    assert (cascade.source("runs"), cascade.source("harness")) == ("profile ci", "profile ci")
    cascade, _ = narrowed(fold(("eval", {"runs": 5})), {"runs": 2}, CI, Flags(harnesses=("c",), runs=1))
    assert (cascade.source("runs"), cascade.source("harness")) == ("--runs", "--harness")
