"""From a `defs.yaml` to a `Declaration`, or to an error that names file, line and field of every problem."""

from __future__ import annotations

import difflib
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import cast, get_args

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from linkrag_dagster.declaration.errors import DeclarationError, Problem
from linkrag_dagster.declaration.located import Keys, Located, YamlProblems, read_located
from linkrag_dagster.declaration.model import Declaration
from linkrag_dagster.declaration.places import FILE_NAME, name_problem, root_of, twin_problem

COMPONENT_TYPE = "linkrag_dagster.Corpus"
MAX_BYTES = 1_000_000

# `requirements` and the two after it are Dagster's own; it reads and checks them.
_TOP_LEVEL = ("type", "attributes", "requirements", "post_processing", "template_vars_module")
_EXPECTED = {
    "int_type": "expected a whole number",
    "int_from_float": "expected a whole number",
    "float_type": "expected a number",
    "bool_type": "expected true or false",
    "string_type": "expected a text",
    "tuple_type": 'expected a list, as ["a", "b"]',
    "model_type": "expected a section of keys and values",
    "model_attributes_type": "expected a section of keys and values",
    "dict_type": "expected a section of keys and values",
}


@dataclass(frozen=True, slots=True)
class LoadedDeclaration:
    """A declaration and where it came from.

    Attributes:
        name: the corpus: the name of the declaration's folder.
        path: the file, absolute.
        root: the folder that holds `assets/`, absolute.
        declaration: the settings.
        lines: dotted field → 1-based line, for those that the file gives.
    """

    name: str
    path: Path
    root: Path
    declaration: Declaration
    lines: Mapping[str, int]

    @property
    def source(self) -> Path:
        """The folder of the documents, absolute."""
        return _beside(self.path, self.declaration.source.path)

    @property
    def questions(self) -> tuple[Path, ...]:
        """The files of gold questions, absolute."""
        return tuple(_beside(self.path, name) for name in self.declaration.evaluation.questions)

    def error(self, field: str, message: str) -> DeclarationError:
        """An error at `field` (dotted), for what shows later: a budget that the encoder's window cannot hold."""
        parts = field.split(".")
        known = (".".join(parts[:size]) for size in range(len(parts), 0, -1))
        line = next((self.lines[name] for name in (*known, "attributes") if name in self.lines), 1)
        return DeclarationError([Problem(_label(self.path, self.root), line, field, message)])


def load_declaration(path: Path, *, check_source: bool = True) -> LoadedDeclaration:
    """Reads and checks `path`, a `defs.yaml` or the folder that holds one.

    Args:
        path: the file or its folder.
        check_source: is a source folder or a file of questions that is not there a problem? Searching what is already
            built needs neither.

    Raises:
        DeclarationError: everything that is wrong, with file, line and field.
    """
    path = path.absolute()
    if path.is_dir():
        path = path / FILE_NAME
    root = root_of(path)
    label = _label(path, root)
    text = _read(path, label)
    try:
        located = read_located(text)
    except YamlProblems as error:
        raise DeclarationError(
            Problem(label, line, _dotted(keys), message) for line, keys, message in error.found
        ) from error

    def problem(keys: Keys, message: str) -> Problem:
        return Problem(label, located.line(keys), _dotted(keys), message)

    problems = _envelope(located, problem)
    envelope = _section_of(located.value)
    attributes = None if envelope is None else envelope.get("attributes")
    declaration: Declaration | None = None
    if envelope is not None and (attributes is None or _section_of(attributes) is not None):
        try:
            declaration = Declaration.model_validate(attributes)
        except ValidationError as error:
            problems += [problem(_place(e), _message(e)) for e in error.errors(include_url=False)]
    if check_source:
        problems += _missing_places(attributes, path, problem)
    wrong_name = name_problem(path.parent.name) or twin_problem(path)
    if wrong_name is not None:
        problems.append(Problem(label, None, None, wrong_name))
    if problems or declaration is None:
        raise DeclarationError(problems)
    lines = {_dotted(keys) or "": line for keys, line in located.lines.items() if keys}
    return LoadedDeclaration(path.parent.name, path, root, declaration, lines)


def _read(path: Path, label: str) -> str:
    try:
        if path.stat().st_size > MAX_BYTES:
            raise DeclarationError(
                [Problem(label, None, None, f"larger than {MAX_BYTES} bytes: no declaration")]
            )
        return path.read_bytes().decode("utf-8-sig")
    except FileNotFoundError as error:
        message = "no such file; `linkrag init NAME --source DIR` writes one"
        raise DeclarationError([Problem(label, None, None, message)]) from error
    except OSError as error:
        raise DeclarationError([Problem(label, None, None, f"cannot be read: {error.strerror}")]) from error
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise DeclarationError([Problem(label, line, None, "not UTF-8; save the file as UTF-8")]) from error


def _envelope(located: Located, problem: Callable[[Keys, str], Problem]) -> list[Problem]:
    """What is wrong around the settings: the file's top level."""
    if located.value is None:
        return [problem((), f"empty; write `type: {COMPONENT_TYPE}` and `attributes:` with `source:` in it")]
    value = _section_of(located.value)
    if value is None:
        return [problem((), f"expected the keys type and attributes, got {_shown(located.value)}")]
    found: list[Problem] = []
    for key in value:
        if key not in _TOP_LEVEL:
            hint = f"attributes.{key}" if key in Declaration.model_fields else _nearest(key, _TOP_LEVEL[:2])
            found.append(problem((key,), _unknown(hint)))
    if "type" not in value:
        found.append(problem((), f"type: missing; write `type: {COMPONENT_TYPE}`"))
    elif value["type"] != COMPONENT_TYPE:
        found.append(problem(("type",), f"expected {COMPONENT_TYPE}, got {_shown(value['type'])}"))
    attributes = value.get("attributes")
    if attributes is not None and _section_of(attributes) is None:
        found.append(problem(("attributes",), f"{_EXPECTED['model_type']}, got {_shown(attributes)}"))
    return found


def _missing_places(attributes: object, path: Path, problem: Callable[[Keys, str], Problem]) -> list[Problem]:
    """The source folder and the files of questions, if the file names them properly."""
    found: list[Problem] = []
    source = _inside(attributes, "source", "path")
    if isinstance(source, str) and source:
        folder = _beside(path, source)
        if not folder.is_dir():
            why = "is a file, not a folder" if folder.is_file() else "does not exist"
            message = f"the source folder {folder} {why}; the path is relative to {path.parent}"
            found.append(problem(("attributes", "source", "path"), message))
    questions = _inside(attributes, "evaluation", "questions")
    for index, name in enumerate(cast("list[object]", questions) if isinstance(questions, list) else ()):
        if isinstance(name, str) and name and not _beside(path, name).is_file():
            message = f"the file {_beside(path, name)} does not exist; the path is relative to {path.parent}"
            found.append(problem(("attributes", "evaluation", "questions", index), message))
    return found


def _inside(value: object, *keys: str) -> object:
    for key in keys:
        section = _section_of(value)
        value = None if section is None else section.get(key)
    return value


def _section_of(value: object) -> dict[str, object] | None:
    """`value` as a section, whose keys YAML has made texts; None when it is none."""
    return cast("dict[str, object]", value) if isinstance(value, dict) else None


def _place(error: ErrorDetails) -> Keys:
    """Where it is wrong; a declaration without the section `source` lacks `source.path`, its one required key."""
    loc = ("source", "path") if error["loc"] == ("source",) and error["type"] == "missing" else error["loc"]
    return ("attributes", *loc)


def _message(error: ErrorDetails) -> str:
    """A pydantic error in our words: what is wrong, what was given, what may have been meant."""
    kind, context, given = error["type"], error.get("ctx", {}), error["input"]
    if kind == "missing":
        return "missing; it must be given"
    if kind == "extra_forbidden":
        return _unknown(_meant(error["loc"]))
    if kind in _EXPECTED:
        return f"{_EXPECTED[kind]}, got {_shown(given)}"
    if kind == "literal_error":
        allowed = tuple(str(context["expected"]).replace(" or ", ", ").replace("'", "").split(", "))
        near = _nearest(str(given), allowed)
        hint = f"; did you mean {near}?" if near else ""
        return f"expected {' | '.join(allowed)}, got {_shown(given)}{hint}"
    bounds = {"greater_than_equal": ("ge", "at least"), "less_than_equal": ("le", "at most")}
    if kind in bounds:
        key, words = bounds[kind]
        return f"must be {words} {context[key]}, got {_shown(given)}"
    if kind == "string_too_short":
        return "must not be empty"
    if kind == "finite_number":
        return f"expected a finite number, got {_shown(given)}"
    return error["msg"]


def _meant(loc: tuple[str | int, ...]) -> str | None:
    """The field that an unknown one was probably meant to be: a neighbour by spelling, or one of another section."""
    *section, name = (str(part) for part in loc)
    model: type[BaseModel] = Declaration
    for part in section:
        model = _section(model, part) or model
    near = _nearest(name, tuple(model.model_fields))
    if near:
        return near
    sections = {field: _section(Declaration, field) for field in Declaration.model_fields}
    if section and name in Declaration.model_fields:
        return f"attributes.{name}"
    return next(
        (f"{field}.{name}" for field, inner in sections.items() if inner and name in inner.model_fields), None
    )


def _section(model: type[BaseModel], field: str) -> type[BaseModel] | None:
    if field not in model.model_fields:
        return None
    annotation = model.model_fields[field].annotation
    for candidate in (annotation, *get_args(annotation)):
        if isinstance(candidate, type) and issubclass(candidate, BaseModel):
            return candidate
    return None


def _nearest(name: str, candidates: tuple[str, ...]) -> str | None:
    close = difflib.get_close_matches(name.lower(), candidates, n=1, cutoff=0.6)
    return close[0] if close else None


def _unknown(meant: str | None) -> str:
    return f"unknown field; did you mean {meant}?" if meant else "unknown field"


def _shown(value: object) -> str:
    """A value as its file says it, short."""
    if value is None:
        return "nothing (null)"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict):
        return "a section"
    if isinstance(value, list):
        return "a list"
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:60]}…"


def _dotted(keys: Keys | None) -> str | None:
    """`("attributes", "source", "include", 0)` → `source.include[0]`."""
    if not keys:
        return None
    parts = keys[1:] if keys[0] == "attributes" and len(keys) > 1 else keys
    dotted = ""
    for part in parts:
        dotted += f"[{part}]" if isinstance(part, int) else f".{part}" if dotted else part
    return dotted


def _beside(file: Path, name: str) -> Path:
    # As the system resolves it: behind a link, `..` is not where the letters say.
    return Path(os.path.realpath(file.parent / name))


def _label(path: Path, root: Path) -> str:
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else str(path)
