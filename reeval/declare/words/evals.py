"""``evaluate`` and ``group``: how is an eval declared?"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any, Literal, Protocol, TypeVar, Unpack, overload

from reeval.authoring import Attempt, BlockingAttempt, BlockingScoredAttempt, ScoredAttempt
from reeval.declare.bodies import check_body, check_group, refuse_same_body
from reeval.declare.cases import build_cases
from reeval.declare.drafts import Collector, EvalDraft, GroupDraft, TodoDraft, collector
from reeval.declare.options import DeclarationOptions, check_word, node_options
from reeval.errors import DeclarationError
from reeval.schema.spec import CaseSpec

__all__ = ["evaluate", "group"]

AsyncBody = TypeVar("AsyncBody", bound=Callable[[Attempt], Awaitable[None]])
PlainBody = TypeVar("PlainBody", bound=Callable[[BlockingAttempt], None])
AsyncScoredBody = TypeVar("AsyncScoredBody", bound=Callable[[ScoredAttempt], Awaitable[None]])
PlainScoredBody = TypeVar("PlainScoredBody", bound=Callable[[BlockingScoredAttempt], None])
Declares = TypeVar("Declares", bound=Callable[[], None])
Function = TypeVar("Function", bound=Callable[..., Any])
Case = TypeVar("Case")


class _PassFail(Protocol):
    """Declares a pass/fail eval and returns its body unchanged."""

    @overload
    def __call__(self, body: AsyncBody, /) -> AsyncBody: ...
    @overload
    def __call__(self, body: PlainBody, /) -> PlainBody: ...


class _Scored(Protocol):
    """Declares a scored eval and returns its body unchanged."""

    @overload
    def __call__(self, body: AsyncScoredBody, /) -> AsyncScoredBody: ...
    @overload
    def __call__(self, body: PlainScoredBody, /) -> PlainScoredBody: ...


class _PassFailEach(Protocol[Case]):
    """Declares a pass/fail eval with cases and returns its body unchanged."""

    @overload
    def __call__(
        self, body: Callable[[Attempt, Case], Awaitable[None]], /
    ) -> Callable[[Attempt, Case], Awaitable[None]]: ...
    @overload
    def __call__(self, body: Callable[[BlockingAttempt, Case], None], /) -> Callable[[BlockingAttempt, Case], None]: ...


class _ScoredEach(Protocol[Case]):
    """Declares a scored eval with cases and returns its body unchanged."""

    @overload
    def __call__(
        self, body: Callable[[ScoredAttempt, Case], Awaitable[None]], /
    ) -> Callable[[ScoredAttempt, Case], Awaitable[None]]: ...
    @overload
    def __call__(
        self, body: Callable[[BlockingScoredAttempt, Case], None], /
    ) -> Callable[[BlockingScoredAttempt, Case], None]: ...


class _Evaluate:
    """``@evaluate(name)`` declares one eval."""

    @overload
    def __call__(
        self, name: str, *, scored: Literal[False] = False, **options: Unpack[DeclarationOptions]
    ) -> _PassFail: ...
    @overload
    def __call__(self, name: str, *, scored: Literal[True], **options: Unpack[DeclarationOptions]) -> _Scored: ...
    def __call__(self, name: str, *, scored: bool = False, **options: Unpack[DeclarationOptions]) -> Any:
        """Declare one eval; the function below is its body and comes back unchanged.

        ``scored``: its checks contribute points. Raises ``DeclarationError`` while an eval file is read; otherwise
        nothing is recorded.
        """
        return _declaring(
            "evaluate", name, lambda into, line, body: _declare_eval(into, line, body, (name, scored), options)
        )

    @overload
    def skip(
        self,
        name: str,
        reason: str = ...,
        *,
        scored: Literal[False] = False,
        **options: Unpack[DeclarationOptions],
    ) -> _PassFail: ...
    @overload
    def skip(
        self, name: str, reason: str = ..., *, scored: Literal[True], **options: Unpack[DeclarationOptions]
    ) -> _Scored: ...
    def skip(
        self,
        name: str,
        reason: str = "no reason given",
        *,
        scored: bool = False,
        **options: Unpack[DeclarationOptions],
    ) -> Any:
        """Declare an eval that is listed and not run, with the ``reason``."""
        given = {"skip": reason, **options}
        return _declaring(
            "evaluate", name, lambda into, line, body: _declare_eval(into, line, body, (name, scored), given)
        )

    @overload
    def only(
        self, name: str, *, scored: Literal[False] = False, **options: Unpack[DeclarationOptions]
    ) -> _PassFail: ...
    @overload
    def only(self, name: str, *, scored: Literal[True], **options: Unpack[DeclarationOptions]) -> _Scored: ...
    def only(self, name: str, *, scored: bool = False, **options: Unpack[DeclarationOptions]) -> Any:
        """Declare an eval that runs alone. Refused where ``CI`` is set."""
        given = {"only": True, **options}
        return _declaring(
            "evaluate", name, lambda into, line, body: _declare_eval(into, line, body, (name, scored), given)
        )

    @overload
    def each(
        self,
        cases: Iterable[Case],
        name: str,
        *,
        key: str | Callable[[Case], str] | None = None,
        scored: Literal[False] = False,
        **options: Unpack[DeclarationOptions],
    ) -> _PassFailEach[Case]: ...
    @overload
    def each(
        self,
        cases: Iterable[Case],
        name: str,
        *,
        key: str | Callable[[Case], str] | None = None,
        scored: Literal[True],
        **options: Unpack[DeclarationOptions],
    ) -> _ScoredEach[Case]: ...
    def each(
        self,
        cases: Iterable[Case],
        name: str,
        *,
        key: str | Callable[[Case], str] | None = None,
        scored: bool = False,
        **options: Unpack[DeclarationOptions],
    ) -> Any:
        """Declare one eval with many cases; the body is ``(c, case)``.

        ``name`` may hold ``{field}`` of a mapping or dataclass case, ``{}`` for a plain value. A case's key is
        ``key`` (a template like the name, or a function of the case), else the filled name; keys are unique.
        """

        def declare(into: Collector, line: int, body: Callable[..., Any]) -> None:
            _declare_eval(into, line, body, (name, scored), options, build_cases(cases, name, key))

        return _declaring("evaluate.each", name, declare)

    def todo(self, name: str) -> None:
        """List an eval that is still to write."""
        into = collector()
        if into is not None:
            into.add(TodoDraft(name=check_word(name, "evaluate.todo"), line=into.line()))


evaluate = _Evaluate()


def group(name: str, **options: Unpack[DeclarationOptions]) -> Callable[[Declares], Declares]:
    """Declare a group: the function below declares evals and groups, which inherit ``options``.

    It is called once, at once, and comes back unchanged. Raises ``DeclarationError`` while an eval file is read;
    otherwise it is not called.
    """
    return _declaring("group", name, lambda into, line, function: _declare_group(into, line, function, name, options))


def _declaring(
    word: str, name: str, declare: Callable[[Collector, int, Callable[..., Any]], None]
) -> Callable[[Function], Function]:
    into = collector()
    line = 0
    if into is not None:
        line = into.line()
        check_word(name, word)

    def decorate(function: Function) -> Function:
        if into is not None:
            declare(into, line, function)
        return function

    return decorate


def _declare_eval(
    into: Collector,
    line: int,
    body: Callable[..., Any],
    named: tuple[str, bool],
    options: Mapping[str, Any],
    cases: tuple[CaseSpec, ...] | None = None,
) -> None:
    name, scored = named
    _refuse_second(into, body, name)
    code = check_body(body, ("c",) if cases is None else ("c", "case"))
    draft = EvalDraft(
        name=name,
        line=line,
        function=body,
        kind="scored" if scored else "pass-fail",
        blocking=not inspect.iscoroutinefunction(body),
        code=code,
        cases=cases,
        beside=into.claim(body, line),
        **node_options(options),
    )
    refuse_same_body(draft, into.with_code(code))
    into.add(draft)


def _declare_group(
    into: Collector, line: int, function: Callable[..., Any], name: str, options: Mapping[str, Any]
) -> None:
    _refuse_second(into, function, name)
    check_group(function)
    draft = GroupDraft(
        name=name, line=line, function=function, beside=into.claim(function, line), **node_options(options)
    )
    into.add(draft)
    with into.inside(draft):
        function()


def _refuse_second(into: Collector, function: Callable[..., Any], name: str) -> None:
    earlier = into.draft(function)
    if earlier is not None:
        raise DeclarationError(
            f"{name!r} is declared with a function that already is {earlier.name!r} (line {earlier.line}); "
            "give each its own, or use @evaluate.each for one body with many cases"
        )
