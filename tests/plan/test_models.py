"""The models of judges and questions, as far as they are known before a run."""

from __future__ import annotations

import pytest

from reeval.errors import ConfigError, PlanError
from reeval.schema.plan import PlannedModel
from reeval.schema.spec import Question
from tests.plan.world import TWO_HARNESSES, a_plan, an_eval

LOCAL = (
    '[provider.local]\nkind = "openai-chat"\nbase_url = "http://127.0.0.1:8000/v1"\nmax_concurrent = 3\ntimeout = 5.0\n'
)


def models(tmp_path, name, config=""):
    return a_plan(tmp_path, an_eval("a", options={"judge": name}), config=TWO_HARNESSES + config).models


def planned(name, provider, kind, model, **fields):
    return PlannedModel(name=name, provider=provider, kind=kind, model=model, **{"max_concurrent": 20, **fields})


NAMED = [
    ("fake", "", planned("fake", "fake", "fake", "", max_concurrent=None)),
    ("fake/strict", "", planned("fake/strict", "fake", "fake", "strict", max_concurrent=None)),
    ("anthropic/x", "", planned("anthropic/x", "anthropic", "anthropic", "x", key="ANTHROPIC_API_KEY")),
    ("openai/org/x", "", planned("openai/org/x", "openai", "openai", "org/x", key="OPENAI_API_KEY")),
    (
        "local/qwen",
        LOCAL,
        planned(
            "local/qwen",
            "local",
            "openai-chat",
            "qwen",
            base_url="http://127.0.0.1:8000/v1",
            max_concurrent=3,
            options={"timeout": 5.0},
        ),
    ),
    (
        "local/qwen",
        LOCAL + 'key = "LOCAL_KEY"\n',
        planned(
            "local/qwen",
            "local",
            "openai-chat",
            "qwen",
            base_url="http://127.0.0.1:8000/v1",
            key="LOCAL_KEY",
            max_concurrent=3,
            options={"timeout": 5.0},
        ),
    ),
    ("oracle", '[provider.oracle]\nkind = "fake"\n', planned("oracle", "oracle", "fake", "", max_concurrent=None)),
]


@pytest.mark.parametrize(("name", "config", "model"), NAMED)
def test_a_name_stands_for_a_model_of_its_provider(tmp_path, name, config, model):
    assert models(tmp_path, name, config) == {name: model}


def test_every_model_that_is_known_before_the_run_is_planned_once(tmp_path):
    evals = (
        an_eval("a", options={"judge": "fake/j"}, judge_models=("fake/own", "fake/j")),
        an_eval("b", questions=(Question("Why?", model="fake/q"),)),
    )
    plan = a_plan(tmp_path, *evals, config=TWO_HARNESSES + "[profile.ci.defaults.judge]\nmodel = 'fake/p'\n")
    assert list(plan.models) == ["fake/j", "fake/own", "fake/q"]
    assert plan.evals[0].judge_models == ("fake/own", "fake/j")


def test_the_configured_providers_stay_in_the_plan_for_models_that_only_a_body_names(tmp_path):
    plan = a_plan(tmp_path, an_eval("a"), config=TWO_HARNESSES + LOCAL)
    assert plan.models == {}
    assert (plan.providers["local"].kind, plan.providers["local"].model) == ("openai-chat", "")


WRONG = [
    ("gpt-5", "", ": the model 'gpt-5' has no provider; write 'provider/model', such as 'openai/gpt-5'"),
    ("antropic/x", "", "did you mean 'anthropic'?"),
    ("openai", "", "the model 'openai' is only a provider; write 'openai/…'"),
    ("p/m", "[provider.p]\nmax_concurrent = 2\n", "provider 'p' needs its kind; there are 'anthropic'"),
    ("p/m", '[provider.p]\nkind = "open-ai"\n', "provider 'p': there is no kind 'open-ai'; did you mean 'openai'?"),
    ("fake", "[provider.fake]\nscor = 1\n", ":7: provider.fake has no key 'scor'; did you mean 'score'?"),
    ("fake", "[provider.google]\ntimeout = 'x'\n", ":7: provider.google.timeout is 'x'; it should be a number"),
]


@pytest.mark.parametrize(("name", "config", "message"), WRONG)
def test_a_name_that_stands_for_no_model_is_refused_with_its_place(tmp_path, name, config, message):
    with pytest.raises(PlanError) as refused:
        models(tmp_path, name, config)
    assert message in str(refused.value)


@pytest.mark.parametrize("line", ["base_url = 'localhost:80'", "key = 'A=B'", "max_concurrent = 0", "key = ''"])
def test_the_common_keys_of_a_provider_are_checked(tmp_path, line):
    with pytest.raises(ConfigError, match=r"reeval.config.toml:7: provider.fake.\w+ is "):
        models(tmp_path, "fake", f"[provider.fake]\n{line}\n")


@pytest.mark.parametrize("votes", [0, 2, -1])
def test_votes_are_an_odd_number(tmp_path, votes):
    with pytest.raises(PlanError, match=f"judge.votes is {votes}; it should be an odd number, such as 3"):
        models(tmp_path, {"model": "fake", "votes": votes})
