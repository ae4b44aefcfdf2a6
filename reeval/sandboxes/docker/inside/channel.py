"""What is the first process of a container, and how is it asked to do small things there?

It is a shell that reads lines from its standard input and runs them: looking at files needs no new process of the
engine, which takes fifty times as long. The agent cannot end it, and takes its children when their parents are gone.
Its input is the container's lifeline: when this process ends, so does everything in the container.
"""

from __future__ import annotations

import re
import secrets
import string
from contextlib import suppress
from typing import NamedTuple

import anyio

from reeval.errors import InfrastructureError, Phase
from reeval.sandboxes.docker.engine.streams import STDOUT, Frames, Stream

__all__ = ["FIRST", "Answer", "Channel", "octal", "quoted"]

FIRST = r"""
exec 3<&0
trap 'kill -9 -1 2>/dev/null; exec /bin/sh -c "$0" "$0" "$1" "$2" <&3' EXIT
k=$1
n='
'
end_marked() {
  for turn in 1 2 3 4 5 6 7 8 9 10; do
    found=
    for at in /proc/[0-9]*; do
      while IFS= read -r variables || [ -n "$variables" ]; do
        case $variables in *"REEVAL_MARK=$1"*) kill -9 "${at#/proc/}" && found=1 ;; esac
      done <"$at/environ"
    done
    [ -n "$found" ] || return 0
  done
  return 1
}
at() {
  d=$1 r= links=0
  while [ ! -e "$d" ]; do
    if [ -L "$d" ]; then
      links=$((links + 1))
      [ "$links" -le 40 ] || exit 16
      t=$(readlink -- "$d" && echo x)
      t=${t%x}
      t=${t%"$n"}
      case $t in /*) d=$t ;; *) d=${d%/*}/$t ;; esac
      continue
    fi
    case ${d##*/} in ..) exit 11 ;; esac
    r=/${d##*/}$r
    d=${d%/*}
    [ -n "$d" ] || d=/
  done
  [ -z "$r" ] || [ -d "$d" ] || exit 17
  p=$(readlink -f -- "$d" && echo x)
  p=${p%x}
  p=${p%"$n"}$r
}
run() { printf '\n%s.%s<' "$k" "$1"; (eval "$2") </dev/null; printf '\n%s.%s>%d\n' "$k" "$1" "$?"; }
read_lines() { LC_ALL=C; export LC_ALL; while IFS= read -r line; do eval "$line"; done; exit 77; }
while :; do
  read_lines <&3 2>/dev/null &
  wait $!
  if [ $? = 77 ]; then
    [ "$2" = keep ] && while :; do sleep 86400 & wait $!; done
    trap - EXIT
    exit 0
  fi
  printf '\n%s.again\n' "$k"
done
"""
"""The script: ``$1`` is the word that marks its answers, ``$2`` is ``keep`` when it shall outlive this process.

``at PATH`` resolves the links of a path, which need not be there: ``$p``. ``end_marked MARK`` kills without a fork.
Lines are read by a child, which the first process starts again when an agent kills it. Where no child can be started,
as when a fork bomb has taken all processes, it ends everything else and begins again. It handles no signal: then the
kernel lets none through.
"""

MOST = 256 * 1024 * 1024
"""Bytes of one answer."""
PATIENCE = 60.0
"""Seconds for an answer that takes no time, unless the container is choked."""
_AS_IT_IS = frozenset((string.ascii_letters + string.digits + " _./").encode())
_PLAIN = re.compile(rb"[A-Za-z0-9_./-]+")


class Answer(NamedTuple):
    """How a script ended, and what it printed."""

    code: int
    output: bytes


class Channel:
    """Asks the first process, one question at a time."""

    def __init__(self, stream: Stream, word: str) -> None:
        self._stream = stream
        self._word = word.encode()
        self._frames = Frames()
        self._buffer = bytearray()
        self._lock = anyio.Lock()
        self._count = 0

    @staticmethod
    def word() -> str:
        """Return a new word that no file holds."""
        return secrets.token_hex(12)

    async def ask(self, script: str) -> Answer:
        """Run a script of one line in a subshell; its output may be long. Raises ``InfrastructureError``."""
        assert "\n" not in script, "one line"
        async with self._lock:
            for _ in range(3):
                with anyio.move_on_after(PATIENCE):
                    answer = await self._asked(script)
                    if answer is not None:
                        return answer
                    continue
                raise InfrastructureError(Phase.SANDBOX, f"the sandbox did not answer within {PATIENCE:g} s")
        raise InfrastructureError(Phase.SANDBOX, "the first process of the sandbox was killed again and again")

    async def order(self, script: str, within: float) -> bool:
        """Run a script in the shell that reads, which forks nothing; say whether it was done in time."""
        with anyio.move_on_after(within):
            async with self._lock:
                self._count += 1
                number = self._count
                await self._send(f"{script}; run {number} :")
                return await self._result(number) is not None
        return False

    async def _asked(self, script: str) -> Answer | None:
        self._count += 1
        number = self._count
        await self._send(f"run {number} {_argument(script)}")
        return await self._result(number)

    async def _send(self, line: str) -> None:
        with suppress(OSError):  # Reading says what is wrong.
            # A line that was cut off, as its sender was cancelled, ends here.
            await self._stream.send(f"\n{line}\n".encode("utf-8", "surrogateescape"))

    async def _result(self, number: int) -> Answer | None:
        """Read until the answer with a number is there; None: the shell that reads was killed and started again."""
        begin = b"\n%s.%d<" % (self._word, number)
        end = re.compile(rb"\n%s\.%d>(\d+)\n" % (self._word, number))
        again = b"\n%s.again\n" % self._word
        seen = 0
        while True:
            found = end.search(self._buffer, max(0, seen - 64))
            if found:
                start = self._buffer.find(begin, 0, found.start())
                output = bytes(self._buffer[start + len(begin) : found.start()]) if start >= 0 else b""
                code = int(found[1])  # Before the buffer that it was found in changes.
                del self._buffer[: found.end()]
                return Answer(code, output)
            if self._buffer.find(again, max(0, seen - 64)) >= 0:
                self._buffer.clear()
                return None
            seen = len(self._buffer)
            if seen > MOST:
                raise InfrastructureError(Phase.SANDBOX, f"an answer of the sandbox is longer than {MOST:,} bytes")
            await self._more()

    async def _more(self) -> None:
        data = await self._stream.receive()
        if not data:
            raise InfrastructureError(Phase.SANDBOX, "the sandbox ended too early: its first process is gone")
        for kind, body in self._frames.feed(data):
            if kind == STDOUT:
                self._buffer += body


def quoted(text: str | bytes) -> str:
    """Return a word of a script that stands for any text, of plain characters only.

    Shells differ in what they do with others: line ends, bytes that are no text.
    """
    data = text if isinstance(text, bytes) else text.encode("utf-8", "surrogateescape")
    if _PLAIN.fullmatch(data):
        return data.decode()
    # A command substitution drops the line ends at the end of what it stands for.
    inner = data.rstrip(b"\n")
    return f"\"$(printf '{octal(inner)}')\"" + '"$n"' * (len(data) - len(inner))


def octal(data: bytes) -> str:
    """Return a format of ``printf`` that prints bytes."""
    return "".join(chr(byte) if byte in _AS_IT_IS else f"\\{byte:03o}" for byte in data)


def _argument(script: str) -> str:
    return "'" + script.replace("'", "'\\''") + "'"
