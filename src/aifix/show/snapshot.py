"""What a memory snapshot shows, for a person."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aifix.memory_snapshot import words
from aifix.reason.expressions import size
from aifix.show.layout import counted, hang, hang_parts
from aifix.show.page import MARGIN, Page
from aifix.show.safe import sanitise

if TYPE_CHECKING:
    from aifix.memory_snapshot.verdict import Device, Snapshot

HOLDERS = 8
BAR = 24
POOLS = 6


def render(snapshot: Snapshot, *, width: int, colour: bool, verbose: bool = False, encoding: str = "utf-8") -> str:
    """Lay the verdict out as text that ends with a line feed.

    Args:
        snapshot: what was found.
        width: columns of the terminal.
        colour: whether to use colours; nothing is said by colour alone.
        verbose: show more stacks, and every fix.
        encoding: what the stream can print.
    """
    page = _Page(snapshot, width=width, colour=colour, verbose=verbose, encoding=encoding)
    for device in snapshot.devices:
        page.device(device)
    page.diagnoses()
    return page.text()


class _Page(Page):
    """The lines as they are laid out."""

    def __init__(self, snapshot: Snapshot, *, width: int, colour: bool, verbose: bool, encoding: str) -> None:
        super().__init__(width=width, colour=colour, verbose=verbose, encoding=encoding)
        self.snapshot = snapshot

    def device(self, device: Device) -> None:
        """Show one device."""
        about = [f"device {device.device}", counted(device.events, "event")]
        about += [f"over {device.seconds:.1f} s"] if device.seconds else []
        about.append(counted(device.now.segments, "segment"))
        self.out += ["", *[self.paint.dim(line) for line in hang_parts(about, self.width, "aifix: ", self.signs.dot)]]
        when = (
            f", at event {device.peak_event:,} ({device.peak_time / 1e6:.2f} s)"
            if device.peak_event >= 0
            else ", as it stands: nothing was recorded before"
        )
        self.out += [self.paint.strong(line) for line in hang(f"peak {size(device.peak)}{when}", self.width, "", MARGIN)]
        self.kinds(device)
        self.holders(device)
        self.reserve(device)
        self.pools(device)
        if device.leaks:
            self.heading("what never comes down")
            for leak in self.shown(device.leaks, HOLDERS):
                self.line(f"{leak.kind}, {counted(leak.blocks, 'block')}, {words.place(leak.frames)}", f"{MARGIN}{size(leak.bytes):>11}  ", " " * 15)

    def kinds(self, device: Device) -> None:
        """Show the peak by kind of memory."""
        total = sum(device.kinds.values()) or 1
        mark = "█" if self.signs.failed == "✗" else "#"
        self.out.append("")
        for kind, amount in sorted(device.kinds.items(), key=lambda item: -item[1]):
            share = amount / total
            bar = mark * max(1, round(share * BAR))
            self.out.append(f"{MARGIN}{kind:<14}{size(amount):>12} {share:>4.0%}  {self.paint.dim(bar) if self.width >= 60 else ''}".rstrip())

    def holders(self, device: Device) -> None:
        """Show what stood at the peak, by stack."""
        if not device.holders:
            return
        self.heading("at the peak, by the line that allocated it")
        for one in self.shown(device.holders, HOLDERS):
            self.line(f"{one.kind}, {counted(one.blocks, 'block')}, {words.place(one.frames)}", f"{MARGIN}{size(one.bytes):>11}  ", " " * 15)
        self.more(device.holders, HOLDERS)

    def reserve(self, device: Device) -> None:
        """Show how the reserve is cut up now."""
        cut = device.shared
        if not cut.reserved:
            return
        self.heading("the reserve, when the snapshot was taken")
        self.line(f"{size(cut.held)} in use ({size(cut.rounding)} of it by rounding). {words.fragmentation(cut)}", MARGIN, MARGIN)
        if cut.expandable:
            self.line("Segments are expandable.", MARGIN, MARGIN)

    def pools(self, device: Device) -> None:
        """Show private pools."""
        if not device.pools:
            return
        self.heading("private pools (CUDA graphs, MemPool): nobody else can use their free memory")
        for pool in self.shown(device.pools, POOLS):
            self.line(f"pool {pool.name}: {size(pool.cut.reserved)} reserved, {size(pool.cut.free)} of it free")
        self.more(device.pools, POOLS)

    def diagnoses(self) -> None:
        """Show the diagnoses with their fixes."""
        for diagnosis in self.snapshot.diagnoses:
            if diagnosis.caused_by is not None and not self.verbose:  # what helps against its cause helps here
                self.out += ["", *hang(sanitise(f"then, because of it: {diagnosis.title} ({diagnosis.id})"), self.width, f"{self.signs.then} ")]
                told = sanitise(diagnosis.explanation.partition("\n")[0])
                self.out += hang(told, self.width, MARGIN)
                continue
            self.diagnosis(diagnosis, self.snapshot.source)
