"""Which host variables a plan needs, and which of them are not set."""

from reeval.plan.secrets import missing_secrets, secret_names
from reeval.schema.environment import Environment, Secret
from tests.plan.world import FILE, a_plan, an_eval

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
