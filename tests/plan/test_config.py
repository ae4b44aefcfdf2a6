"""What the config file may hold, and what is said when it holds something else."""

import pytest

from reeval.errors import ConfigError
from reeval.plan.config import Analysis, Config, History, Profile, ProfileSelect, find_root, load_config
from reeval.schema.environment import Egress, Environment, HostFile, McpServer, Secret, SetupStep, Skill, Workspace

WHOLE = """
evals = ["evals/**/*.eval.py", "more/*.py"]
kind = "scored"
max_concurrent = 3

[defaults]
harness = { add = ["codex:gpt-x"] }
environment = "plain"
runs = { until_decided = 20 }
gate = { pass_rate = 0.8 }
timeout = "15m"
tags = ["nightly"]
pin = ["runs"]
env = { A = "x", TOKEN = { from = "HOST_TOKEN", to = "agent" } }
egress = "deny-all"
sandbox = "box"
judge = { model = "fake/judge", threshold = 1, state = { contents = ["*.md"], transcript = "tools" } }
question = "fake/asked"
capture = { browser = "x" }

[harness.terse]
kind = "fake"
model = "m"
max_concurrent = 2
start_timeout = "250ms"
script = [[{ reply = "hi" }]]

[environment.plain]
workspace = "fixtures/app"
files = { "a.txt" = "text", "b.bin" = { from = "fixtures/b.bin" } }
rules = { from = "RULES.md" }
setup = ["git init -q", { run = "npm ci", timeout = "2m", cache = true }]
skills = [
  { path = "skills/a", only = ["*.md"] },
  { git = "file:///x", ref = "main" },
  { name = "n", description = "d", content = "c", files = { "x.py" = "1" } },
]
mcp.docs = { command = ["docs", "serve"], env = { K = { from = "HOST_K", optional = true } } }
mcp.web = { url = "http://127.0.0.1/mcp" }
env = { B = "y" }
egress = { allow = ["*.example.com"] }
sandbox = "box"

[environment.child]
extends = "plain"
setup = ["echo more"]
env = { B = "z" }

[environment.from-git]
workspace = { git = "file:///y", ref = "v1", init = true }

[sandbox.box]
kind = "local"
isolation = "none"

[profile.ci]
defaults = { timeout = 30 }
limit = { compare = false, harness = "terse", runs = 1 }
select = { tags = "smoke", kind = "pass-fail", paths = ["evals/a"] }

[history]
artifacts = "failed"
keep = "30d"

[analysis]
model = "fake/model"
"""


def test_every_table_and_key_is_read(tmp_path):
    config = write(tmp_path, WHOLE)
    assert config == Config(
        root=tmp_path,
        evals=("evals/**/*.eval.py", "more/*.py"),
        kind="scored",
        max_concurrent=3,
        defaults={
            "harness": {"add": ["codex:gpt-x"]},
            "environment": "plain",
            "runs": {"until_decided": 20},
            "gate": {"pass_rate": 0.8},
            "timeout": 900.0,
            "tags": ["nightly"],
            "pin": ["runs"],
            "env": {"A": "x", "TOKEN": Secret(name="HOST_TOKEN", to="agent")},
            "egress": Egress(mode="deny-all"),
            "sandbox": "box",
            "judge": {
                "model": "fake/judge",
                "threshold": 1.0,
                "state": {"contents": ["*.md"], "transcript": "tools"},
            },
            "question": "fake/asked",
            "capture": {"browser": "x"},
        },
        harnesses={
            "terse": {
                "kind": "fake",
                "model": "m",
                "max_concurrent": 2,
                "start_timeout": 0.25,
                "script": [[{"reply": "hi"}]],
            }
        },
        environments={
            "plain": PLAIN,
            "child": Environment(
                name="child",
                **{
                    **{field: getattr(PLAIN, field) for field in ("workspace", "files", "rules", "skills", "mcp")},
                    "setup": (*PLAIN.setup, SetupStep(run="echo more")),
                    "env": {"B": "z"},
                    "egress": PLAIN.egress,
                    "sandbox": "box",
                },
            ),
            "from-git": Environment(name="from-git", workspace=Workspace(git="file:///y", ref="v1", init=True)),
        },
        sandboxes={"box": {"kind": "local", "isolation": "none"}},
        profiles={
            "ci": Profile(
                defaults={"timeout": 30.0},
                limit={"compare": False, "harness": ["terse"], "runs": 1},
                select=ProfileSelect(tags=("smoke",), kind="pass-fail", paths=("evals/a",)),
            )
        },
        history=History(artifacts="failed", keep="30d"),
        analysis=Analysis(model="fake/model"),
    )


PLAIN = Environment(
    name="plain",
    workspace=Workspace(path="fixtures/app"),
    files={"a.txt": "text", "b.bin": HostFile(path="fixtures/b.bin")},
    rules=HostFile(path="RULES.md"),
    setup=(SetupStep(run="git init -q"), SetupStep(run="npm ci", timeout=120.0, cache=True)),
    skills=(
        Skill(kind="local", path="skills/a", only=("*.md",)),
        Skill(kind="git", url="file:///x", ref="main"),
        Skill(kind="inline", name="n", description="d", content="c", files={"x.py": "1"}),
    ),
    mcp={
        "docs": McpServer(kind="stdio", command=("docs", "serve"), env={"K": Secret(name="HOST_K", optional=True)}),
        "web": McpServer(kind="http", url="http://127.0.0.1/mcp"),
    },
    env={"B": "y"},
    egress=Egress(mode="allow", hosts=("*.example.com",)),
    sandbox="box",
)


def test_an_empty_file_is_a_config(tmp_path):
    config = write(tmp_path, "")
    assert config == Config(root=tmp_path)
    assert (config.evals, config.max_concurrent, config.history.keep) == (("evals/**/*.eval.py",), 10, None)


FAULTS = [
    # A key that is not known, at each depth
    ("evls = []", "reeval.config.toml:1: the file has no key 'evls'; did you mean 'evals'?"),
    (
        "[defaults]\nharnes = 'x'",
        "reeval.config.toml:2: defaults has no key 'harnes'; did you mean 'harness'?",
    ),
    (
        "[defaults]\n\njudge = { state = { contnts = [] } }",
        "reeval.config.toml:3: defaults.judge.state has no key 'contnts'; did you mean 'contents'?",
    ),
    (
        "[profile.ci.limit]\ncompar = false",
        "reeval.config.toml:2: profile.ci.limit has no key 'compar'; did you mean 'compare'?",
    ),
    (
        "[profile.ci]\nselect = { tag = 'x' }",
        "reeval.config.toml:2: profile.ci.select has no key 'tag'; did you mean 'tags'?",
    ),
    (
        "[environment.plain]\nsetup = [\n  'a',\n  { run = 'b', tmeout = 3 },\n]",
        "reeval.config.toml:4: environment.plain.setup[2] has no key 'tmeout'; did you mean 'timeout'?",
    ),
    (
        "[environment.plain]\nskills = [{ git = 'x', reff = 'y' }]",
        "reeval.config.toml:2: environment.plain.skills[1] has no key 'reff'; did you mean 'ref'?",
    ),
    (
        "[environment.plain.mcp.docs]\nurl = 'x'\nenv = {}",
        "reeval.config.toml:3: environment.plain.mcp.docs has no key 'env'; there are 'headers', 'url'",
    ),
    (
        "[history]\nkeeep = 1\n",
        "reeval.config.toml:2: history has no key 'keeep'; did you mean 'keep'?",
    ),
    # A value that is not of the type, or out of range
    ("max_concurrent = 0", "reeval.config.toml:1: max_concurrent is 0; it should be at least 1"),
    ("max_concurrent = true", "reeval.config.toml:1: max_concurrent is true; it should be a whole number"),
    ("max_concurrent = 2.5", "reeval.config.toml:1: max_concurrent is 2.5; it should be a whole number"),
    ("kind = 'score'", "reeval.config.toml:1: kind is 'score'; it should be 'pass-fail' or 'scored'"),
    ("evals = []", "reeval.config.toml:1: evals is []; it should be a list that is not empty"),
    ("evals = ['a', 3]", "reeval.config.toml:1: evals[2] is 3; it should be a text"),
    ("defaults = 3", "reeval.config.toml:1: defaults is 3; it should be a table"),
    ("[defaults]\nruns = '4'", "reeval.config.toml:2: defaults.runs is '4'; it should be a whole number"),
    ("[defaults]\nruns = 0", "reeval.config.toml:2: defaults.runs is 0; it should be at least 1"),
    (
        "[defaults]\nruns = {}",
        "reeval.config.toml:2: defaults.runs is {}; it should be a table with one of 'until_decided', 'best_of'",
    ),
    (
        "[defaults]\ngate = { pass_rate = 1.5 }",
        "reeval.config.toml:2: defaults.gate.pass_rate is 1.5; it should be at most 1",
    ),
    (
        "[defaults]\ngate = { mean_score = nan }",
        "reeval.config.toml:2: defaults.gate.mean_score is nan; it should be a finite number",
    ),
    (
        "[defaults]\ngate = { pass_rate = 1, mean_score = 1 }",
        (
            "reeval.config.toml:2: defaults.gate is {'pass_rate': 1, 'mean_score': 1}; "
            "it should be a table with one of 'pass_rate', 'mean_score'"
        ),
    ),
    ("[defaults]\ngate = 'most'", "reeval.config.toml:2: defaults.gate is 'most'; it should be 'all' or 'none'"),
    *(
        (
            f"[defaults]\ntimeout = {value}",
            (
                f"reeval.config.toml:2: defaults.timeout is {shown}; "
                "it should be seconds above 0, or a text such as '90s', '15m', '1h', '250ms'"
            ),
        )
        for value, shown in [
            ("0", "0"),
            ("-1", "-1"),
            ("inf", "inf"),
            ("true", "true"),
            ("'15 parsecs'", "'15 parsecs'"),
            ("'0s'", "'0s'"),
        ]
    ),
    (
        "[defaults]\npin = ['run']",
        "reeval.config.toml:2: defaults.pin[1] is 'run'; it should be 'compare', 'harness' or 'runs'",
    ),
    (
        "[defaults]\negress = 'deny'",
        "reeval.config.toml:2: defaults.egress is 'deny'; it should be 'allow-all' or 'deny-all'",
    ),
    ("[defaults]\nenv = { A = 3 }", "reeval.config.toml:2: defaults.env.A is 3; it should be a text"),
    ("[defaults]\nenv = { B = { to = 'all' } }", "reeval.config.toml:2: defaults.env.B needs 'from'"),
    (
        "[environment.plain]\nskills = [{ name = 'x', description = 'y' }]",
        "reeval.config.toml:2: environment.plain.skills[1] needs 'content'",
    ),
    (
        "[environment.plain]\nworkspace = {}",
        (
            "reeval.config.toml:2: environment.plain.workspace is {}; "
            "it should be a table with 'path' (a directory) or 'git' (a URL), or with init = true"
        ),
    ),
    (
        "[environment.plain]\nworkspace = { path = 'x', ref = 'y' }",
        (
            "reeval.config.toml:2: environment.plain.workspace is {'path': 'x', 'ref': 'y'}; "
            "it should be a directory without 'ref', which belongs to a git source"
        ),
    ),
    (
        "[harness.terse]\nstart_timeout = 0",
        (
            "reeval.config.toml:2: harness.terse.start_timeout is 0; "
            "it should be seconds above 0, or a text such as '90s', '15m', '1h', '250ms'"
        ),
    ),
    (
        "[history]\nkeep = '3x'",
        "reeval.config.toml:2: history.keep is '3x'; it should be a text such as '30d' or '2GB'",
    ),
    ("[history]\nkeep = 0", "reeval.config.toml:2: history.keep is 0; it should be at least 1"),
    ("[data]\ndatabase = 3", "reeval.config.toml:2: data.database is 3; it should be a text"),
    ("[data]\ndatabse = 'x'", "reeval.config.toml:2: data has no key 'databse'; did you mean 'database'?"),
    (
        "[data]\nfolder = '../agents'",
        (
            "reeval.config.toml:2: data.folder is '../agents'; it should be a folder inside the project, "
            "such as 'agents'"
        ),
    ),
    ("[data]\nmax_rows = 0", "reeval.config.toml:2: data.max_rows is 0; it should be at least 1"),
    (
        "[data]\nstatement_timeout = '0s'",
        (
            "reeval.config.toml:2: data.statement_timeout is '0s'; it should be seconds above 0, or a text such as "
            "'90s', '15m', '1h', '250ms'"
        ),
    ),
    ("[data]\ntarget = 'live'", "reeval.config.toml:2: data.target is 'live'; it should be 'dev', 'staging' or 'prod'"),
    ("[data]\ngate = 'some'", "reeval.config.toml:2: data.gate is 'some'; it should be 'all' or 'none'"),
    ("[data]\ngate = {acuracy = 1}", "reeval.config.toml:2: data.gate has no key 'acuracy'; did you mean 'accuracy'?"),
    ("[data]\ngate = {accuracy = 80}", "reeval.config.toml:2: data.gate.accuracy is 80; it should be at most 1"),
    ("[data]\nenvironment = 'x'", "reeval.config.toml:2: there is no environment 'x'; there are none"),
    ("[[data.questions]]\nchoices = ['a']", "reeval.config.toml:1: data.questions[1] needs 'text'"),
    (
        "[[data.questions]]\ntext = 'T'\nchoices = ['a']",
        (
            "reeval.config.toml:1: data.questions[1] is {'text': 'T', 'choices': ['a']}; it cannot be asked: "
            "Question('T') has choices=['a']; give at least two different ones"
        ),
    ),
    ("[data.compare]\nbaseline = 'a'", "reeval.config.toml:1: data.compare needs 'variants'"),
    # What does not fit together
    (
        "[environment.plain]\n[defaults]\nenvironment = 'plian'",
        "reeval.config.toml:3: there is no environment 'plian'; did you mean 'plain'?",
    ),
    (
        "[profile.ci.defaults]\nenvironment = 'x'",
        "reeval.config.toml:2: there is no environment 'x'; there are none",
    ),
    (
        "[environment.a]\nextends = 'bb'",
        "reeval.config.toml:2: environment 'a' extends 'bb', which is not there; there is 'a'",
    ),
    (
        "[environment.a]\nextends = 'a'",
        "reeval.config.toml:2: environment 'a' extends itself by way of 'a'; break the circle",
    ),
    # Not TOML
    ("a = 1\nb = \n", "reeval.config.toml:2: this is not TOML: Invalid value, column 5"),
    ("a = 1\na = 2\n", "reeval.config.toml:2: this is not TOML: Cannot overwrite a value, column 6"),
    ("a = [\n", "reeval.config.toml:2: this is not TOML: Invalid value"),
]


@pytest.mark.parametrize(("text", "message"), FAULTS)
def test_a_fault_is_said_with_its_line_and_what_to_write(tmp_path, text, message):
    assert refusal(tmp_path, text) == message


def test_all_problems_are_told_together_in_the_order_of_the_file(tmp_path):
    text = "max_concurent = 3\nkind = 1\n[profile.ci.limit]\nrun = 1\n[defaults]\nruns = 0\ntags = 'x'\n"
    assert refusal(tmp_path, text).splitlines() == [
        "reeval.config.toml:1: the file has no key 'max_concurent'; did you mean 'max_concurrent'?",
        "reeval.config.toml:2: kind is 1; it should be 'pass-fail' or 'scored'",
        "reeval.config.toml:4: profile.ci.limit has no key 'run'; did you mean 'runs'?",
        "reeval.config.toml:6: defaults.runs is 0; it should be at least 1",
        "reeval.config.toml:7: defaults.tags is 'x'; it should be a list",
    ]


def test_a_long_value_is_cut_in_the_message(tmp_path):
    assert len(refusal(tmp_path, f"kind = '{'x' * 10_000}'")) < 200


def test_a_circle_of_environments_is_told_once_for_each_link(tmp_path):
    text = "[environment.a]\nextends = 'b'\n[environment.b]\nextends = 'a'\n"
    assert len(refusal(tmp_path, text).splitlines()) == 2


def test_values_nested_too_deeply_are_refused(tmp_path):
    assert "nested too deeply" in refusal(tmp_path, "a = " + "[" * 5_000 + "]" * 5_000)


def test_a_file_in_another_encoding_is_refused(tmp_path):
    (tmp_path / "reeval.config.toml").write_bytes(b"kind = '\xff'")
    with pytest.raises(ConfigError, match="byte 8 is not UTF-8"):
        load_config(tmp_path)


def test_a_byte_order_mark_is_no_part_of_the_text(tmp_path):
    (tmp_path / "reeval.config.toml").write_bytes(b"\xef\xbb\xbfmax_concurrent = 2")
    assert load_config(tmp_path).max_concurrent == 2


def test_a_directory_in_its_place_is_refused(tmp_path):
    (tmp_path / "reeval.config.toml").mkdir()
    with pytest.raises(ConfigError, match=r"reeval\.config\.toml cannot be read: Is a directory"):
        load_config(tmp_path)


def test_the_root_is_the_nearest_folder_with_a_config(tmp_path):
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    (tmp_path / "reeval.config.toml").touch()
    assert find_root(inner) == tmp_path
    (tmp_path / "a" / "reeval.config.toml").touch()
    assert find_root(inner) == tmp_path / "a"


def test_without_a_config_the_error_says_how_to_start(tmp_path):
    with pytest.raises(ConfigError, match=r"no reeval\.config\.toml in .* or a folder above it; run `reeval init`"):
        find_root(tmp_path)


def write(root, text: str) -> Config:
    (root / "reeval.config.toml").write_text(text)
    return load_config(root)


def refusal(root, text: str) -> str:
    with pytest.raises(ConfigError) as caught:
        write(root, text)
    return str(caught.value)
