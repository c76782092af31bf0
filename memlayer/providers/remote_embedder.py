"""Embedder over a provider's service, for those who chose one.

Texts are redacted before they are sent, queries have a deadline, and tokens a daily budget. Measured with a server on
this machine: docs/inside/performance.md.
"""

import contextlib
import hashlib
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from memlayer.adapters.embedding import calibration as calibrations
from memlayer.adapters.embedding import model_folder
from memlayer.adapters.embedding.calibration import CentredEmbedder, Centring, Matrix
from memlayer.edge.redaction.privacy import redact
from memlayer.errors import EmbedderError
from memlayer.ports import Vector
from memlayer.providers.vector_services import Availability, LateError, RequestLoop, Service, ServiceError
from memlayer.records.model_budget import ModelBudget, Reserved

PIPELINE_VERSION = 1  # raise it when the same text would get another vector
MAX_CHARS = 4000  # of one text. Chunks are shorter, and no model that is offered here reads less
BATCH_TEXTS = 64
SHORT_CHARS = 1000
CLOSE_S = 1.0
PROBE = "."  # sent to see whether a server answers


class RemoteEmbedder(CentredEmbedder):
    """Unit vectors of a service, centred by its calibration. Thread-safe.

    Every text is one request's away: embed_query raises EmbedderError at its deadline, and at once while the server is
    known not to answer. A probe in the background finds out when it does again.
    """

    def __init__(self, asking: "ServiceCalls", centring: Centring, fingerprint: str) -> None:
        super().__init__(fingerprint, centring)
        self._asking = asking

    @property
    def problem(self) -> str:
        """See Embedder."""
        return self._asking.problem

    @property
    def place(self) -> str:
        """See Embedder."""
        return self._asking.place

    def embed_query(self, text: str) -> Vector:
        """Embed a question or prompt. Raises EmbedderError."""
        return self._centred(self._asking.query(text, self.dimensions))[0]

    def embed_passages(self, texts: Sequence[str]) -> list[Vector]:
        """Embed stored texts, in their order. Raises EmbedderError."""
        return self._centred(self._asking.passages(texts, self.dimensions)) if texts else []

    def close(self) -> None:
        """End the thread of the requests."""
        self._asking.close()


class ServiceCalls:
    """Requests to one service, within deadlines, breaker and budget."""

    def __init__(self, service: Service, budget: ModelBudget, *, query_deadline_s: float, deadline_s: float) -> None:
        """deadline_s: of a request with passages."""
        self.service, self._budget = service, budget
        self._query_deadline_s, self._deadline_s = query_deadline_s, deadline_s
        self._loop = RequestLoop(service.name)
        self.availability = Availability()
        self._spent_on = ""  # the local day whose tokens are used up

    @property
    def place(self) -> str:
        return "%s %s at %s" % (self.service.name, self.service.model, self.service.endpoint.host)

    @property
    def problem(self) -> str:
        if self._spent_on == _today():
            return "%s: today's embedding.daily_tokens are used up, until tomorrow" % self.service.name
        return self.availability.problem

    def query(self, text: str, width: int = 0) -> Matrix:
        """Return a query's raw unit vector as a row. Raises EmbedderError."""
        self._check(is_query=True)
        try:
            raw, tokens = self._asked([text], self._query_deadline_s, width, is_query=True)
        except ServiceError as bad:
            if bad.is_refusal:  # of this text, or of all: Gemini refuses a wrong key like that
                self._loop.later(self._probe)
            self._probe_if_due()
            raise
        # After the answer: a prompt waits for no disk.
        self._loop.later(lambda: self._count(tokens))
        return raw

    def passages(self, texts: Sequence[str], width: int = 0, *, as_queries: bool = False) -> Matrix:
        """Return raw unit vectors, one a row, in batches. Raises EmbedderError."""
        rows = []
        for start in range(0, len(texts), BATCH_TEXTS):
            batch = texts[start : start + BATCH_TEXTS]
            self._check(is_query=False)
            try:
                rows.append(self._counted(batch, width, is_query=as_queries))
            except ServiceError as bad:
                if not bad.is_refusal or batch == [PROBE]:
                    raise
                self._counted([PROBE], width, is_query=as_queries)  # refused too: it is not the texts
                rows += [self._refused(text, width, is_query=as_queries) for text in batch]
        return np.concatenate(rows)

    def close(self) -> None:
        """End the thread of the requests, and its connections."""
        with contextlib.suppress(ServiceError):
            self._loop.run(self.service.close, CLOSE_S)
        self._loop.close()

    def _refused(self, text: str, width: int, *, is_query: bool) -> Matrix:
        """Return the vector of a text of a refused batch.

        A text that is refused even in short gets the vector of the probe: it is found by its words.
        """
        for tried in (text, text[:SHORT_CHARS]):
            try:
                return self._counted([tried], width, is_query=is_query)
            except ServiceError as bad:
                if not bad.is_refusal:
                    raise
        return self._counted([PROBE], width, is_query=is_query)

    def _counted(self, texts: Sequence[str], width: int, *, is_query: bool) -> Matrix:
        """Ask for texts that are counted before they are sent."""
        reserved = self._reserve(sum(_estimated(text) for text in texts))
        try:
            raw, tokens = self._asked(texts, self._deadline_s, width, is_query=is_query)
        except ServiceError as bad:
            if bad.is_unsent:
                self._budget.give_back(reserved)
            raise
        self._budget.settle(reserved, tokens)
        return raw

    def _check(self, *, is_query: bool) -> None:
        """Raise EmbedderError where nothing is sent now; have that looked at."""
        if self._spent_on == _today():
            raise EmbedderError(self.problem)
        try:
            self.availability.check(is_query=is_query)
        except EmbedderError:
            self._probe_if_due()
            raise

    def _reserve(self, tokens: int) -> Reserved:
        reserved = self._budget.reserve(tokens)
        if reserved is None:
            self._spent_on = _today()
            raise EmbedderError(self.problem)
        return reserved

    def _count(self, tokens: int) -> None:
        reserved = self._budget.reserve(tokens)
        if reserved is None:
            self._spent_on = _today()

    def _asked(self, texts: Sequence[str], deadline_s: float, width: int, *, is_query: bool) -> tuple[Matrix, int]:
        """Return (raw unit vectors, tokens) of one request; note its outcome."""
        sent = [as_sent(text) for text in texts]
        began = time.monotonic()
        try:
            answered = self._loop.run(lambda: self.service.embed(sent, is_query=is_query), deadline_s)
            raw = self._unit_vectors(answered.vectors, len(texts), width)
        except LateError as bad:
            if deadline_s <= self._query_deadline_s:
                self.availability.late(str(bad))
            else:
                self.availability.failed(str(bad))
            raise
        except ServiceError as bad:
            if not bad.is_refusal or sent == [PROBE]:
                self.availability.failed(str(bad), bad.retry_after_s)
            raise
        self.availability.worked(in_time=time.monotonic() - began <= self._query_deadline_s)
        return raw, answered.tokens or sum(map(_estimated, sent))

    def _unit_vectors(self, vectors: Sequence[Sequence[float]], count: int, width: int) -> Matrix:
        try:
            raw: Matrix = np.asarray(vectors, dtype=np.float32)
        except (TypeError, ValueError):
            raw = np.empty((0, 0), dtype=np.float32)
        name = self.service.name
        if raw.ndim != 2 or raw.shape[0] != count or not raw.shape[1] or not np.isfinite(raw).all():
            raise ServiceError("%s: the answer holds no vectors, or not as many as texts" % name)
        wanted = width or self.service.dimensions
        if wanted and raw.shape[1] != wanted:
            remedy = "name a model with that length" if wanted == self.service.dimensions else "memlayer daemon restart"
            raise ServiceError("%s: vectors of %d dimensions instead of %d: %s" % (name, raw.shape[1], wanted, remedy))
        lengths = np.linalg.norm(raw, axis=1, keepdims=True)
        if not lengths.all():
            raise ServiceError("%s: a vector of zeros" % name)
        unit: Matrix = raw / lengths
        return unit

    def _probe_if_due(self) -> None:
        if self._spent_on != _today() and self.availability.begin_probe():
            self._loop.later(self._probe)

    def _probe(self) -> None:
        """See whether the server answers, and soon enough for a query."""
        began = time.monotonic()
        try:
            self._asked([PROBE], self._deadline_s, 0, is_query=True)
        except EmbedderError:
            return  # the breaker has noted it
        took_s = time.monotonic() - began
        if took_s > self._query_deadline_s:
            self.availability.late(
                "%s takes %.1f s to answer, and a prompt waits %.1f"
                % (self.service.name, took_s, self._query_deadline_s)
            )


def load(asking: ServiceCalls, cache_dir: Path) -> RemoteEmbedder:
    """Load the model's calibration, or measure it.

    The calibration is measured on the corpus that ships: 670 short texts, some 30,000 tokens, none of them the user's.
    A known model is loaded even while its server does not answer. Raises EmbedderError, one line.
    """
    try:
        return _loaded(asking, cache_dir)
    except EmbedderError:
        asking.close()
        raise


def _loaded(asking: ServiceCalls, cache_dir: Path) -> RemoteEmbedder:
    service = asking.service
    service.prepare()
    place = cache_dir / "calibration" / _slug(service)
    known = _known(place)
    try:
        width = asking.passages([PROBE]).shape[1]
    except ServiceError:
        if known is None:
            raise
        width = len(known.mean)
    corpus = model_folder.models_root() / "calibration"
    if known is None or len(known.mean) != width:
        known = calibrations.measure(
            lambda texts: asking.passages(texts, width, as_queries=True),
            lambda texts: asking.passages(texts, width),
            corpus,
        )
        calibrations.write(place, known, "measured on this machine on %s" % _today())
        known = _known(place) or known
    return RemoteEmbedder(asking, known, fingerprint_of(service, width, corpus))


def as_sent(text: str) -> str:
    """Return a text redacted as it may leave the machine, never empty."""
    return redact(text)[:MAX_CHARS].encode("utf-8", "replace").decode("utf-8").replace("\0", " ").strip() or PROBE


def _known(place: Path) -> Centring | None:
    try:
        return calibrations.read(place)
    except EmbedderError:
        return None  # of a cache: measured anew


def _slug(service: Service) -> str:
    named = "%s:%s:%d:%s" % (service.name, service.model, service.dimensions, service.endpoint.host)
    readable = "".join(char if char.isascii() and char.isalnum() else "-" for char in service.model)[:60]
    return "%s-%s-%s" % (service.name, readable, hashlib.sha256(named.encode()).hexdigest()[:12])


def fingerprint_of(service: Service, width: int, corpus: Path) -> str:
    """Return the name of a model's vectors: see RemoteEmbedder.fingerprint."""
    files = (corpus / name for name in (calibrations.BACKGROUND_FILE, calibrations.PAIRS_FILE))
    centring = hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()[:8]
    host = "" if service.endpoint.is_own else ":" + service.endpoint.host
    return "%s:%s:%d%s/%d-%s" % (service.name, service.model, width, host, PIPELINE_VERSION, centring)


def _estimated(text: str) -> int:
    """Tokens of a text, estimated high: Hangul has three bytes a syllable."""
    return len(text.encode("utf-8", "replace")) // 3 + 1


def _today() -> str:
    return time.strftime("%Y-%m-%d")
