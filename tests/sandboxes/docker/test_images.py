"""What containers start from: images that are there, pulled, built; prepared once and started many times."""

from __future__ import annotations

import os
import time

import anyio
import pytest

from reeval.cli.engines import image_problem
from reeval.errors import InfrastructureError, Phase, PlanError
from reeval.sandboxes.docker.images.base import BUILT
from reeval.sandboxes.docker.images.unused import UNUSED, remove_unused, unused_images
from reeval.schema.environment import Egress, SetupStep
from tests.sandboxes.docker.site import BUSYBOX, DockerSite, needs_engine

pytestmark = [pytest.mark.anyio, needs_engine]

NONE = "reeval-test/no-such-image:7"


def tags(docker: DockerSite) -> set[str]:
    found = docker.engine.now(lambda client: client.images(name=BUILT))
    return {tag for one in found for tag in one["RepoTags"] or ()}


async def test_a_missing_image_is_never_pulled_unasked_and_the_plan_says_what_to_do(docker: DockerSite) -> None:
    with pytest.raises(PlanError) as caught:
        docker.request(options={"image": NONE})
    assert str(caught.value) == (
        f"[sandbox.docker]: the image '{NONE}' is not on the container engine at unix:///var/run/docker.sock; "
        f'docker pull {NONE}, or pull = "missing" lets the run do it'
    )


def test_doctor_says_of_a_sandbox_whether_its_image_is_there(docker: DockerSite) -> None:
    assert image_problem("box", {"kind": "docker", "image": BUSYBOX}, docker.root) is None
    assert image_problem("box", {"image": NONE, "pull": "missing"}, docker.root) is None
    problem = image_problem("box", {"image": NONE}, docker.root)
    assert problem is not None
    assert problem.startswith(f"the image '{NONE}' is not on the container engine at ")


async def test_an_image_that_cannot_be_pulled_is_an_error_of_the_attempt(docker: DockerSite) -> None:
    image = "127.0.0.1:9/no/such:1"
    with pytest.raises(InfrastructureError, match=f"the image '{image}' could not be pulled: ") as caught:
        async with docker.open(options={"image": image, "pull": "missing"}):
            pass
    assert caught.value.phase is Phase.SANDBOX


async def test_an_image_is_pulled_when_that_is_allowed(docker: DockerSite, registry: str) -> None:
    image = f"{registry}/small:1"
    async with docker.open(options={"image": image, "pull": "missing"}) as sandbox:
        assert (await sandbox.exec("echo pulled")).stdout == "pulled\n"
    docker.engine.now(lambda client: client.remove_image(image, force=True))


async def test_an_image_that_goes_between_plan_and_start_is_an_error_that_says_what_to_do(docker: DockerSite) -> None:
    image = "reeval-test/going:1"
    docker.engine.now(lambda client: client.tag(BUSYBOX, "reeval-test/going", "1"))
    request = docker.request(options={"image": image})
    docker.engine.now(lambda client: client.remove_image(image))
    async with docker.kind.open(request) as sandbox:  # Another name keeps the content, which is what was planned.
        assert (await sandbox.exec("true")).ok


async def test_a_prepared_image_that_goes_during_a_run_is_made_again_for_all_who_need_it(docker: DockerSite) -> None:
    steps = (SetupStep(run="date +%N > when", cache=True),)
    request = docker.request(tree=docker.tree({"workspace/a.txt": "a\n"}), cached=steps)
    image = await docker.kind.prepare(request)
    gone = remove_unused(docker.engine, docker.root, time.time() + 2 * UNUSED)
    assert image.id in {one.id for one in gone}
    seen = []

    async def attempt() -> None:
        async with docker.kind.open(request) as sandbox:
            before = await sandbox.snapshot()
            seen.append((await sandbox.exec("cat a.txt; ls; echo b > b.txt")).stdout)
            changes = await sandbox.changes(before, await sandbox.snapshot())
            assert [(file.path, file.status) for file in changes.files] == [("b.txt", "added")]

    async with anyio.create_task_group() as tasks:
        for _ in range(3):
            tasks.start_soon(attempt)
    assert seen == ["a\na.txt\nwhen\n"] * 3


async def test_an_image_of_somebody_elses_that_is_gone_is_said_with_what_to_do(docker: DockerSite) -> None:
    request = docker.request(options={"proxy_image": NONE}, egress=Egress(mode="allow", hosts=("example.com",)))
    with pytest.raises(InfrastructureError) as caught:
        async with docker.kind.open(request):
            pass
    assert str(caught.value) == (
        f"the image '{NONE}' is gone from the container engine; docker pull {NONE}, then run again"
    )


async def test_an_image_without_a_shell_is_refused_with_the_reason(docker: DockerSite) -> None:
    docker.engine.now(
        lambda client: client.import_image_from_data(b"\0" * 10240, "reeval-test/empty", "1", changes=["CMD x"])
    )
    try:
        with pytest.raises(InfrastructureError, match="the image has no /bin/sh"):
            async with docker.open(options={"image": "reeval-test/empty:1"}):
                pass
    finally:
        docker.clean()
        docker.engine.now(lambda client: client.remove_image("reeval-test/empty:1", force=True))


async def test_an_image_is_built_from_a_dockerfile_once_for_its_content(docker: DockerSite) -> None:
    context = docker.root / "box"
    context.mkdir()
    (context / "Dockerfile").write_text(f"FROM {BUSYBOX}\nCOPY motd /motd\nENV FROM_FILE=yes\nRUN echo built >> /log\n")
    (context / "motd").write_text("one\n")
    options = {"dockerfile": "box/Dockerfile"}
    seen = []
    for text in ("one\n", "one\n", "two\n"):
        (context / "motd").write_text(text)
        request = docker.request(options=options)
        async with docker.kind.open(request) as sandbox:
            seen.append((await sandbox.exec("cat /motd /log; echo $FROM_FILE")).stdout)
    assert seen == ["one\nbuilt\nyes\n", "one\nbuilt\nyes\n", "two\nbuilt\nyes\n"]


async def test_a_dockerfile_that_fails_says_what_it_printed_and_leaves_nothing(docker: DockerSite) -> None:
    (docker.root / "Dockerfile").write_text(f"FROM {BUSYBOX}\nRUN echo about to fail; exit 3\n")
    request = docker.request(options={"dockerfile": "Dockerfile"})
    with pytest.raises(
        InfrastructureError, match=r"the image of 'Dockerfile' could not be built: .* code: 3"
    ) as caught:
        await docker.kind.prepare(request)
    assert "about to fail" in caught.value.detail
    left = docker.engine.now(lambda client: client.containers(all=True))
    assert not [one for one in left if "about to fail" in one["Command"]]


async def test_what_a_dockerfile_builds_on_is_never_pulled_unasked(docker: DockerSite) -> None:
    (docker.root / "Dockerfile").write_text(f"FROM {BUSYBOX} AS one\nFROM one\nFROM {NONE}\n")
    with pytest.raises(PlanError, match=f"the image '{NONE}' is not on the container engine"):
        docker.request(options={"dockerfile": "Dockerfile"})


async def test_install_commands_run_once_as_root(docker: DockerSite) -> None:
    mark = os.urandom(6).hex()
    options = {"install": [f"echo {mark} > /etc/installed", "id -u >> /etc/installed; date >> /runs"]}
    for _ in range(2):
        async with docker.open(options=options) as sandbox:
            assert (await sandbox.exec("cat /etc/installed; wc -l < /runs")).stdout.split() == [mark, "0", "1"]
        docker.kind._images.clear()


async def test_an_install_command_that_fails_is_said_with_its_output(docker: DockerSite) -> None:
    with pytest.raises(InfrastructureError, match="the install command 'echo why; exit 4' exited with 4") as caught:
        async with docker.open(options={"install": ["echo why; exit 4"]}):
            pass
    assert caught.value.detail == "why"


async def test_cached_setup_runs_once_and_what_it_left_is_there_for_everybody(docker: DockerSite) -> None:
    tree = docker.tree({"workspace/a.txt": "a\n"})
    steps = (
        SetupStep(run="date +%N > when; echo $KIND >> a.txt", cache=True),
        SetupStep(run="touch ~/two", cache=True),
    )
    seen = []
    for number in range(2):
        request = docker.request(tree=tree, cached=steps, cached_env={"KIND": "x"})
        async with docker.kind.open(request) as sandbox:
            before = await sandbox.snapshot()
            seen.append((await sandbox.exec("cat when a.txt; ls ~; echo b > b.txt; echo more >> a.txt")).stdout)
            changes = await sandbox.changes(before, await sandbox.snapshot())
            assert [(file.path, file.status) for file in changes.files] == [("a.txt", "modified"), ("b.txt", "added")]
            assert "+more" in changes.patch
            assert "+x" not in changes.patch
        docker.kind._images.clear()
        assert number == 0 or seen[0] == seen[1]
    assert seen[0].split()[1:] == ["a", "x", "two"]


async def test_a_cached_step_that_fails_or_takes_too_long_is_an_error_of_setup(docker: DockerSite) -> None:
    for step, words in (
        (SetupStep(run="echo why; exit 4", cache=True), "exited with 4"),
        (SetupStep(run="sleep 60", timeout=0.5, cache=True), "took longer than its 0.5 s"),
    ):
        with pytest.raises(InfrastructureError, match=words) as caught:
            await docker.kind.prepare(docker.request(cached=(step,)))
        assert caught.value.phase is Phase.SETUP


async def test_programs_of_the_host_stand_at_the_same_path_and_cannot_be_changed(docker: DockerSite) -> None:
    program = docker.root / "closed" / "tool"
    (program / "bin").mkdir(parents=True)
    (program / "bin" / "greet").write_text("#!/bin/sh\necho hello\n")
    (program / "bin" / "greet").chmod(0o700)
    (docker.root / "closed").chmod(0o700)
    async with docker.kind.open(docker.request(programs=(str(program),))) as sandbox:
        done = await sandbox.exec(f"greet; echo x > {program}/bin/greet; echo $?; touch {program}/new; ls {program}")
        assert done.stdout == "hello\n1\nbin\n"


async def test_secrets_of_a_process_are_in_no_image(docker: DockerSite) -> None:
    secret = "s3cret-" + os.urandom(8).hex()
    async with docker.open(tree=docker.tree({"workspace/a": "a"})) as sandbox:
        assert (await sandbox.exec("echo $TOKEN", env={"TOKEN": secret})).stdout == f"{secret}\n"
        (container,) = docker.containers()
        shown = [docker.engine.now(lambda client: client.inspect_container(container["Id"]))]
        image = container["ImageID"]
        shown += docker.engine.now(lambda client: [client.inspect_image(image), client.history(image)])
    assert secret not in str(shown)


async def test_images_that_nobody_used_for_a_day_can_go(docker: DockerSite) -> None:
    tree = docker.tree({"workspace/a.txt": os.urandom(8).hex()})
    request = docker.request(tree=tree)
    await docker.kind.prepare(request)
    later = time.time()
    assert unused_images(docker.engine, docker.root, later) == []
    assert remove_unused(docker.engine, docker.root, later + 2 * UNUSED, room=10**12) == []
    gone = remove_unused(docker.engine, docker.root, later + 2 * UNUSED)
    assert gone
    assert not {image.name for image in gone} & tags(docker)
    docker.kind._images.clear()
    async with docker.kind.open(request) as sandbox:
        assert (await sandbox.exec("ls")).stdout == "a.txt\n"
