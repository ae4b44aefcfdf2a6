"""What is seen of changes in the workspace of a container: the same as in any other sandbox."""

from __future__ import annotations

import pytest

from reeval.protocols import Sandbox
from reeval.schema.transcript import Changes
from tests.sandboxes.docker.site import DockerSite, needs_engine

pytestmark = [pytest.mark.anyio, needs_engine]

FILES = {
    "workspace/a.txt": "one\ntwo\n",
    "workspace/src/b.py": "b = 1\n",
    "workspace/.gitignore": "build/\n*.log\n",
    "workspace/node_modules/x/index.js": "x\n",
    "home/.config": "h\n",
}


async def changed(sandbox: Sandbox, command: str) -> Changes:
    before = await sandbox.snapshot()
    done = await sandbox.exec(command)
    assert done.ok, done.stderr
    return await sandbox.changes(before, await sandbox.snapshot())


def listed(changes: Changes) -> list[tuple[str, str, bool]]:
    return [(file.path, file.status, file.binary) for file in changes.files]


async def test_a_prepared_tree_stands_in_every_container_and_belongs_to_the_agent(docker: DockerSite) -> None:
    tree = docker.tree(FILES)
    for _ in range(2):
        async with docker.open(tree=tree) as sandbox:
            done = await sandbox.exec("cat a.txt ~/.config; echo more >> a.txt; touch src/new; stat -c %U src/b.py")
            assert done.stdout == "one\ntwo\nh\nagent\n"


async def test_added_modified_and_deleted_files_are_listed_with_their_patch(docker: DockerSite) -> None:
    async with docker.open(tree=docker.tree(FILES)) as sandbox:
        changes = await changed(
            sandbox, "echo three >> a.txt; rm src/b.py; mkdir 'n d'; echo n > 'n d/n'; ln -s a.txt l"
        )
        assert listed(changes) == [
            ("a.txt", "modified", False),
            ("l", "added", False),
            ("n d/n", "added", False),
            ("src/b.py", "deleted", False),
        ]
        assert "+three" in changes.patch
        assert "-b = 1" in changes.patch
        changes = await changed(sandbox, "echo four >> a.txt; chmod +x a.txt; touch l")
        assert listed(changes) == [("a.txt", "modified", False)]
        assert "+four" in changes.patch
        assert "+three" not in changes.patch
        assert "new mode 100755" in changes.patch


async def test_nothing_is_listed_when_nothing_changed(docker: DockerSite) -> None:
    async with docker.open(tree=docker.tree(FILES)) as sandbox:
        assert listed(await changed(sandbox, "true")) == []
        assert listed(await changed(sandbox, "touch a.txt; cp a.txt x; rm x; mv a.txt y; mv y a.txt")) == []


async def test_what_is_ignored_is_left_out_and_nothing_is_hidden_by_ignoring_it(docker: DockerSite) -> None:
    async with docker.open(tree=docker.tree(FILES)) as sandbox:
        changes = await changed(
            sandbox,
            "mkdir -p build .git node_modules/y deep/build; "
            "touch build/x .git/x node_modules/y/z x.log deep/build/x d.txt; "
            "echo 'a.txt' >> .gitignore; echo changed > a.txt; echo '*.md' > deep/.gitignore; touch deep/x.md deep/y",
        )
        assert [path for path, _, _ in listed(changes)] == [
            ".gitignore", "a.txt", "d.txt", "deep/.gitignore", "deep/y",
        ]  # fmt: skip


async def test_an_empty_workspace_is_seen_from_its_first_file(docker: DockerSite) -> None:
    async with docker.open() as sandbox:
        assert listed(await changed(sandbox, "echo x > x; printf 'a\\0b' > bin")) == [
            ("bin", "added", True),
            ("x", "added", False),
        ]


async def test_odd_names_big_files_and_closed_directories_are_listed(docker: DockerSite) -> None:
    async with docker.open() as sandbox:
        changes = await changed(
            sandbox,
            "echo x > \"$(printf 'new\\nline')\"; echo x > \"$(printf '\\377')\"; head -c 2000000 /dev/zero > big; "
            "mkdir shut; touch shut/x; chmod 0 shut; mkfifo pipe; ln -s /etc/passwd out; ln big hard",
        )
        assert listed(changes) == [
            ("big", "added", True),
            ("hard", "added", True),
            ("new\nline", "added", False),
            ("out", "added", False),
            ("shut/", "added", True),
            (r"\xff", "added", False),
        ]
        assert "root:x" not in changes.patch


async def test_what_is_written_between_two_looks_is_not_the_agents(docker: DockerSite) -> None:
    async with docker.open(tree=docker.tree(FILES)) as sandbox:
        await sandbox.write("hidden/test.py", b"assert True\n")
        assert listed(await changed(sandbox, "echo x > x")) == [("x", "added", False)]
        assert listed(await changed(sandbox, "rm hidden/test.py")) == [("hidden/test.py", "deleted", False)]
