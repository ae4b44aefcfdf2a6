"""The words of ids, and the names of directories."""

import itertools
import random
import re

import pytest

from reeval.plan.parts.names import SLUG_LENGTH, Slugs, case_keys, word

WORDS = [
    ("terse", "terse"),
    ("codex:gpt-x", "codex-gpt-x"),
    ("a b/c", "a-b-c"),
    ("a  //  b", "a-b"),
    (" a ", "a"),
    ("v1.2_x", "v1.2_x"),
    ("größe", "gr-e"),
    ("日本", ""),
    ("", ""),
    ("-", "-"),
]


@pytest.mark.parametrize(("name", "expected"), WORDS)
def test_other_characters_become_a_dash(name, expected):
    assert word(name) == expected


def test_case_keys_are_words_and_differ():
    keys = ["a b", "a/b", "a-b", "c", "日", "本", ""]
    found = case_keys(keys)
    assert len(set(found)) == len(keys)
    assert all(re.fullmatch(r"[A-Za-z0-9._-]+", key) for key in found)
    assert found[2:4] == ("a-b", "c")


def test_a_case_key_never_depends_on_the_position():
    keys = ["a b", "a/b", "a-b", "c", "日", "本"]
    expected = dict(zip(keys, case_keys(keys), strict=True))
    for order in itertools.permutations(keys):
        assert dict(zip(order, case_keys(order), strict=True)) == expected


def test_a_case_that_is_inserted_renames_none_that_is_unlike_it():
    assert case_keys(["x", "a b", "c"])[1:] == case_keys(["a b", "c"])


SLUGS = [
    ("evals/greet.eval.py", ("greetings", "greets by name"), "greet-greetings-greets-by-name"),
    ("evals/deep/a.eval.py", ("x",), "deep-a-x"),
    ("other/a.py", ("x",), "other-a-x"),
    ("evals/../x.eval.py", ("..", "."), "x-..-."),
]


@pytest.mark.parametrize(("file", "path", "slug"), SLUGS)
def test_a_slug_is_readable(file, path, slug):
    assert Slugs().of(file, path) == slug


def test_slugs_are_short_safe_and_unique_also_without_letter_case():
    source, slugs = random.Random(1), Slugs()
    names = ["a b", "a-b", "A-B", "日", "本", "x" * 300, "x" * 301, "../../etc", "a\0b", ".", "..", "con"]
    found = []
    for number in range(500):
        path = (*source.choices(names, k=source.randint(1, 3)), str(number))
        found.append(slugs.of(f"evals/{source.choice(names)}.eval.py", path))
    found += [slugs.of("evals/a.eval.py", (name,)) for name in names]
    assert len({slug.casefold() for slug in found}) == len(found)
    assert all(re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9._-]*", slug) and len(slug) <= SLUG_LENGTH for slug in found)


def test_a_slug_is_the_same_in_another_selection_where_nothing_collides():
    alone, among = Slugs(), Slugs()
    among.of("evals/b.eval.py", ("y",))
    assert alone.of("evals/a.eval.py", ("x" * 200,)) == among.of("evals/a.eval.py", ("x" * 200,))
