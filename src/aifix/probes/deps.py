"""deps.python: whether the target's packages fit together, and whether the suspected one does."""

from __future__ import annotations

import os
import re
import time
from typing import TYPE_CHECKING, Any

from aifix.probes import packages, symbols
from aifix.probes.finding import Case, Finding, absent, confirmed, refuted, unclear
from aifix.probes.shadow import shadows

if TYPE_CHECKING:
    from aifix.probes.machine import Machine
    from aifix.probes.packages import Installed, Package

SCAN = 0.15
"""Seconds for looking into compiled modules."""
OLD_NUMPY = (b"numpy.core._multiarray_umath", b"numpy.core.multiarray")
NEW_NUMPY = b"numpy._core"


def python(case: Case) -> Finding:
    """Look at the target's packages."""
    machine = case.machine
    installed = packages.of(machine)
    if installed is None:
        return absent(machine.target.how)
    if not installed.interpreter.folders:
        return absent(f"no package folder of {machine.target.python} is found")
    data: dict[str, Any] = {"python": installed.interpreter.version, "packages": len(installed.packages), "interpreter": machine.target.python}
    asked = _asked(case, installed, machine, data)
    if asked is not None:
        return asked
    broken = _broken(machine, installed)
    problems = list(broken)
    problems += [f"{one.name} is installed twice: {installed.packages[one.key].version} and {one.version}" for one in twice(installed)]
    old = machine.once("numpy abi", lambda: old_numpy(installed))
    problems += [f"{name} was compiled for NumPy 1, and NumPy {installed.version('numpy')} is installed ({path})" for name, path in old.items()]
    problems += [f"{path} hides the package {name}" for name, path in shadows(case.machine.cwd, installed).items()]
    foreign = machine.once("torch symbols", lambda: _foreign(installed))
    problems += [
        f"{name} was built for another torch: {path} wants {symbol}, which this one does not have" for name, (path, symbol) in foreign.items()
    ]
    copies = machine.once("cuda copies", lambda: symbols.cuda_copies(installed.interpreter, machine.environ))
    first = [folder for folder in machine.environ.get("LD_LIBRARY_PATH", "").split(os.pathsep) if folder]
    shadowing = {name: paths for name, paths in copies.items() if any(os.path.dirname(path) in first for path in paths)}
    problems += [f"LD_LIBRARY_PATH brings another {name} before the environment's: {', '.join(paths)}" for name, paths in shadowing.items()]
    data |= {"broken": broken, "numpy_abi": old, "other_torch": {name: path for name, (path, _) in foreign.items()}, "cuda_copies": copies}
    if problems and not case.suspicion:
        return confirmed(problems[0] + (f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""), data, problems[1:])
    if problems:
        return unclear(f"what bears on this was not found; {problems[0]}", data, problems[1:])
    summary = f"{len(installed.packages)} packages of Python {installed.interpreter.version} fit together"
    return unclear(summary, data) if case.suspicion else refuted(summary, data)


def _asked(case: Case, installed: Installed, machine: Machine, data: dict[str, Any]) -> Finding | None:
    """Answer for the suspicion at hand; None when it asks for nothing in particular."""
    if case.about("deps.module-missing", "ckpt.missing-class", "deps.setuptools"):
        return _missing(case, installed, data)
    if case.about("deps.numpy-abi"):
        old = machine.once("numpy abi", lambda: old_numpy(installed))
        named = case.text("package", "module")
        hit = {name: path for name, path in old.items() if not named or packages.canonical(named) == name} or old
        data |= {"numpy": installed.version("numpy"), "compiled_for_1": old}
        if hit:
            names = ", ".join(hit)
            return confirmed(
                f"{names} {'was' if len(hit) == 1 else 'were'} compiled for NumPy 1, and NumPy {data['numpy']} is installed", data, list(hit.values())
            )
        return unclear(f"no compiled package for NumPy 1 was found beside NumPy {data['numpy'] or '(none)'}", data)
    if case.about("deps.numpy-alias"):
        version = installed.version("numpy")
        data["numpy"] = version
        if not version:
            return unclear("NumPy is not installed in this interpreter", data)
        if packages.numbers(version) >= (1, 24):
            return confirmed(f"NumPy {version} is installed: np.float and its like are gone since 1.24", data)
        return refuted(f"NumPy {version} still has np.float and its like", data)
    if case.about("deps.shadowed"):
        hidden = shadows(machine.cwd, installed)
        module = case.text("module", "package", "name").split(".")[0]
        path = case.text("path", "file")
        data["shadows"] = hidden
        if module in hidden or (hidden and not module):
            name = module if module in hidden else next(iter(hidden))
            return confirmed(f"{hidden[name]} hides the package {name}", data)
        if path and os.path.exists(path) and "site-packages" not in path:
            return confirmed(f"{path} is still there, in front of the package", data)
        return refuted(f"no file in {machine.cwd} hides {'the package ' + module if module else 'a package'}", data)
    if case.about("host.omp-duplicate"):
        copies = symbols.openmp(installed.interpreter)
        data["openmp"] = copies
        if len(copies) > 1:
            return confirmed(
                f"{len(copies)} OpenMP runtimes are in the environment: {', '.join(os.path.basename(path) for path in copies)}", data, copies
            )
        return unclear(f"{len(copies)} OpenMP runtime is in the environment", data, copies)
    if case.about("cuda.lib-wrong-version", "cuda.cudnn-version"):
        found = symbols.cuda_copies(installed.interpreter, machine.environ)
        data["cuda_copies"] = found
        if found:
            name, paths = next(iter(found.items()))
            return confirmed(f"{name} is there {len(paths)} times: {', '.join(paths)}", data, [path for listed in found.values() for path in listed])
    if case.about("deps.python-syntax", "deps.package-python"):
        return unclear(f"the interpreter is Python {installed.interpreter.version}", data)
    return _versions(case, installed, data)


def _foreign(installed: Installed) -> dict[str, tuple[str, str]]:
    torch = packages.find_module(installed.interpreter, "torch") if installed.version("torch") else ""
    return symbols.unresolved(installed, torch, SCAN) if torch else {}


def _missing(case: Case, installed: Installed, data: dict[str, Any]) -> Finding:
    named = case.text("module", "package", "name")
    modules = [part for part in re.split(r"[,\s]+", named) if re.fullmatch(r"[\w.]+|[\w-]+", part)][:8]
    if not modules:
        return unclear("the log does not name the module", data)
    where = case.machine.target.python
    gone = []
    for module in modules:
        path = packages.find_module(installed.interpreter, module.replace("-", "_")) or _local(case, module)
        known = installed.packages.get(packages.canonical(module))
        if not path and known is None:
            gone.append(module)
        else:
            data.setdefault("found", {})[module] = path or (known.folder if known else "")
    if gone:
        data["missing"] = gone
        top = gone[0].partition(".")[0]
        if "." in gone[0] and packages.find_module(installed.interpreter, top):
            version = installed.version(top)
            return confirmed(f"{top}{' ' + version if version else ''} is installed in {where}, and has no {gone[0]}", data)
        return confirmed(f"{', '.join(gone)} {'is' if len(gone) == 1 else 'are'} not installed in {where}", data)
    version = installed.version(modules[0])
    own = case.machine.target.pid is not None  # the very interpreter of the run
    why = (
        "its search path did not lead there, or it was installed since"
        if own
        else "the failed run used another interpreter, or it was installed since"
    )
    return refuted(f"{modules[0]}{' ' + version if version else ''} is installed in {where}: {why}", data)


def _local(case: Case, module: str) -> str:
    """Give the path of a module that lies in the working folder."""
    return packages.module_in(str(case.machine.cwd), module.split(".")) if re.fullmatch(r"[\w.]+", module) else ""


def _versions(case: Case, installed: Installed, data: dict[str, Any]) -> Finding | None:
    """Compare what the log says of a package with what is installed."""
    names = [case.text(name) for name in ("package", "dependency", "library", "requirer", "other", "module", "name", "consumer")]
    known = [package for name in names if name and (package := installed.packages.get(packages.canonical(name.split(".")[0])))]
    if not known and not case.about("deps.required-version", "deps.pip-conflict"):
        return None
    broken = _broken(case.machine, installed)
    if case.about("deps.required-version", "deps.pip-conflict"):
        mine = [text for text in broken if any(package.key in packages.canonical(text) for package in known)] or ([] if known else broken)
        if mine:
            return confirmed(mine[0], data | {"broken": mine}, mine[1:])
        if known:
            versions = ", ".join(f"{package.name} {package.version}" for package in known)
            return refuted(f"here {versions} fit each other: the failed run used another environment, or it was repaired since", data)
        return None
    if known:
        versions = ", ".join(dict.fromkeys(f"{package.name} {package.version}" for package in known))
        data["versions"] = {package.key: package.version for package in known}
        return unclear(
            f"installed here: {versions}", data, [text for text in broken if any(package.key in packages.canonical(text) for package in known)]
        )
    return None


def _broken(machine: Machine, installed: Installed) -> list[str]:
    return machine.once("broken requirements", lambda: broken_requirements(installed))


def broken_requirements(installed: Installed) -> list[str]:
    """Name the requirements that do not hold, as `pip check` does."""
    from packaging.markers import UndefinedComparison, UndefinedEnvironmentName
    from packaging.requirements import InvalidRequirement, Requirement
    from packaging.specifiers import InvalidSpecifier, SpecifierSet
    from packaging.version import InvalidVersion

    version = installed.interpreter.version
    environment = {"python_version": version, "python_full_version": f"{version}.0", "extra": ""} if version else {"extra": ""}
    found: list[str] = []
    for package in installed.packages.values():
        if package.python and version:
            try:
                fits = SpecifierSet(package.python).contains(f"{version}.99", prereleases=True)
            except InvalidSpecifier:
                fits = True
            if not fits:
                found.append(f"{package.name} {package.version} wants Python {package.python}, and this is {version}")
        for text in package.requires:
            if "extra ==" in text or "extra==" in text:
                continue
            try:
                requirement = Requirement(text)
                if requirement.marker is not None and not requirement.marker.evaluate(environment):
                    continue
                other = installed.packages.get(packages.canonical(requirement.name))
                if other is None:
                    found.append(f"{package.name} {package.version} requires {requirement.name}, which is not installed")
                elif not requirement.specifier.contains(other.version, prereleases=True):
                    found.append(
                        f"{package.name} {package.version} requires {requirement.name}{requirement.specifier}, and {other.version} is installed"
                    )
            except (InvalidRequirement, InvalidVersion, UndefinedComparison, UndefinedEnvironmentName):
                continue
    return found


def twice(installed: Installed) -> list[Package]:
    """Name the packages of which one folder holds two versions: an upgrade that went wrong."""
    return [
        one for one in installed.hidden if one.folder == installed.packages[one.key].folder and one.version != installed.packages[one.key].version
    ]


def old_numpy(installed: Installed) -> dict[str, str]:
    """Name the packages with modules compiled for NumPy 1 where NumPy 2 is installed, each with one such module.

    Every compiled user of NumPy's C interface holds the name of the module that it imports; NumPy 2's headers name the new one.
    """
    if packages.numbers(installed.version("numpy")) < (2,):
        return {}
    deadline = time.monotonic() + SCAN
    users = [one for one in installed.packages.values() if one.key != "numpy" and any(re.match(r"(?i)numpy\b", text) for text in one.requires)]
    found: dict[str, str] = {}
    for package in sorted(users, key=lambda one: one.name):
        for path in packages.compiled(package):
            if time.monotonic() > deadline:
                return found
            if _is_old(path):
                found[package.key] = path
                break
    return found


def _is_old(path: str) -> bool:
    try:
        with open(path, "rb") as stream:
            data = stream.read(packages.LARGE)
    except OSError:
        return False
    return any(name in data for name in OLD_NUMPY) and NEW_NUMPY not in data
