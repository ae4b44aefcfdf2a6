"""A registry of images with one image, on a loopback port: enough of the protocol for a pull."""

from __future__ import annotations

import hashlib
import io
import json
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

from reeval.sandboxes.docker.engine.client import Engine
from tests.sandboxes.docker.site import BUSYBOX

_FORM = "application/vnd.docker.distribution.manifest.v2+json"


@contextmanager
def serving(engine: Engine) -> Iterator[str]:
    """Serve the small image as ``small:1`` and give the registry's address."""
    blobs, manifest = _image(engine)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            name = self.path.rpartition("/")[2]
            data = manifest if "/manifests/" in self.path else blobs.get(name, b"{}")
            self.send_response(200)
            self.send_header("Content-Type", _FORM if "/manifests/" in self.path else "application/octet-stream")
            self.send_header("Content-Length", str(len(data)))
            self.send_header("Docker-Content-Digest", _digest(data))
            self.send_header("Docker-Distribution-Api-Version", "registry/2.0")
            self.end_headers()
            if self.command == "GET":
                self.wfile.write(data)

        do_HEAD = do_GET  # noqa: N815 - the library's name

        def log_message(self, *_: object) -> None:
            return None

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _image(engine: Engine) -> tuple[dict[str, bytes], bytes]:
    saved = engine.now(lambda client: b"".join(client.get_image(BUSYBOX)))
    with tarfile.open(fileobj=io.BytesIO(saved)) as tar:

        def read(name: str) -> bytes:
            file = tar.extractfile(name)
            assert file is not None
            return file.read()

        (index,) = json.loads(read("manifest.json"))
        config, layers = read(index["Config"]), [read(name) for name in index["Layers"]]
    blobs = {_digest(data): data for data in (config, *layers)}
    form = "application/vnd.docker.image.rootfs.diff.tar"
    manifest = {
        "schemaVersion": 2,
        "mediaType": _FORM,
        "config": _described(config, "application/vnd.docker.container.image.v1+json"),
        "layers": [_described(layer, form) for layer in layers],
    }
    return blobs, json.dumps(manifest).encode()


def _described(data: bytes, form: str) -> dict[str, object]:
    return {"mediaType": form, "size": len(data), "digest": _digest(data)}


def _digest(data: bytes) -> str:
    return f"sha256:{hashlib.sha256(data).hexdigest()}"
