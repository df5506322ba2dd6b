"""A specimen: a folder with the smallest program that really fails so, and its fixed versions. Read, checked, and nothing run."""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import msgspec

from aifix.rulebase.source import Problem, RuleError, load_yaml, position

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

FORM = "specimen.yaml"
FAIL = "fail"
FIXED = "fixed-"
SUFFIXES = (".py", ".sh", ".c", ".cpp", ".go", ".js", ".mjs", ".cu")
WARMABLE = ("torch", "torchvision", "transformers", "accelerate", "peft", "lightning")
"""Modules that a warm process imports before it forks: their import takes seconds and starts no threads that a child would miss."""
FOLDER = re.compile(r"^(?P<id>[a-z][a-z0-9]*\.[a-z0-9][a-z0-9-]*)(?:\+(?P<variant>[a-z0-9-]+))?$")
PROGRAMS = {".sh": ("bash",), ".c": ("gcc",), ".cpp": ("g++",), ".go": ("go",), ".js": ("node",), ".mjs": ("node",), ".cu": ("nvcc",)}

Stands = Literal["first", "consequence", "hint"]


class FixForm(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """How a fix is proven beyond its file: by settings, another command line, or another expected end."""

    env: dict[str, str] = {}
    command: str = ""
    status: int = 0
    says: str = ""


class Form(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """`specimen.yaml`: what the files' names and imports do not tell. All of it is optional."""

    command: str = ""
    """Shell line in place of the usual way to run the program; `python` and `torchrun` in it are the target's."""
    ranks: Annotated[int, msgspec.Meta(ge=0, le=8)] = 0
    """Run by torchrun, with so many processes."""
    env: dict[str, str] = {}
    modules: list[str] = []
    """Requirements such as `torch>=2.1`; names are import names. Added to what the Python files import."""
    absent: list[str] = []
    """Modules that must not be installed (and that imports may name without being a need)."""
    programs: list[str] = []
    python: str = ""
    """Versions of Python, as `>=3.10`."""
    system: Literal["", "linux", "darwin", "win32"] = ""
    build: Literal["", "cpu", "cuda"] = ""
    """Which build of torch it takes."""
    root: bool = False
    requires: str = ""
    """Shell line that succeeds where the machine allows what the specimen does, such as `unshare -rm true`."""
    gpu: bool = False
    network: bool = False
    warm: bool | None = None
    """Whether it may run in a fork of a process that has imported torch; by default a lone Python program without `env` does."""
    slow: bool | None = None
    """Left to CI; by default what starts torch anew."""
    limit: Annotated[float, msgspec.Meta(gt=0, le=600)] = 60.0
    """Seconds for each of its runs."""
    status: int | None = None
    """Exit status of the failing run (128+n for signal n); any but 0 by default."""
    stands: Stands = "first"
    """Where the diagnosis stands in the report: the first root cause, a consequence of another one, or a hint (in a run that ends well)."""
    facts: dict[str, str | int | float] = {}
    """Facts that must come out, as printed."""
    says: str = ""
    """Text that every fixed run prints."""
    apply: list[str] = []
    """Fixes that `aifix fix --apply` makes on a copy."""
    fixes: dict[str, FixForm] = {}
    unproven: dict[str, str] = {}
    """Fixes that cannot be proven by running them here, each with why."""


class Proof(msgspec.Struct, frozen=True):
    """A claim that one fix ends the failure, and how it is put to the test."""

    fix: str
    how: Literal["file", "folder", "apply", "settings"]
    path: Path | None = None
    form: FixForm = FixForm()


class Specimen(msgspec.Struct, frozen=True):
    """A specimen as it is run."""

    name: str
    """The folder's name: the id, and a variant after a `+` where an id has several specimens."""
    id: str
    folder: Path
    program: str
    """Name of the failing program in the folder; empty where `command` alone tells."""
    form: Form
    modules: tuple[str, ...]
    """Requirements on modules of the target interpreter."""
    programs: tuple[str, ...]
    proofs: tuple[Proof, ...]

    @property
    def warm(self) -> bool:
        """Whether it may share a warm process."""
        if self.form.warm is not None:
            return self.form.warm
        return self.program.endswith(".py") and not (self.form.command or self.form.ranks or self.form.env) and bool(self.preload)

    @property
    def preload(self) -> tuple[str, ...]:
        """Give the modules that its warm process has imported."""
        named = {requirement_name(one) for one in self.modules}
        return tuple(name for name in WARMABLE if name in named)

    @property
    def slow(self) -> bool:
        """Whether it is left to CI."""
        if self.form.slow is not None:
            return self.form.slow
        return not self.warm and bool(self.preload)


class SpecimenError(ValueError):
    """A specimen folder cannot be used; the text says which file, where and why."""


class UnknownSpecimenError(LookupError):
    """No specimen has that name."""


def requirement_name(text: str) -> str:
    """Give the module that a requirement such as `torch>=2.1` names."""
    return re.split(r"[^\w.]", text, maxsplit=1)[0]


def find_folder(start: Path | None = None) -> Path | None:
    """Find `tests/specimens` in a folder or in those above it."""
    here = (start or Path.cwd()).resolve()
    return next((one / "tests" / "specimens" for one in (here, *here.parents) if (one / "tests" / "specimens").is_dir()), None)


def load_chosen(folder: Path, names: Iterable[str] = ()) -> list[Specimen]:
    """Read specimens by id, by folder name or by family (`tensor`, `tensor.*`); all of them without a name.

    Raises:
        UnknownSpecimenError: nothing is called so.
        SpecimenError: one of the chosen cannot be used.

    """
    folders = [one for one in sorted(folder.iterdir()) if one.is_dir() and not one.name.startswith((".", "_"))]
    chosen: dict[str, Path] = {}
    asked = False
    for name in names:
        asked = True
        found = [one for one in folders if _answers_to(one.name, name)]
        if not found:
            raise UnknownSpecimenError(name)
        chosen.update({one.name: one for one in found})
    return [load(one) for one in (chosen.values() if asked else folders)]


def _answers_to(folder: str, name: str) -> bool:
    own_id = folder.partition("+")[0]
    return name in {folder, own_id} or name.removesuffix("*").removesuffix(".") == own_id.partition(".")[0]


def load(folder: Path) -> Specimen:
    """Read one specimen folder.

    Raises:
        SpecimenError: its name, its `specimen.yaml` or its files are not as they must be.

    """
    named = FOLDER.match(folder.name)
    if named is None:
        raise SpecimenError(f"{folder}: a specimen's folder is called as its diagnosis, `family.name`, or `family.name+variant`")
    path = folder / FORM
    text = path.read_text("utf-8") if path.is_file() else ""
    form = _form(text, path)
    files = sorted(one for one in folder.iterdir() if one.name != "__pycache__")
    failing = [one.name for one in files if one.stem == FAIL and one.suffix in SUFFIXES]
    if len(failing) > 1:
        raise SpecimenError(f"{folder}: it has {' and '.join(failing)}, and one program must fail")
    if not failing and not form.command:
        raise SpecimenError(f"{folder}: it has neither fail.py (or {', '.join(SUFFIXES[1:])}) nor a `command` in {FORM}")
    program = failing[0] if failing else ""
    missing = {requirement_name(one) for one in form.absent}
    needs = {name: name for name in sorted(_imports(folder)) if name not in missing}
    if form.ranks:
        needs.setdefault("torch", "torch")
    needs.update({requirement_name(one): one for one in form.modules})
    _versions(form, text, path)
    programs = {*form.programs, *PROGRAMS.get(Path(program).suffix, ()), *(("bash",) if form.command else ())}
    return Specimen(
        folder.name, named["id"], folder, program, form, tuple(needs.values()), tuple(sorted(programs)), tuple(_proofs(files, form, text, path))
    )


def _form(text: str, path: Path) -> Form:
    try:
        data = load_yaml(text, str(path)) if text.strip() else {}
        return msgspec.convert(data or {}, Form)
    except RuleError as error:
        raise SpecimenError(str(error)) from error
    except msgspec.ValidationError as error:
        message, _, where = str(error).partition(" - at `")
        unknown = re.search(r"unknown field `(\w+)`", message)
        raise SpecimenError(_at(text, path, f"$.{unknown[1]}" if unknown and not where else where.rstrip("`") or "$", message)) from error


def _at(text: str, path: Path, where: str, message: str) -> str:
    line, column = position(text, where)
    return str(Problem(str(path), line or 1, column or 1, message))


def _versions(form: Form, text: str, path: Path) -> None:
    from packaging.requirements import InvalidRequirement, Requirement
    from packaging.specifiers import InvalidSpecifier, SpecifierSet

    for index, one in enumerate(form.modules):
        try:
            Requirement(one)
        except InvalidRequirement as error:
            raise SpecimenError(_at(text, path, f"$.modules[{index}]", f"{one!r} is no requirement: {error}")) from error
    try:
        SpecifierSet(form.python)
    except InvalidSpecifier as error:
        raise SpecimenError(_at(text, path, "$.python", str(error))) from error


def _proofs(files: Sequence[Path], form: Form, text: str, path: Path) -> Iterator[Proof]:
    given: dict[str, Proof] = {}
    for file in files:
        if file.name.startswith(FIXED):
            fix = file.name.removeprefix(FIXED) if file.is_dir() else file.stem.removeprefix(FIXED)
            given[fix] = Proof(fix, "folder" if file.is_dir() else "file", file, form.fixes.get(fix, FixForm()))
    for index, fix in enumerate(form.apply):
        if fix in given:
            raise SpecimenError(_at(text, path, f"$.apply[{index}]", f"{fix} has a file as well; one proof is enough"))
        given[fix] = Proof(fix, "apply", None, form.fixes.get(fix, FixForm()))
    for fix, one in form.fixes.items():
        if fix not in given:
            if not (one.env or one.command):
                raise SpecimenError(
                    _at(text, path, f"$.fixes.{fix}", f"{fix} has neither a file {FIXED}{fix}.*, nor `env` or `command`, nor stands in `apply`")
                )
            given[fix] = Proof(fix, "settings", None, one)
    for fix in form.unproven:
        if fix in given:
            raise SpecimenError(_at(text, path, f"$.unproven.{fix}", f"{fix} is called unproven, and has a proof"))
    yield from given.values()


def _imports(folder: Path) -> set[str]:
    """Give the modules that the folder's Python files import outside of `try`, without the standard library and files of its own."""
    own = {one.stem for one in folder.rglob("*.py")} | {one.name for one in folder.iterdir() if one.is_dir()}
    found: set[str] = set()
    for file in sorted(folder.rglob("*.py")):
        try:
            tree = ast.parse(file.read_bytes())
        except (SyntaxError, ValueError):
            continue  # a program that fails so
        waiting: list[ast.AST] = [tree]
        while waiting:
            node = waiting.pop()
            if isinstance(node, ast.Import):
                found |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and not node.level:
                found.add((node.module or "").partition(".")[0])
            elif not isinstance(node, ast.Try):
                waiting.extend(ast.iter_child_nodes(node))
    return found - own - set(sys.stdlib_module_names) - {"", "__main__"}
