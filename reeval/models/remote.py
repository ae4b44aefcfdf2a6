"""How is a model over HTTP asked once? Without what it is known to refuse, and its answer validated."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio.to_thread
import msgspec

from reeval.backends import Model, ModelKind, ModelReply, ModelRequest
from reeval.models.answers import get_ready, valid_answer
from reeval.models.checks import key_value
from reeval.models.failures import MOST_TRIES, TryError, quoted, read_complaint, refused
from reeval.models.forms import Found, WireForm
from reeval.models.options import HttpOptions, typed_options
from reeval.models.refusals import refused_feature
from reeval.models.transport import Response, Transport, open_transport
from reeval.prices import cost_of
from reeval.schema.plan import PlannedModel
from reeval.secrets import Masker
from reeval.usage import Pricing, Usage

__all__ = ["http_kind"]


def http_kind(name: str, form: WireForm, *, key: str, keyless_base_url: bool = False) -> ModelKind:
    """Return the kind of models that are spoken to in this form."""

    def open_model(
        planned: PlannedModel, environ: Mapping[str, str], _root: Path
    ) -> AbstractAsyncContextManager[Model]:
        return _open(form, planned, environ)

    return ModelKind(
        name=name,
        options=HttpOptions,
        open=open_model,
        key=key,
        keyless_base_url=keyless_base_url,
        pricing=lambda planned: _pricing(form, planned),
    )


def _pricing(form: WireForm, planned: PlannedModel) -> Pricing:
    return Pricing(price_list=form.price_list or _base(form, planned), model=planned.model)


def _base(form: WireForm, planned: PlannedModel) -> str:
    return (planned.base_url or form.base_url).rstrip("/")


@asynccontextmanager
async def _open(form: WireForm, planned: PlannedModel, environ: Mapping[str, str]) -> AsyncIterator[Model]:
    options = typed_options(planned.options, HttpOptions, f"[provider.{planned.provider}]")
    key = key_value(planned, environ)
    url = form.path(_base(form, planned), planned.model)
    headers = {"content-type": "application/json", **form.fixed_headers, **(form.headers(key) if key else {})}
    await anyio.to_thread.run_sync(get_ready)
    async with open_transport(url, headers, options) as transport:
        yield _Remote(form, planned, transport, Masker([key] if key else []), options)


class _Remote:
    """One model of a provider, for the whole run: it remembers what the model refuses."""

    def __init__(
        self, form: WireForm, planned: PlannedModel, transport: Transport, masker: Masker, options: HttpOptions
    ) -> None:
        self._form = form
        self._planned = planned
        self._table = f"[provider.{planned.provider}]"
        self._transport = transport
        self._options = options
        self._masker = masker
        self._pricing = _pricing(form, planned)
        self._refused: frozenset[str] = frozenset()
        self._prices_loaded = False

    async def answer(self, request: ModelRequest) -> ModelReply:
        """Ask once, and again at once without each feature that the model refuses."""
        request = self._fitted(request)
        while True:  # ends: each round uses one feature less
            ask = self._form.ask(self._planned.model, request, self._refused)
            response = await self._transport.post(msgspec.json.encode(ask.body))
            if response.status == 200:
                return await self._reply(response, request.schema)
            complaint = read_complaint(response.body)
            feature = refused_feature(response.status, complaint, ask.uses)
            if feature is None:
                raise refused(self._planned, response.status, response.headers, complaint, self._masker)
            self._refused |= {feature}

    def _fitted(self, request: ModelRequest) -> ModelRequest:
        for picture in request.pictures:
            if picture.media_type not in self._form.pictures:
                known = ", ".join(sorted(self._form.pictures))
                raise TryError(f"takes no picture of type {picture.media_type!r} ({picture.name!r}); it takes {known}")
        return replace(
            request,
            system=_text(request.system),
            prompt=_text(request.prompt),
            max_tokens=self._options.max_tokens or request.max_tokens,
        )

    async def _reply(self, response: Response, schema: Mapping[str, Any]) -> ModelReply:
        found = self._found(response.body)
        usage = await self._priced(found)
        if found.refusal is not None:
            said = f" ({quoted(found.refusal, self._masker)})" if found.refusal else ""
            raise TryError(f"refused to answer{said}; show it other material, or name another model", usage=usage)
        if found.failed is not None:
            said = quoted(found.failed, self._masker)
            raise TryError(f"could not answer ({said}); try again later", tries=MOST_TRIES, usage=usage)
        if found.cut:
            raise TryError(
                f"ran out of tokens before its answer was whole; raise max_tokens in {self._table}",
                usage=usage,
            )
        data = valid_answer(found.answer, schema, usage, self._masker)
        return ModelReply(data=data, usage=usage, model=found.model)

    def _found(self, body: bytes) -> Found:
        try:
            return self._form.read(msgspec.json.decode(body, type=self._form.reply))
        except msgspec.ValidationError as error:
            if failure := self._hidden_error(body):
                raise failure from None
            why = quoted(str(error), self._masker, 200)
            raise TryError(
                f"answered with JSON of another shape ({why}); check the kind and the base_url of {self._table}"
            ) from None
        except (msgspec.DecodeError, RecursionError):
            raise self._not_json(body) from None

    def _hidden_error(self, body: bytes) -> TryError | None:
        """Find the error that some gateways send with status 200."""
        data = msgspec.json.decode(body)
        error = data.get("error") if isinstance(data, dict) else None
        if not error:
            return None
        code = error.get("code") if isinstance(error, dict) else None
        status = code if isinstance(code, int) and 400 <= code < 600 else 500
        return refused(self._planned, status, {}, read_complaint(body), self._masker)

    def _not_json(self, body: bytes) -> TryError:
        """Tell a body that was cut, which another try mends, from something else than JSON."""
        said = quoted(body.decode("utf-8", "replace"), self._masker, 200)
        if not body.strip():
            return TryError("answered with nothing; try again later", tries=MOST_TRIES)
        if body.lstrip().startswith((b"{", b"[")):
            return TryError(f"answered with JSON that is broken or cut: {said}; try again later", tries=MOST_TRIES)
        return TryError(f"answered with something that is not JSON: {said}; check the base_url of {self._table}")

    async def _priced(self, found: Found) -> Usage:
        if self._prices_loaded:
            cost = cost_of(self._pricing, found.usage, found.model)
        else:  # the list may take 0.2 s to load
            cost = await anyio.to_thread.run_sync(cost_of, self._pricing, found.usage, found.model)
            self._prices_loaded = True
        return msgspec.structs.replace(found.usage, cost=cost)


def _text(text: str) -> str:
    """Return text that JSON can hold: a lone surrogate, from bytes that were no text, becomes a question mark."""
    return text.encode("utf-8", "replace").decode()
