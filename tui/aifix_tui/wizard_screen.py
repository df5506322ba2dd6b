"""The wizard: the question that tells most, the diagnoses that are left, words of the message at any time."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual import events, on, work
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.screen import Screen
from textual.widgets import Footer, Input, OptionList, Static
from textual.widgets.option_list import Option

from aifix.show.safe import one_line
from aifix_tui import pages
from aifix_tui.interview import SURE, Interview
from aifix_tui.probing import Going
from aifix_tui.rule_page import RulePage

if TYPE_CHECKING:
    from textual.app import ComposeResult

    from aifix.probes.finding import Finding
    from aifix_tui.app import AifixApp
    from aifix_tui.handbook import Handbook
    from aifix_tui.hanging import Hanging
    from aifix_tui.interview import Question


PROBED = (
    "Yes, look: it reads for a moment, and changes and sends nothing",
    "No, the failure was on another machine",
)


SHOWN = 12.0
"""Seconds for which an answer of this machine stays in sight."""


def _asking(question: Question) -> str:
    from aifix.probes.registry import BY_ID

    return "".join(f"\n   – {BY_ID[probe].question}" for probe in question.probes)


class WizardScreen(Screen[None]):
    """Asks at the left, shows what is left at the right; ends at a page with fixes."""

    app: AifixApp
    AUTO_FOCUS = "#answers"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("s", "skip", "Skip"),
        Binding("backspace,u", "back", "Back"),
        Binding("slash", "words", "Words", key_display="/"),
        Binding("x", "restart", "Restart"),
        Binding("c", "copy", "Copy", show=False),
        Binding("h", "page", "Rule", show=False),
    ]
    DEFAULT_CSS = """
    WizardScreen #trail { height: auto; max-height: 3; padding: 0 1; color: $text-muted; background: $panel; }
    WizardScreen #words { height: 3; }
    WizardScreen #asking { width: 55%; }
    WizardScreen #question { height: auto; padding: 1 1 0 1; text-style: bold; }
    WizardScreen #answers { height: 1fr; border: none; background: $background; }
    WizardScreen #page { display: none; height: 1fr; }
    WizardScreen.-page #page { display: block; }
    WizardScreen.-page #question, WizardScreen.-page #answers { display: none; }
    WizardScreen #left-over { width: 1fr; border-left: vkey $primary 50%; }
    WizardScreen #left-count { height: 1; padding: 0 1; color: $text-muted; }
    WizardScreen #candidates { height: 1fr; border: none; background: $background; }
    """

    def __init__(self) -> None:
        """Make the screen; the handbook is loaded when it is shown."""
        super().__init__()
        self._book: Handbook | None = None
        self._interview: Interview | None = None
        self._question: Question | None = None
        self._candidates: list[tuple[str, float]] = []
        self._going: Going | None = None

    def compose(self) -> ComposeResult:
        """Lay out the screen."""
        yield Static("", id="trail", markup=False)
        with Horizontal():
            with Vertical(id="asking"):
                yield Input(placeholder="/ words of the message, if you saw one", id="words")
                yield Static("", id="question", markup=False)
                yield OptionList(id="answers", markup=False)
                yield RulePage(id="page")
            with Vertical(id="left-over"):
                yield Static("", id="left-count", markup=False)
                yield OptionList(id="candidates", markup=False)
        yield Footer(compact=True, show_command_palette=False)

    def on_mount(self) -> None:
        """Load the handbook in a thread."""
        self.query_one("#answers", OptionList).loading = True
        self._load()

    @work(thread=True)
    def _load(self) -> None:
        self.app.call_from_thread(self._loaded, self.app.handbook())

    def _loaded(self, book: Handbook) -> None:
        self._book = book
        self._interview = Interview(book)
        self.query_one("#answers", OptionList).loading = False
        self._ask()

    # ------------------------------------------------------------ asking

    @work(thread=True, exclusive=True, group="ask")
    def _ask(self) -> None:
        """Find the next question; in a thread, as the first wordings take a moment."""
        interview = self._interview
        if interview is None:
            return
        question, candidates = interview.question(), interview.candidates()
        self.app.call_from_thread(self._asked, question, candidates)

    def _asked(self, question: Question | None, candidates: list[tuple[str, float]]) -> None:
        interview, book = self._interview, self._book
        if interview is None or book is None:
            return
        self._question, self._candidates = question, candidates
        self.remove_class("-page")
        self._say_trail(interview)
        self._list_candidates(book)
        answers = self.query_one("#answers", OptionList)
        answers.clear_options()
        if question is None:
            best = candidates[0][1] if candidates else 0.0
            said = "This fits best. Enter opens its page, with the fixes." if best >= SURE else "No further question tells much. These are left:"
            self.query_one("#question", Static).update(said)
            answers.add_options([Option(self._candidate(book, *one)) for one in candidates[:5]])
        else:
            self.query_one("#question", Static).update(pages.text(f"{len(interview.answers) + 1}. {question.text}{_asking(question)}"))
            labels = list(PROBED) if question.probes else [one_line(option.label) for option in question.options]
            answers.add_options([Option(pages.text(f"• {label}")) for label in labels])
        answers.highlighted = 0
        if not self.query_one("#words").has_focus:
            answers.focus()

    def _say_trail(self, interview: Interview) -> None:
        said = [one_line(answer.option.label) if answer.option else one_line(answer.said) or "skipped" for answer in interview.answers]
        trail = " › ".join(["wizard", *said])
        self.query_one("#trail", Static).update(trail + (f" · words: {one_line(interview.words)}" if interview.words else ""))

    def _list_candidates(self, book: Handbook) -> None:
        total = len(book.rules)
        shown = self._candidates[:40]
        self.query_one("#left-count", Static).update(f"{len(self._candidates)} of {total} diagnoses left")
        candidates = self.query_one("#candidates", OptionList)
        candidates.clear_options()
        candidates.add_options([Option(self._candidate(book, *one)) for one in shown])

    def _candidate(self, book: Handbook, rule_id: str, weight: float) -> Hanging:
        best = self._candidates[0][1]
        percent = f"{weight * 100:.0f} %" if weight >= 0.01 else "<1 %"
        return pages.text((rule_id, "bold"), (f"\n  {pages.bar(weight / best, 5)} {percent:>4} ", pages.MUTED), one_line(book.titles[rule_id]))

    # ------------------------------------------------------------ answering

    @on(OptionList.OptionSelected, "#answers")
    def _answered(self, event: OptionList.OptionSelected) -> None:
        if self._interview is None:
            return
        if self._question is None:
            self._open(event.option_index)
            return
        if not self._question.probes:
            self._interview.answer(self._question, self._question.options[event.option_index].key)
        elif event.option_index == 0:
            self._look(self._interview, self._question)
            return
        else:
            self._interview.elsewhere = True
        self._ask()

    # ------------------------------------------------------------ this machine

    def _look(self, interview: Interview, question: Question) -> None:
        """Let probes answer."""
        if self._going is None:
            self._going = Going()
            self.query_one("#question", Static).update(f"… looking: {', '.join(question.probes)}\n   s calls it off")
            self._run(interview, question, self._going)

    @work(thread=True, group="look")
    def _run(self, interview: Interview, question: Question, going: Going) -> None:
        """Ask the probes about the rules that are left; in a thread."""
        from aifix_tui import probing

        asked = interview.asked_of(question)
        found = probing.looked(asked, going)
        self.app.call_from_thread(self._looked, interview, question, dict(zip(asked, found, strict=True)) if found is not None else None, going)

    def _looked(self, interview: Interview, question: Question, found: dict[tuple[str, str], Finding] | None, going: Going) -> None:
        if going is not self._going:
            return
        self._going = None
        if interview is not self._interview:
            return
        if found is None:
            interview.answer(question, None)
        else:
            told: dict[str, Finding] = {}
            for (probe, _), finding in found.items():  # of what a probe said about several rules, that which speaks for one
                if probe not in told or finding.status == "confirmed":
                    told[probe] = finding
            signs = {"confirmed": "✗", "refuted": "✓"}
            said = [f"{signs.get(finding.status, '–')} {probe}" for probe, finding in told.items()]
            interview.looked(question, {asked: finding.status for asked, finding in found.items()}, "looked: " + " ".join(said))
            for probe, finding in told.items():
                self.notify(
                    one_line(finding.summary),
                    title=f"{signs.get(finding.status, '–')} {probe}",
                    markup=False,
                    timeout=SHOWN,
                    severity="information",
                )
        self._ask()

    @on(OptionList.OptionSelected, "#candidates")
    def _selected(self, event: OptionList.OptionSelected) -> None:
        self._open(event.option_index)

    def _open(self, index: int) -> None:
        if self._book is not None and index < len(self._candidates):
            self._show_page(self._candidates[index][0])

    def _show_page(self, rule_id: str) -> None:
        if self._book is not None:
            self.add_class("-page")
            page = self.query_one(RulePage)
            page.show(self._book, rule_id)
            page.focus()

    @on(RulePage.Follow)
    def _follow(self, event: RulePage.Follow) -> None:
        self._show_page(event.page)

    def action_skip(self) -> None:
        """Leave the question open; call off a look at this machine."""
        if self._going is not None:
            self._going.call_off()
            return
        if self._interview is not None and self._question is not None and not self.has_class("-page"):
            self._interview.answer(self._question, None)
            self._ask()

    def action_back(self) -> None:
        """Close the page, or take the last answer back."""
        if self.has_class("-page"):
            self.remove_class("-page")
            self.query_one("#answers").focus()
        elif self._interview is not None and self._interview.back() is not None:
            self._ask()

    def action_restart(self) -> None:
        """Forget everything that was said."""
        if self._book is not None:
            if self._going is not None:
                self._going.call_off()
                self._going = None
            self._interview = Interview(self._book)
            with self.prevent(Input.Changed):
                self.query_one("#words", Input).value = ""
            self._ask()

    def action_words(self) -> None:
        """Go to the words."""
        self.set_focus(self.query_one("#words"))

    @on(Input.Changed, "#words")
    def _typed(self, event: Input.Changed) -> None:
        if self._interview is not None:
            self._interview.words = event.value
            self._ask()

    @on(Input.Submitted, "#words")
    def _submitted(self) -> None:
        self.query_one("#answers").focus()

    def on_key(self, event: events.Key) -> None:
        """Leave the words by Escape or Down; close a page by Escape."""
        if self.query_one("#words").has_focus and event.key in {"down", "escape"}:
            event.stop()
            event.prevent_default()
            self.query_one("#answers").focus()
        elif event.key == "escape" and self.has_class("-page"):
            event.stop()
            self.action_back()

    # ------------------------------------------------------------ the page

    def action_copy(self) -> None:
        """Choose what to copy of the page's fixes."""
        from aifix_tui.dialogs import CopyDialog

        page = self.query_one(RulePage)
        if self._book is None or not self.has_class("-page"):
            return
        actions = page.copyable(self._book)
        if actions:
            self.app.push_screen(CopyDialog(self._book.title(page.page_name), actions), self.app.chosen)

    async def action_page(self) -> None:
        """Open the page in the handbook."""
        if self.has_class("-page"):
            await self.app.show_rule(self.query_one(RulePage).page_name)
