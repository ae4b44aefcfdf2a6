"""What keeps a plan from starting: secrets that are not set, and what only a later version runs."""

from reeval.plan.secrets import missing_secrets, not_runnable, secret_names
from reeval.schema.environment import Environment, Secret
from reeval.schema.spec import CompareSpec, Question
from tests.plan.world import FILE, TWO_HARNESSES, a_plan, an_eval

ENVIRONMENT = Environment(
    name="plain", env={"A": "text", "B": Secret(name="HOST_B"), "C": Secret(name="HOST_C", optional=True)}
)
WITH_SECRETS = an_eval(options={"environment": ENVIRONMENT, "env": {"D": Secret(name="HOST_D"), "E": "plain"}})


def test_every_secret_is_named_so_that_it_can_be_masked(tmp_path):
    assert secret_names(a_plan(tmp_path, WITH_SECRETS)) == {"HOST_B", "HOST_C", "HOST_D"}


def test_a_secret_that_is_needed_and_not_set_is_told_once(tmp_path):
    plan = a_plan(tmp_path, WITH_SECRETS, an_eval("again", options={"environment": ENVIRONMENT}))
    ending = "which is not set; set it (also in .env), or declare it with optional = true"
    assert missing_secrets(plan, {}) == [
        f"{FILE}:10: D is the host's HOST_D, {ending}",
        f"environment 'plain': B is the host's HOST_B, {ending}",
    ]
    assert missing_secrets(plan, {"HOST_B": "x", "HOST_D": ""}) == []


def test_what_does_not_run_needs_no_secret(tmp_path):
    skipped = an_eval(mode="skip", options={"environment": ENVIRONMENT, "env": {"D": Secret(name="HOST_D")}})
    assert secret_names(a_plan(tmp_path, skipped, an_eval("other"))) == frozenset()


def test_a_plain_plan_can_run(tmp_path):
    assert not_runnable(a_plan(tmp_path, an_eval())) is None


def test_what_only_a_later_version_runs_is_told_with_the_evals(tmp_path):
    config = TWO_HARNESSES + '[analysis]\nmodel = "fake"\n'
    house = CompareSpec(variants=(Environment(name="house"),))
    plan = a_plan(
        tmp_path,
        an_eval("compared", line=1, compare=house, questions=(Question("Why?"),)),
        an_eval("asked", line=2, questions=(Question("Why?"),)),
        an_eval("many", line=3, options={"runs": {"until_decided": 9}}),
        an_eval("best", line=4, options={"runs": {"best_of": 3}}),
        an_eval("skipped", line=5, mode="skip", options={"runs": {"best_of": 3}}),
        *[an_eval(f"more {n}", line=n, options={"runs": {"until_decided": 9}}) for n in range(10, 20)],
        config=config,
    )
    assert not_runnable(plan) == (
        "running what these evals ask for is not in this version yet; --dry-run shows their plan:\n"
        f"  runs = {{until_decided = …}}: {FILE}:3 'many', {FILE}:10 'more 10', {FILE}:11 'more 11', "
        f"{FILE}:12 'more 12', {FILE}:13 'more 13' and 6 more\n"
        f"  runs = {{best_of = …}}: {FILE}:4 'best'"
    )
