"""An open share: objects read, own ones written in place of others."""

import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from memlayer.sharing.engine import Engine
from memlayer.sharing.ledger import Content, Ledger, ObjectName, Version, packed, span_of, unpacked
from memlayer.sharing.seal import Seal
from memlayer.sharing.share import Share
from memlayer.wire.sharing import SharePulled, SharePushed


@dataclass
class Channel:
    """Record, ledger, encryption and place of a share, with counts."""

    share: Share
    ledger: Ledger
    seal: Seal
    engine: Engine
    sent: SharePushed = field(default_factory=SharePushed)
    taken: SharePulled = field(default_factory=SharePulled)

    @property
    def machine(self) -> str:
        return self.share.machine

    def others(self) -> list[str]:
        return [machine for machine in self.engine.machines() if machine != self.machine]

    def spans(self, machine: str) -> list[ObjectName]:
        """Return a machine's objects, replaced ones included."""
        return [span for name in self.engine.names(machine) if (span := span_of(name)) is not None]

    def own(self) -> list[ObjectName]:
        return self.spans(self.machine)

    def read(self, machine: str, spans: Sequence[ObjectName]) -> list[Content]:
        """Return objects that are there. Raises Damaged, ShareError."""
        data = self.engine.read(machine, [span.name for span in spans])
        self.taken.bytes += sum(map(len, data.values())) if machine != self.machine else 0
        return [unpacked(data[span.name], machine, self.seal) for span in spans if span.name in data]

    def content(self, clock: int, lines: Sequence[dict[str, Any]] = (), gone: Sequence[str] = ()) -> Content:
        """Return the content of an own object."""
        return Content(self.machine, self.share.name, clock, int(time.time() * 1000), tuple(lines), tuple(gone))

    def write(
        self,
        made: Mapping[ObjectName, Content],
        replaced: Collection[ObjectName],
        rows: Iterable[tuple[str, Version]] = (),
        gone: Iterable[str] = (),
    ) -> None:
        """Write own objects in place of others.

        rows, gone: new in them. The next push undoes a writing that was cut off.
        """
        data = {span: packed(content, self.seal) for span, content in made.items()}
        sizes = {span: len(packed_) for span, packed_ in data.items()}
        there = {*self.own(), *data} - {*replaced}
        self.ledger.begin(sizes)
        self.engine.change(
            self.machine, {span.name: packed_ for span, packed_ in data.items()}, [span.name for span in replaced]
        )
        with self.ledger.changing():
            self.ledger.wrote(there)
            self.ledger.record(rows)
            self.ledger.record_gone(gone, max(span.last for span in made))
            self.ledger.saw(max(content.clock for content in made.values()))
        self.sent.objects += len(sizes)
        self.sent.bytes += sum(sizes.values())
        self.sent.commits += 1
