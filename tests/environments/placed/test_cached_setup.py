"""Cached setup runs once for what it depends on, and attempts start from what it left, in every kind of sandbox."""

from __future__ import annotations

from dataclasses import replace

import anyio
import pytest

from reeval.errors import InfrastructureError, Phase
from reeval.schema.environment import Environment, SetupStep
from reeval.shelf import CACHE, SETUPS
from tests.environments.placed.places import Place
from tests.sandboxes.site import wait_until_gone

pytestmark = pytest.mark.anyio

STAMP = SetupStep(run="cat /proc/sys/kernel/random/uuid | tee stamp >~/stamp", cache=True)
"""What it leaves is another each time it runs."""
READ = "cat stamp ~/stamp"


def stamped(**parts: object) -> Environment:
    return replace(Environment(name="e", setup=(STAMP,)), **parts)  # type: ignore[arg-type]


async def test_a_second_attempt_starts_from_what_the_first_one_left(place: Place) -> None:
    first = await place.said(stamped(), READ)
    assert len(set(first.split())) == 1
    assert await place.said(stamped(), READ) == first


async def test_each_attempt_has_a_copy_of_its_own(place: Place) -> None:
    first = await place.said(stamped(), READ)
    await place.said(stamped(), "echo mine >stamp; rm ~/stamp; echo x >more")
    assert await place.said(stamped(), f"{READ}; ls | wc -l") == f"{first}1\n"


async def test_what_it_depends_on_makes_it_run_again(place: Place) -> None:
    different = [
        stamped(),
        stamped(setup=(replace(STAMP, run=f"{STAMP.run}; true"),)),
        stamped(files={"a": "x"}),
        stamped(files={"a": "y"}),
        stamped(env={"A": "x"}),
        stamped(env={"A": "y"}),
    ]
    said = [await place.said(environment, READ) for environment in (*different, *different)]
    assert said[: len(different)] == said[len(different) :]
    assert len(set(said)) == len(different)


async def test_what_is_not_cached_runs_after_it_in_every_attempt(place: Place) -> None:
    own = SetupStep(run="cat stamp >>own; cat /proc/sys/kernel/random/uuid >>own")
    first, second = [(await place.said(stamped(setup=(STAMP, own)), "cat own")).split() for _ in range(2)]
    assert (len(first), len(second)) == (2, 2)
    assert first[0] == second[0]
    assert first[1] != second[1]


async def test_many_at_once_run_it_once(place: Place) -> None:
    said = []

    async def one() -> None:
        said.append(await place.said(stamped(setup=(replace(STAMP, run=f"sleep 0.3; {STAMP.run}"),)), READ))

    async with anyio.create_task_group() as tasks:
        for _ in range(4):
            tasks.start_soon(one)
    assert len(said) == 4
    assert len(set(said)) == 1


async def test_a_change_is_told_from_what_it_left(place: Place) -> None:
    async with place.opened(stamped()) as sandbox:
        before = await sandbox.snapshot()
        await sandbox.exec("echo x >stamp; echo new >more")
        changes = await sandbox.changes(before, await sandbox.snapshot())
    assert sorted((file.path, file.status) for file in changes.files) == [("more", "added"), ("stamp", "modified")]


async def test_what_it_left_running_ends_with_it(place: Place) -> None:
    environment = stamped(setup=(replace(STAMP, run=f"{STAMP.run}; sleep 6177 >/dev/null 2>&1 &"),))
    await place.site.kind.prepare(place.request(environment))
    assert wait_until_gone("6177") == []


@pytest.mark.parametrize(
    ("step", "said"),
    [
        (SetupStep(run="echo why >&2; exit 3", cache=True), "the setup step 'echo why >&2; exit 3' exited with 3"),
        (SetupStep(run="sleep 30", cache=True, timeout=0.3), "the setup step 'sleep 30' took longer than its 0.3 s"),
    ],
)
async def test_a_step_that_fails_is_said_and_leaves_nothing(place: Place, step: SetupStep, said: str) -> None:
    for _ in range(2):
        with pytest.raises(InfrastructureError) as caught:
            await place.said(stamped(setup=(STAMP, step)), READ)
        assert (caught.value.phase, caught.value.reason) == (Phase.SETUP, said)
    assert list((place.site.root / CACHE).glob(f"{SETUPS}/[!.]*")) == []


async def test_a_new_process_finds_what_an_earlier_one_left(place: Place) -> None:
    first = await place.said(stamped(), READ)
    with place.started_again():
        assert await place.said(stamped(), READ) == first


async def test_what_names_a_plain_directory_is_not_given_to_another_attempt(place: Place) -> None:
    environment = stamped(setup=(SetupStep(run="mkdir bin; echo $PWD/bin >bin/activate", cache=True),))
    if place.name != "plain":
        assert await place.said(environment, "test $(cat bin/activate) = $PWD/bin; echo $?") == "0\n"
        return
    with pytest.raises(InfrastructureError) as caught:
        await place.said(environment, "true")
    assert caught.value.reason == (
        "what cached setup steps left cannot be moved to other attempts: 'workspace/bin/activate' holds the path of "
        "the plain directory where they ran; isolate the sandbox, or leave cache out"
    )
