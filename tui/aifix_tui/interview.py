"""The wizard's reasoning: which question to ask next, and what an answer does to the diagnoses. No widgets.

Every rule is a hypothesis with a weight. A question has options; a table says how probable each option is under each rule, by the
rule's phases, tags, family, and what its programs print, or what a passive probe would say of this machine. Asked is the question whose
answer is expected to tell most: the entropy of the weights now, less the mean entropy after its answers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from aifix_tui.handbook import FAMILIES

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from aifix.model import Rule
    from aifix_tui.handbook import Handbook

SLIP = 0.06
"""The chance that a person answers besides the point, or that a rule's tags are incomplete."""
OTHER = "other"
ENOUGH = 0.25
"""Bits below which no question is worth asking."""
SURE = 0.6
"""Share of the weight at which a diagnosis is said to be found."""
WORDS = 7.0
"""How strongly words of the message speak (a full hit multiplies the odds by e to this)."""
WITNESSES = 6
"""Wordings that are shown together to choose from."""
VERDICTS = {"confirmed": 0.2, "refuted": 0.5, "nothing": 0.3}
"""How often a probe gives which verdict on a machine on which the failure at hand is none of its business. A rule's likelihood ratios
stand for how much oftener, or more rarely, it does so where the rule holds."""
EASY = 6.0
"""What a bit from a probe is worth beside one from a person, who must know the answer; a look takes one key and no knowledge."""
SLIGHT = 0.02
"""Bits below which a probe is not worth a look."""
TOGETHER = 4
"""Probes of one look."""
LOOKED = 24
"""The likeliest rules that a probe is asked about."""
FEW = 0.004
"""Share of the weight below which an option is not shown."""

PHASES = {
    "install": "while installing packages",
    "build": "while compiling or building",
    "startup": "at the start: imports, loading, first lines",
    "data": "while reading data",
    "training": "while training",
    "checkpoint": "while saving or loading a checkpoint",
    "inference": "while predicting or generating",
    "serving": "in a server that answers requests",
    "distributed": "while processes or machines find each other",
    "hardware": "the machine itself: driver, card",
}
GROUPS: dict[str, tuple[str, dict[str, tuple[str, tuple[str, ...]]]]] = {
    "framework": (
        "Which framework or language is it?",
        {
            "torch": ("PyTorch", ("torch", "torchvision", "lightning", "ddp", "deepspeed", "accelerate", "autograd")),
            "tensorflow": ("TensorFlow or Keras", ("tensorflow", "keras")),
            "jax": ("JAX", ("jax", "xla")),
            "onnx": ("ONNX Runtime or TensorRT", ("onnx", "onnxruntime", "tensorrt")),
            "llama": ("llama.cpp or its kin", ("llama.cpp", "llama-cpp", "gguf")),
            "node": ("JavaScript, npm", ("node", "npm", "webpack", "vite")),
            "numpy": ("NumPy, scikit-learn, pandas", ("numpy", "sklearn", "pandas")),
        },
    ),
    "library": (
        "Is one of these in play?",
        {
            "transformers": ("Hugging Face transformers, hub, datasets", ("huggingface", "transformers", "hub", "datasets", "tokenizer", "peft")),
            "diffusers": ("diffusers, ComfyUI", ("diffusers",)),
            "vllm": ("vLLM, SGLang, TGI", ("vllm", "sglang", "tgi")),
            "deepspeed": ("DeepSpeed, FSDP, accelerate", ("deepspeed", "fsdp", "accelerate")),
            "lightning": ("Lightning", ("lightning",)),
            "flash": ("flash-attn, xformers, Triton kernels", ("flash-attn", "xformers", "triton")),
            "pip": ("pip, conda, uv", ("pip", "conda", "uv")),
            "ray": ("Ray", ("ray",)),
        },
    ),
    "hardware": (
        "What does it run on?",
        {
            "nvidia": ("NVIDIA GPU", ("nvidia", "cuda", "nccl", "nvcc", "nvswitch")),
            "amd": ("AMD GPU", ("rocm", "amd", "hip")),
            "apple": ("Apple GPU", ("mps", "apple", "metal")),
            "intel": ("Intel, Gaudi, Ascend or another accelerator", ("xpu", "hpu", "npu", "intel", "gaudi", "ascend")),
        },
    ),
    "place": (
        "Where does it run?",
        {
            "linux": ("plain Linux", ("linux",)),
            "container": ("a container or Kubernetes", ("container", "docker", "kubernetes")),
            "cluster": ("a cluster with a scheduler", ("slurm", "scheduler", "multi-node")),
            "windows": ("Windows", ("windows", "wsl", "msvc")),
            "macos": ("macOS", ("macos",)),
        },
    ),
    "processes": (
        "How many processes take part?",
        {
            "several": ("several: DDP, torchrun, several GPUs or machines", ("multi-gpu", "multi-node", "nccl", "ddp", "gloo", "mpi", "fsdp")),
        },
    ),
}
"""Questions about tags: the text, and for each option its label and the tags that speak for it."""
OTHERS = {"processes": "one", "hardware": "CPU only, or something else"}


@dataclass(frozen=True)
class Option:
    """An answer that can be chosen."""

    key: str
    label: str
    share: float = 0.0
    """How probable it is now."""


@dataclass(frozen=True)
class Question:
    """A question with its options, and how probable each is under each rule."""

    id: str
    text: str
    options: tuple[Option, ...]
    table: Mapping[str, Sequence[float]] = field(repr=False)
    gain: float = 0.0
    """Expected information of the answer, in bits."""
    probes: tuple[str, ...] = ()
    """The probes that answer it, where this machine does; it has no options then."""


@dataclass(frozen=True)
class Answer:
    """What was answered to a question; without an option or verdicts it was skipped."""

    question: Question
    option: Option | None = None
    verdicts: Mapping[tuple[str, str], str] = field(default_factory=dict)
    """What each probe said of each rule that it was asked about."""
    said: str = ""
    """What they said, in words."""


def entropy(weights: Iterable[float]) -> float:
    """Give the entropy of weights that sum to 1, in bits."""
    return -sum(weight * math.log2(weight) for weight in weights if weight > 0)


class Interview:
    """An interview as it goes: answers, words, and what is left."""

    def __init__(self, book: Handbook) -> None:
        """Start with every rule possible."""
        self.book = book
        self.answers: list[Answer] = []
        self.words = ""
        self._prior = _normal({rule.id: _prior(rule) for rule in book.rules.values()})
        self.elsewhere = False
        """Whether the failure was on another machine: then this one is not asked."""
        self._fixed = [_phase_question(book), _family_question(book), *[_tag_question(book, name) for name in GROUPS]]
        self._probes = _probe_questions(book)

    # ------------------------------------------------------------ what people say

    def answer(self, question: Question, key: str | None) -> None:
        """Take an answer; None skips the question."""
        self.answers.append(Answer(question, next((option for option in question.options if option.key == key), None)))

    def looked(self, question: Question, verdicts: Mapping[tuple[str, str], str], said: str) -> None:
        """Take what probes said about the rules that they were asked about."""
        self.answers.append(Answer(question, verdicts=verdicts, said=said))

    def asked_of(self, question: Question) -> list[tuple[str, str]]:
        """Give the probes of a question, each with the rules that it is to be asked about, the likeliest first."""
        weights = self.weights()
        found: list[tuple[str, str]] = []
        for probe in question.probes:
            named = [rule.id for rule in self.book.rules.values() if any(use.id == probe for use in rule.probes)]
            found += [(probe, rule_id) for rule_id in sorted(named, key=lambda rule_id: (-weights[rule_id], rule_id))[:LOOKED]]
        return found

    def back(self) -> Answer | None:
        """Take the last answer back."""
        return self.answers.pop() if self.answers else None

    # ------------------------------------------------------------ what follows

    def weights(self) -> dict[str, float]:
        """Give the weight of every rule after what was said; they sum to 1."""
        weights = dict(self._prior)
        for answer in self.answers:
            for (probe, rule_id), verdict in answer.verdicts.items():
                use = next((use for use in self.book.rules[rule_id].probes if use.id == probe), None)
                if use is not None:
                    weights[rule_id] *= {"confirmed": use.confirmed, "refuted": use.refuted}.get(verdict, 1.0)
            if answer.option is None:
                continue
            index = answer.question.options.index(answer.option)
            for rule_id in weights:
                weights[rule_id] *= answer.question.table[rule_id][index]
        if self.words.strip():
            found = {one.id: one.score for one in self.book.search(self.words)}
            if found:
                for rule_id in weights:
                    weights[rule_id] *= math.exp(WORDS * found.get(rule_id, 0.0))
        return _normal(weights)

    def candidates(self) -> list[tuple[str, float]]:
        """Give the rules by weight, those that are still worth showing."""
        ranked = sorted(self.weights().items(), key=lambda item: (-item[1], item[0]))
        best = ranked[0][1] if ranked else 0
        return [(rule_id, weight) for rule_id, weight in ranked if weight >= best / 50]

    def question(self) -> Question | None:
        """Give the question whose answer is expected to tell most; None when one diagnosis stands out, or nothing more can be told."""
        weights = self.weights()
        if max(weights.values()) >= SURE:
            return None
        asked = {answer.question.id for answer in self.answers}
        best: Question | None = None
        for question in [*self._fixed, *self._witnesses(weights, asked)]:
            if question.id in asked:
                continue
            gain = information(question, weights)
            if gain > ENOUGH and (best is None or gain > best.gain):
                best = _shown(question, weights, gain)
        look = self._look(weights)
        return look if look is not None and (best is None or look.gain * EASY > best.gain) else best

    def _look(self, weights: Mapping[str, float]) -> Question | None:
        """Make a question of the probes that tell most about what is left, to be answered by this machine; what they tell adds up."""
        if self.elsewhere:
            return None
        asked = {probe for answer in self.answers for probe in answer.question.probes}
        gains = {probe.id: information(probe, weights) for probe in self._probes if probe.id not in asked}
        ranked = sorted(gains, key=lambda probe: (-gains[probe], probe))[:TOGETHER]
        chosen = tuple(probe for probe in ranked if gains[probe] >= SLIGHT)
        if not chosen:
            return None
        number = 1 + sum(bool(answer.question.probes) for answer in self.answers)
        return Question(f"look {number}", "Shall aifix look at this machine?", (), {}, sum(gains[probe] for probe in chosen), chosen)

    def _witnesses(self, weights: Mapping[str, float], asked: set[str]) -> list[Question]:
        """Make a question of what the likeliest rules' programs print: people recognise a message better than they describe it."""
        ranked = sorted(weights, key=lambda rule_id: (-weights[rule_id], rule_id))
        if sum(weights[rule_id] for rule_id in ranked[:WITNESSES]) < 0.35:
            return []
        shown = {key for answer in self.answers for key in (option.key for option in answer.question.options)}
        texts: dict[str, str] = {}
        for rule_id in ranked[: 3 * WITNESSES]:
            printed = next((one for one in self.book.printed(rule_id) if one not in shown and one not in texts.values()), None)
            if printed is not None and len(texts) < WITNESSES:
                texts[rule_id] = printed
        if len(texts) < 2:
            return []
        name = f"printed {sum(one.startswith('printed') for one in asked) + 1}"
        options = [Option(text, f"“{text}”") for text in texts.values()] + [Option(OTHER, "nothing like these")]
        even = SLIP / len(texts)
        table: dict[str, list[float]] = {}
        for rule_id in weights:
            if rule_id in texts:  # other wordings of the same rule are possible
                table[rule_id] = [0.75 if other == rule_id else even for other in texts] + [0.25 - SLIP]
            else:
                table[rule_id] = [even] * len(texts) + [1 - SLIP]
        return [Question(name, "Does the output say something like one of these?", tuple(options), table)]


def information(question: Question, weights: Mapping[str, float]) -> float:
    """Give the expected information of a question, in bits."""
    before = entropy(weights.values())
    after = 0.0
    for index in range(len(question.options)):
        joint = [weight * question.table[rule_id][index] for rule_id, weight in weights.items()]
        total = sum(joint)
        if total > 0:
            after += total * entropy(weight / total for weight in joint)
    return before - after


def _shown(question: Question, weights: Mapping[str, float], gain: float) -> Question:
    """Keep the options that are still possible, the table with them."""
    shares = [sum(weight * question.table[rule_id][index] for rule_id, weight in weights.items()) for index in range(len(question.options))]
    kept = [index for index, option in enumerate(question.options) if shares[index] >= FEW + SLIP / len(shares) or option.key == OTHER]
    options = tuple(Option(question.options[index].key, question.options[index].label, shares[index]) for index in kept)
    table = {rule_id: [row[index] for index in kept] for rule_id, row in question.table.items()}
    return Question(question.id, question.text, options, table, gain)


def _prior(rule: Rule) -> float:
    """Say how likely a rule is before anything was said: more signatures stand for more ways to meet it."""
    return (0.5 if rule.symptom else 1.0) * (1 + math.log(1 + len(rule.signatures))) * (1.0 if rule.severity == "error" else 0.5)


def _normal(weights: Mapping[str, float]) -> dict[str, float]:
    total = sum(weights.values())
    return {key: weight / total for key, weight in weights.items()} if total > 0 else dict.fromkeys(weights, 1 / len(weights))


def _row(keys: Sequence[str], speaking: set[str], silent: Sequence[float]) -> list[float]:
    """Give the probabilities of the options under a rule that some of them speak for; one that none speaks for leaves them as they are."""
    if not speaking:
        return list(silent)
    return [SLIP / len(keys) + (1 - SLIP) * ((key in speaking) / len(speaking)) for key in keys]


def _phase_question(book: Handbook) -> Question:
    keys = [*PHASES, OTHER]
    silent = [1 / len(keys)] * len(keys)
    table = {rule.id: _row(keys, set(rule.phase) & set(PHASES), silent) for rule in book.rules.values()}
    return Question("phase", "When does it fail?", (*[Option(key, label) for key, label in PHASES.items()], Option(OTHER, "something else")), table)


def _family_question(book: Handbook) -> Question:
    keys = [*book.families(), OTHER]
    silent = [1 / len(keys)] * len(keys)
    table = {rule_id: _row(keys, {rule_id.partition(".")[0]}, silent) for rule_id in book.rules}
    labels = {key: FAMILIES.get(key, key) for key in keys}
    return Question("family", "What does it seem to be about?", tuple(Option(key, labels[key] if key != OTHER else "no idea") for key in keys), table)


def _probe_questions(book: Handbook) -> list[Question]:
    """Make a question of every passive probe that needs to be told nothing."""
    from aifix.probes.registry import PROBES

    found: list[Question] = []
    for probe in PROBES:
        uses = {rule.id: use for rule in book.rules.values() for use in rule.probes if use.id == probe.id}
        if probe.active or probe.needs or not uses:
            continue
        table: dict[str, list[float]] = {}
        for rule_id in book.rules:
            confirmed, refuted, nothing = VERDICTS.values()
            if rule_id in uses:
                confirmed, refuted = confirmed * uses[rule_id].confirmed, refuted * uses[rule_id].refuted
                total = confirmed + refuted + nothing
                confirmed, refuted, nothing = confirmed / total, refuted / total, nothing / total
            table[rule_id] = [confirmed, refuted, nothing]
        options = tuple(Option(verdict, verdict, share) for verdict, share in VERDICTS.items())
        found.append(Question(probe.id, probe.question, options, table))
    return found


def _tag_question(book: Handbook, name: str) -> Question:
    text, options = GROUPS[name]
    keys = [*options, OTHER]
    speaking = {
        rule.id: {key for key, (_, tags) in options.items() if set(tags) & set(rule.tags) or key == rule.id.partition(".")[0]}
        for rule in book.rules.values()
    }
    counts = [sum(key in said for said in speaking.values()) for key in options]
    # A rule that says nothing about it is met in any of the settings, as often as the others are; half of the time in none of the named.
    named = [0.5 * count / max(1, sum(counts)) for count in counts]
    silent = [*named, 1 - sum(named)]
    table = {rule_id: _row(keys, said, silent) for rule_id, said in speaking.items()}
    shown = [Option(key, label) for key, (label, _) in options.items()]
    return Question(name, text, (*shown, Option(OTHER, OTHERS.get(name, "none of these"))), table)
