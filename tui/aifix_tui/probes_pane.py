"""The probes of a diagnosis: what each asks, run one or all, and the answers. Where aifix has no probes it says so."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from textual import on, work
from textual.containers import Vertical
from textual.message import Message
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option
from textual.worker import get_current_worker

from aifix.show.safe import sanitise
from aifix_tui import pages

if TYPE_CHECKING:
    from textual.app import ComposeResult

    from aifix.model import Diagnosis, ProbeResult, Report, Rule
    from aifix_tui.case import Case

WORDS = {
    "confirmed": "✗ speaks for it",
    "refuted": "✓ speaks against it",
    "inconclusive": "? unclear",
    "not-available": "– not here",
    "not-run": "– not run",
}
SPEAK = {"confirmed", "refuted"}
ELSEWHERE = "– tells nothing: it has no answer here, and the log seems to come from another machine"
ABSENT = "This build of aifix has no probes."


class ProbesPane(Vertical):
    """Lists the probes that bear on the chosen diagnosis."""

    DEFAULT_CSS = """
    ProbesPane #probe-note { height: auto; padding: 0 1; color: $text-muted; }
    ProbesPane #probe-list { height: 1fr; border: none; background: $background; }
    """

    class Examined(Message):
        """All probes have run, and a new report weighs their answers."""

        def __init__(self, case: Case, report: Report) -> None:
            self.case = case
            self.report = report
            super().__init__()

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id)
        self._case: Case | None = None
        self._diagnosis: Diagnosis | None = None
        self._results: dict[str, ProbeResult] = {}
        self._busy: set[str] = set()
        self._ids: list[str] = []

    def compose(self) -> ComposeResult:
        """Lay out the pane."""
        yield Static("", id="probe-note", markup=False)
        yield OptionList(id="probe-list", markup=False)

    @property
    def list(self) -> OptionList:
        """The list of probes."""
        return self.query_one("#probe-list", OptionList)

    def show(self, case: Case | None, diagnosis: Diagnosis | None) -> None:
        """Show the probes of a diagnosis, with the answers that its report holds."""
        self._case, self._diagnosis = case, diagnosis
        self._results = {result.id: result for result in diagnosis.probes} if diagnosis else {}
        self._busy = set()
        rule = _rule(diagnosis)
        self._ids = [use.id for use in rule.probes] if rule else []
        self._fill()

    def _fill(self) -> None:
        registry = _registry()
        note = "Enter runs the probe, a runs all. They read; they change nothing, and import no torch."
        if registry is None:
            note = ABSENT
        elif not self._ids:
            note = "No probe bears on this diagnosis."
        self.query_one("#probe-note", Static).update(note)
        chosen = self.list.highlighted
        self.list.clear_options()
        rule = _rule(self._diagnosis)
        ratios = {use.id: use for use in rule.probes} if rule else {}
        for probe_id in self._ids:
            probe = registry.get(probe_id) if registry else None
            parts: list[pages.Part] = [(sanitise(probe_id), "bold")]
            if probe is None:
                parts.append(("  not in this build", pages.MUTED))
            else:
                parts += [("  active" if probe.active else "  passive", pages.MUTED), f"\n   {probe.question}"]
                use = ratios[probe_id]
                parts.append((f"\n   if it speaks for it: odds × {use.confirmed:g}; against it: odds × {use.refuted:g}", pages.MUTED))
                if probe.active:
                    parts.append(
                        f"\n   It runs something, so not from here:\n   $ aifix probe {probe_id}" + (f" {probe.needs} …" if probe.needs else "")
                    )
            result = self._results.get(probe_id)
            if probe_id in self._busy:
                parts.append(("\n   … running", "bold"))
            elif result is not None and not (probe is not None and probe.active):
                style = {"confirmed": "$text-error", "refuted": "$text-success"}.get(result.status, pages.MUTED)
                parts += ["\n   ", (WORDS[result.status], style + " bold"), ": " + pages.one_line(result.summary)]
                for line in result.data.get("evidence", ())[:6]:
                    parts.append((f"\n     {pages.one_line(str(line))}", pages.MUTED))
            elif probe is not None and not probe.active and self._case is not None and self._case.examined:
                parts.append((f"\n   {ELSEWHERE}", pages.MUTED))
            self.list.add_option(Option(pages.text(*parts)))
        if self._ids:
            self.list.highlighted = min(chosen or 0, len(self._ids) - 1)

    # ------------------------------------------------------------ running

    @on(OptionList.OptionSelected, "#probe-list")
    def _chosen(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        probe_id = self._ids[event.option_index]
        probe = (_registry() or {}).get(probe_id)
        if probe is None or self._diagnosis is None:
            return
        if probe.active:
            self.app.copy_to_clipboard(f"aifix probe {probe_id}")
            self.notify(f"aifix probe {probe_id}", title="It runs something: the command is copied")
            return
        self._busy.add(probe_id)
        self._fill()
        self._run_one(self._diagnosis, probe)

    @work(thread=True, group="probe")
    def _run_one(self, diagnosis: Diagnosis, probe: Any) -> None:
        """Run one probe; in a thread."""
        from aifix import api
        from aifix.model import ProbeResult
        from aifix.probes import run, target
        from aifix.probes.finding import Case as Question
        from aifix.probes.machine import Machine

        machine = Machine(target.find(), catalogues=lambda: api.rule_base().catalogues)
        lines = tuple(item.text for item in diagnosis.evidence[:8])
        finding = run.one(probe, Question(machine, diagnosis.id, diagnosis.facts, lines=lines))
        result = ProbeResult(probe.id, finding.status, finding.summary, {**finding.data, "evidence": list(finding.evidence)})
        if not get_current_worker().is_cancelled:
            self.app.call_from_thread(self._answered, diagnosis, result)

    def _answered(self, diagnosis: Diagnosis, result: ProbeResult) -> None:
        if diagnosis is self._diagnosis:
            self._busy.discard(result.id)
            self._results[result.id] = result
            self._fill()

    def run_all(self) -> None:
        """Run the passive probes of all diagnoses, and let their verdicts move the report."""
        registry = _registry()
        if registry is None or self._case is None:
            self.notify(ABSENT, severity="warning")
            return
        self._busy = {one for one in self._ids if one in registry and not registry[one].active}
        self._fill()
        self._run_all(self._case)

    @work(thread=True, exclusive=True, group="probe all")
    def _run_all(self, case: Case) -> None:
        """Examine the machine; in a thread."""
        report = case.examine()
        if not get_current_worker().is_cancelled:
            self.app.call_from_thread(self.post_message, self.Examined(case, report))


def _registry() -> dict[str, Any] | None:
    """Give the probes by id; None in a build that has none."""
    try:
        from aifix.probes.registry import BY_ID
    except ImportError:
        return None
    return dict(BY_ID)


def _rule(diagnosis: Diagnosis | None) -> Rule | None:
    if diagnosis is None:
        return None
    from aifix import api

    return api.rule_base().get(diagnosis.id)
