"""The fuzzy stage: lines that read like an error and that no signature took.

A line is compared with the literal parts of every signature's wording, aligned in order: a mistyped, cut or slightly reworded
message keeps most of them. Where the parts fit, the line is read again with the exact text in their place, so that even a
mistyped message yields its numbers. Below the bar, or without a margin over the second-best diagnosis: silence, and `nearest`.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from aifix.lazy import lazy_linear, lazy_re
from aifix.match.ending import ended_well
from aifix.match.exact import Hit, is_searched_source, quoted_lines
from aifix.match.leads import BESIDE, Leads
from aifix.match.regex import PatternError, compile_pattern
from aifix.match.skeleton import HOLE, skeletons
from aifix.match.unexplained import unexplained
from aifix.model import Document, Nearest

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Sequence

    from aifix.rulebase.base import Base

LINES = 60
"""Lines compared at most; repeats count once."""
LONGEST = 1200
"""Characters of a line that are compared."""
SHORTLIST = 14
CONTAINED = 0.5
"""Share of a wording's trigrams that a line must hold to be compared at all."""
SEGMENT = 5
"""Characters of a literal part that counts."""
LITERAL = 16
"""Literal characters that a wording needs."""
WORDY = 18
"""Letters of a wording's longer words, below which its words tell nothing."""
WORDS = 0.6
"""Share of these letters that a line must hold to be compared where it does not read like an error."""
READ = 0.84
"""Bar of a line that the signature reads once the wording is put right."""
CUT = 0.9
"""Bar of a line that it does not read even so: cut, or reworded at a number."""
CUT_LITERAL = 30
NAMED = 0.8
"""Bar of what stands behind an exception's name, where the signature reads the line."""
FIRST = 75
"""Likeness from which on the first place where a part fits is taken for its own (percent)."""
SURPLUS = 4
"""Characters by which a part may be shorter in a line than in its wording, and the one more that makes a range of them."""
GAP = 80
"""Characters within which a short word is looked for behind what stands before it."""
SHORT, LONG = 20, 40
"""Literal characters below which a wording claims nothing, and below which it must fit as well as a cut line."""
MARGIN = 0.02
RIVALS = 0.06
"""Wordings ranked this near to the best are handed on too: context conditions may rule the best one out."""
REREAD = 12
"""Literal characters that a collector needs to be looked for in a mistyped line."""
NEAR = 0.55
"""Bar of a wording that is shown as near."""
STRONG = 0.75
"""Strength of an exact root cause that makes the fuzzy stage unnecessary."""

_GATE = lazy_linear(
    r"(?i)err|exce|fail|fatal|abort|kill|invalid|cannot|can.t|unable|unsupport|mismatch|assert|denied|not found|no such|expected|missing|"
    r"out of|memory|timed? ?out|illegal|undefined|not impl|not comp|must|should be|already|unknown|requires?|incompat|corrupt|truncat|nan\b|"
    r"unrecogni|refused|no module|not available|overflow|divisible|too (?:large|many|small|old|long)|cuda|nccl"
)


_CLASS = lazy_re(r"[\w.]*(?:Error|Exception|Warning)\b:? ?")
"""An exception's class: a wording that is no more than that is like any other class."""
_DIGITS = lazy_re(r"-?\d+")
_WORD = lazy_re(r"[a-z]{4,}")


class Reader(NamedTuple):
    """A signature that a wording belongs to."""

    rule: str
    signature: int
    pattern: str


class Wording(NamedTuple):
    """The literal parts of a message, in order, and the signatures that share them."""

    segments: tuple[str, ...]
    length: int
    readers: list[Reader]


class Index:
    """The wordings of a base, by trigram and by word."""

    def __init__(self, wordings: Iterable[tuple[str, int, str, Sequence[str]]]) -> None:
        """Index wordings: rule, signature number, pattern, skeletons."""
        self.wordings: list[Wording] = []
        self._by_trigram: dict[str, list[int]] = defaultdict(list)
        self._sizes: list[int] = []
        self._by_word: dict[str, list[int]] = {}
        self._weights: list[int] = []
        known: dict[tuple[str, ...], Wording] = {}
        for rule, signature, pattern, texts in wordings:
            for text in texts:
                segments = tuple(part for part in text.split(HOLE) if len(part.strip()) >= SEGMENT)
                length = sum(map(len, segments))
                if length < LITERAL or (len(segments) == 1 and _CLASS.fullmatch(segments[0].strip())):
                    continue
                reader = Reader(rule, signature, pattern)
                if segments in known:
                    known[segments].readers.append(reader)
                    continue
                known[segments] = wording = Wording(segments, length, [reader])
                trigrams = {segment[at : at + 3] for segment in map(str.lower, segments) for at in range(len(segment) - 2)}
                number = len(self.wordings)
                self.wordings.append(wording)
                self._sizes.append(len(trigrams))
                for trigram in trigrams:
                    self._by_trigram[trigram].append(number)

    def shortlist(self, line: str) -> list[Wording]:
        """Give the wordings of whose trigrams a line holds the largest share."""
        low = line.lower()
        counted: Counter[int] = Counter()
        for trigram in {low[at : at + 3] for at in range(len(low) - 2)}:
            counted.update(self._by_trigram.get(trigram, ()))
        scored = [(shared / self._sizes[number], number) for number, shared in counted.items() if shared >= CONTAINED * self._sizes[number]]
        scored.sort(reverse=True)
        # Longer wordings first among the well contained: a short one is contained in many lines.
        best = sorted(scored[: 3 * SHORTLIST], key=lambda item: -item[0] * min(self.wordings[item[1]].length, 60))
        return [self.wordings[number] for _, number in best[:SHORTLIST]]

    def resembles(self, line: str) -> bool:
        """Tell cheaply whether a line holds most words of some longer wording: of a mistyped one the other words are still there."""
        if not self._weights:
            self._index_words()
        shared: dict[int, int] = {}
        most = 0
        for word in set(_WORD.findall(line.lower())):
            for number in self._by_word.get(word, ()):
                shared[number] = shared.get(number, 0) + len(word)
                most = max(most, shared[number])
        return most >= WORDY and any(weight >= WORDS * self._weights[number] for number, weight in shared.items())

    @cached_property
    def words(self) -> frozenset[str]:
        """The words of all wordings."""
        return frozenset(word for wording in self.wordings for segment in wording.segments for word in _WORD.findall(segment.lower()))

    @cached_property
    def leads(self) -> Leads:
        """What the words of the wordings weigh."""
        return Leads((reader.rule, wording.segments) for wording in self.wordings for reader in wording.readers)

    def _index_words(self) -> None:
        by_word: dict[str, list[int]] = defaultdict(list)
        for number, wording in enumerate(self.wordings):
            words = {word for segment in wording.segments for word in _WORD.findall(segment.lower())}
            weight = sum(map(len, words))
            self._weights.append(max(weight, WORDY))
            if weight >= WORDY and len(words) > 1:
                for word in words:
                    by_word[word].append(number)
        self._by_word = dict(by_word)


class Likeness(NamedTuple):
    """How well a wording fits a line, the line with the wording put right, and how many literal characters were compared."""

    score: float
    repaired: str
    compared: int


def align(segments: Sequence[str], line: str) -> Likeness:
    """Align a wording's literal parts with a line, in order; a line that ends early is judged by what there is of it."""
    best, whole = _align(segments, line, nearest=False)
    if whole or len(segments) < 3:
        return best
    # a part that stands twice: its second place, spelt right, was taken for the first, which is mistyped
    other, _ = _align(segments, line, nearest=True)
    return max(best, other, key=lambda likeness: likeness.score)


def _align(segments: Sequence[str], line: str, *, nearest: bool) -> tuple[Likeness, bool]:
    """Align each part where it fits best, or where it fits first; tell, too, whether every part that could be there was found."""
    from rapidfuzz import fuzz

    at, total, compared = 0, 0.0, 0
    whole = True
    pieces: list[str] = []
    for segment in segments:
        rest = line[at:]
        if len(rest) < len(segment):
            length = len(rest.rstrip())
            if length >= SEGMENT:
                total += length * fuzz.ratio(segment[:length], rest.rstrip()) / 100
                compared += length
            whole = False
            break
        compared += len(segment)
        found = fuzz.partial_ratio_alignment(segment, rest, score_cutoff=60)
        while nearest and found is not None and found.dest_start >= len(segment):
            before = fuzz.partial_ratio_alignment(segment, rest[: found.dest_start], score_cutoff=FIRST)
            if before is None:
                break
            found = before
        if found is None:
            whole = False
            continue
        start, end = _snap(rest, found.dest_start, found.dest_end, segment)
        if found.score < 100:  # the window is as long as the part: where a letter is missing, it takes in what stands beside
            end = max(range(end, max(end - SURPLUS, start), -1), key=lambda last: fuzz.ratio(segment, rest[start:last]))
            start = max(range(start, min(start + SURPLUS, end)), key=lambda first: fuzz.ratio(segment, rest[first:end]))
        if _DIGITS.findall(segment) != _DIGITS.findall(rest[start:end]):
            whole = False
            continue  # a number in a wording is never a typo: exit code 1 is not exit code -9
        total += len(segment) * found.score / 100
        pieces += [rest[:start], segment]
        at += end
    pieces.append(line[at:])
    return Likeness(total / max(compared, 1), "".join(pieces), compared), whole


def _mend(pattern: str, line: str, known: Container[str]) -> str:
    """Put right a wrong letter in the short words of a wording as well, once its long parts fit; the line itself where that fails.

    Args:
        pattern: a regex, captures expanded.
        line: the text, its long parts put right.
        known: words that are spelt right, and so meant.
    """
    for text in skeletons(pattern):
        at, mended = 0, line
        for part in (part for part in text.split(HOLE) if part.strip()):
            place = mended.find(part, at)
            if place < 0:
                place = _misspelt(part, mended, at, known)
                if place < 0:
                    break
                mended = mended[:place] + part + mended[place + len(part) :]
            at = place + len(part)
        else:
            if mended != line:
                return mended
    return line


def _misspelt(part: str, line: str, at: int, known: Container[str]) -> int:
    """Find the place behind `at` where a part stands with one letter wrong; -1 where there is none, or where the word is another one."""
    if len(_WORD.findall(part.lower())) != 1:
        return -1
    for start in range(at, min(len(line) - len(part), at + GAP) + 1):
        wrong = [place for place, letter in enumerate(part) if line[start + place] != letter]
        if len(wrong) == 1 and part[wrong[0]].isalpha() and line[start + wrong[0]].isalpha():
            return -1 if any(word in known for word in _WORD.findall(line[start : start + len(part)].lower())) else start
    return -1


def reread(pattern: str, line: str) -> dict[str, str]:
    """Read a mistyped line by a pattern: its captures once the wording is put right; empty when they do not fit.

    Args:
        pattern: a regex, captures expanded.
        line: the text.
    """
    line = line[:LONGEST]
    for text in skeletons(pattern):
        segments = tuple(part for part in text.split(HOLE) if len(part.strip()) >= SEGMENT)
        length = sum(map(len, segments))
        if length < REREAD or not _alike(max(segments, key=len), line):
            continue
        likeness = align(segments, line)
        found = compile_pattern(pattern).search(likeness.repaired) if likeness.score >= CUT and likeness.repaired != line else None
        if found is not None:
            return {name: text.strip() for name, text in found.groupdict().items() if text}
    return {}


def _alike(segment: str, line: str) -> bool:
    """Tell cheaply whether a part can stand in a line, mistyped: half of its trigrams do."""
    trigrams = {segment[at : at + 3] for at in range(len(segment) - 2)}
    return sum(trigram in line for trigram in trigrams) * 2 >= len(trigrams)


def _snap(text: str, start: int, end: int, segment: str) -> tuple[int, int]:
    """Move the borders of an aligned part by a character where the neighbours fit better (a typo at its edge)."""
    if start > 0 and text[start - 1 : start] == segment[:1] and text[start : start + 1] != segment[:1]:
        start -= 1
    if end < len(text) and text[end : end + 1] == segment[-1:] and text[end - 1 : end] != segment[-1:]:
        end += 1
    return start, end


class _Best(NamedTuple):
    rank: float
    score: float
    reader: Reader
    length: int
    captures: dict[str, str]
    read: bool
    compared: int
    repaired: str
    segments: tuple[str, ...]


def _best_by_rule(line: str, index: Index) -> dict[str, list[_Best]]:
    """Give the wordings of each rule that fit a line best: several where only what stands around them can tell them apart."""
    best: dict[str, list[_Best]] = {}
    for wording in index.shortlist(line):
        likeness = align(wording.segments, line)
        if likeness.score < NEAR:
            continue
        for reader in wording.readers:
            try:
                found = compile_pattern(reader.pattern).search(likeness.repaired)
                if found is None and likeness.score >= CUT:
                    mended = _mend(reader.pattern, likeness.repaired, index.words)
                    found = compile_pattern(reader.pattern).search(mended) if mended != likeness.repaired else None
                    repaired = mended if found is not None else likeness.repaired
                else:
                    repaired = likeness.repaired
            except PatternError:
                continue
            captures = {name: text.strip() for name, text in found.groupdict().items() if text is not None} if found is not None else {}
            rank = likeness.score + min(likeness.compared, 120) / 1200 + (0.05 if found is not None else 0.0)
            one = _Best(rank, likeness.score, reader, wording.length, captures, found is not None, likeness.compared, repaired, wording.segments)
            known = best.setdefault(reader.rule, [one])
            if rank > known[0].rank:
                best[reader.rule] = [one]
            elif rank == known[0].rank and all(other.reader.signature != reader.signature for other in known):
                known.append(one)
    return best


def find(document: Document, base: Base, hits: Sequence[Hit]) -> list[Hit]:
    """Recognise by likeness what no signature took.

    Args:
        document: the cleaned input.
        base: the rules.
        hits: what the exact stage found; when a sure root cause is among it, nothing is compared.

    """
    if document.genre != "log" or (_explained(base, hits) and not _strangers(document, hits)):
        return []
    taken = {hit.line for hit in hits if hit.span >= LITERAL and not hit.survived}
    found: list[Hit] = []
    chosen = _candidates(document, taken, base.wordings)
    if chosen and not document.tracebacks and ended_well(document, max(chosen)):
        return []
    for number in chosen:
        text = document.lines[number].text[:LONGEST]
        ranked = sorted(_best_by_rule(text, base.wordings).values(), key=lambda bests: -bests[0].rank)
        if not ranked:
            continue
        top = ranked[0][0].rank
        if len(ranked) > 1 and top - ranked[1][0].rank < MARGIN and not ranked[0][0].read:
            continue
        found += [
            Hit(
                best.reader.rule,
                best.reader.signature,
                number,
                best.captures,
                best.length,
                "fuzzy",
                round(min(best.score, 0.99), 3),
                repaired=best.repaired,
            )
            for bests in ranked
            for best in bests
            if top - best.rank <= RIVALS and _passes(best)
        ]
    return found


def _passes(best: _Best) -> bool:
    # an exception's name is right in any message: only what stands behind it tells one from another
    named = sum(len(found[0]) for found in map(_CLASS.match, best.segments) if found)
    compared = best.compared - named
    score = (best.score * best.compared - named) / max(compared, 1)
    if not best.read:
        return score >= CUT and compared >= CUT_LITERAL
    return best.compared >= SHORT and best.score >= (READ if best.compared >= LONG else CUT) and score >= NAMED


def nearest(base: Base, lines: Iterable[str], most: int = 3) -> tuple[Nearest, ...]:
    """Name the diagnoses whose wording is nearest to some lines: leads, not claims; none whose likeness is that of all errors."""
    leads = base.wordings.leads
    told: dict[str, tuple[float, float]] = {}
    for text in list(lines)[:5]:
        for rule, bests in _best_by_rule(text[:LONGEST], base.wordings).items():
            weight = leads.weight(text[:LONGEST], bests[0].segments)
            if weight:
                told[rule] = max(told.get(rule, (0.0, 0.0)), (weight, bests[0].score))
    least = BESIDE * max((weight for weight, _ in told.values()), default=0.0)
    chosen = sorted((item for item in told.items() if item[1][0] >= least), key=lambda item: -item[1][1])[:most]
    return tuple(Nearest(rule, base[rule].title, round(score, 3)) for rule, (_, score) in chosen)


def _strangers(document: Document, hits: Sequence[Hit]) -> bool:
    """Tell whether a traceback's error was taken by no signature."""
    return bool(unexplained(document, {hit.line for hit in hits}))


def _explained(base: Base, hits: Sequence[Hit]) -> bool:
    """Tell whether a sure root cause was found exactly."""
    for hit in hits:
        rule = base[hit.rule]
        signature = rule.signatures[hit.signature]
        if signature.role == "root" and signature.level == "error" and signature.strength >= STRONG and not rule.symptom:
            return True
    return False


def _candidates(document: Document, taken: set[int], index: Index) -> list[int]:
    """Choose the lines to compare: error-like, not quoted, each text once, the first and the last ones."""
    quoted = quoted_lines(document)
    errors = {traceback.error for traceback in document.tracebacks}
    seen: set[str] = set()
    lines = document.lines

    def choose(number: int) -> bool:
        text = lines[number].text
        if number in quoted or number in taken or len(text) < LITERAL or text in seen:
            return False
        if is_searched_source(lines[number]):
            return False
        if number in errors or _GATE.search(text[:LONGEST]) or (len(seen) < LINES and index.resembles(text[:LONGEST])):
            seen.add(text)
            return True
        return False

    chosen: list[int] = []
    reached = 0
    while reached < len(lines) and len(chosen) <= LINES:
        if choose(reached):
            chosen.append(reached)
        reached += 1
    if len(chosen) <= LINES:
        return chosen
    # of too many, the errors and those at both ends are compared: what lies between need not be looked at
    chosen += [number for number in sorted(errors) if number >= reached and choose(number)]
    first = [number for number in chosen if number in errors][: LINES // 3]
    rest = [number for number in chosen if number not in first]
    last: list[int] = []
    for number in range(len(lines) - 1, reached - 1, -1):
        if len(last) == LINES // 3:
            break
        if choose(number):
            last.append(number)
    return sorted({*first, *rest[: LINES // 3], *(rest + last[::-1])[-LINES // 3 :]})
