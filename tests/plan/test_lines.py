"""Where a key of a TOML text stands."""

import random
import tomllib

import pytest

from reeval.plan.toml.lines import key_lines, line_of

TEXT = '''\
# a comment with [brackets] and a = sign
a = 1
"b c".d = "x # y ] \\" z"

[x.y] # hi
k = [1,
  2, # n ]
  {p = 1, q = [ "a", 'b' ]},
]
m = """
[not.a] = 1
a quote at the end: """"
n = \'\'\'
q = "\'\'\'
d = 1979-05-27 07:32:00
[[z]]
v = 1
[z.w]
u = 2
[[z]]
v = {a.b = 3}
[z.w]
u = 2
"\\u0061b" = 1
'''

PLACES = [
    (("a",), 2),
    (("b c", "d"), 3),
    (("x",), 5),
    (("x", "y", "k"), 6),
    (("x", "y", "k", 1), 7),
    (("x", "y", "k", 2, "p"), 8),
    (("x", "y", "k", 2, "q", 1), 8),
    (("x", "y", "m"), 10),
    (("x", "y", "n"), 13),
    (("x", "y", "d"), 15),
    (("z", 0), 16),
    (("z", 0, "v"), 17),
    (("z", 0, "w", "u"), 19),
    (("z", 1, "v", "a", "b"), 21),
    (("z", 1, "w", "u"), 23),
    (("z", 1, "w", "ab"), 24),
]


@pytest.mark.parametrize(("path", "line"), PLACES)
def test_a_key_is_found_where_it_stands(path, line):
    tomllib.loads(TEXT)
    assert line_of(key_lines(TEXT), path) == line


def test_windows_line_ends_do_not_move_lines():
    assert line_of(key_lines(TEXT.replace("\n", "\r\n")), ("z", 1, "w", "u")) == 23


def test_a_key_that_is_not_there_is_placed_at_the_nearest_table_above_it():
    lines = key_lines("a = 1\n[x]\n[x.y]\nb = 2\n")
    assert line_of(lines, ("x", "y", "missing", 3)) == 3
    assert line_of(lines, ("x", "other")) == 2
    assert line_of(lines, ("other",)) == 1
    assert line_of(lines, ()) == 1


def test_every_key_of_a_random_file_has_the_line_on_which_it_was_written():
    for seed in range(200):
        text, expected = random_file(random.Random(seed))
        tomllib.loads(text)
        lines = key_lines(text)
        for path, line in expected.items():
            assert lines[path] == line, (text, path)


def test_a_text_that_is_no_toml_ends_the_scan():
    for text in ("= = =\n", "[[[\n", "a = [\n", 'a = "', "\x00", "a\n[b]\n= 1"):
        key_lines(text)


def random_file(source: random.Random) -> tuple[str, dict[tuple[str | int, ...], int]]:
    values = ["1", '"a # b"', "'c = [d'", "[1, 2]", "[\n  1,\n]", '"""\nx = 1\n[y]\n"""', "'''\n\"'''", "true", "1.5e3"]
    values += ["{ q = 1 }", "[{ a = 'x' }, { a = 2 }]"]
    text, expected = "", {}
    for table in range(source.randint(0, 4)):
        if table:
            name = f"t{table}"
            text += "\n" * source.randint(0, 2) + f"[{name}] # {table}\n"
            expected[name,] = text.count("\n")
        for key in range(source.randint(0, 4)):
            path = (f"t{table}", f"k{key}") if table else (f"k{key}",)
            text += "# a comment = 1\n" * source.randint(0, 1)
            expected[path] = text.count("\n") + 1
            text += f"k{key} = {source.choice(values)}\n"
    return text, expected
