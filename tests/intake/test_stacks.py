"""Where in the user's JavaScript it happened."""

from __future__ import annotations

import pytest

from aifix.intake import document, stacks

CASES = [
    # text, line index of the error, (file, line, function)
    (
        (
            "api-1  | Error: Cannot find module 'express'\n"
            "api-1  | Require stack:\n"
            "api-1  | - /app/src/server.js\n"
            "api-1  |     at Module._resolveFilename (node:internal/modules/cjs/loader:1207:15)\n"
            "api-1  |     at require (node:internal/modules/helpers:182:18)\n"
            "api-1  |     at Object.<anonymous> (/app/src/server.js:3:17)\n"
            "api-1  |     at main (/app/src/later.js:9:1)\n"
        ),
        0,
        ("/app/src/server.js", 3, "Object.<anonymous>"),
    ),
    (
        (
            "D:\\work\\cli\\bin\\report.js:2\nconst paint = require('chalk');\n              ^\n\n"
            "Error [ERR_REQUIRE_ESM]: require() of ES Module not supported.\n"
            "    at Object.<anonymous> (D:\\work\\cli\\bin\\report.js:2:15) {\n  code: 'ERR_REQUIRE_ESM'\n}\n"
        ),
        4,
        ("D:\\work\\cli\\bin\\report.js", 2, "Object.<anonymous>"),
    ),
    (
        (
            "TypeError: _.contains is not a function\n"
            "    at DestroyableTransform._transform (/opt/webui/node_modules/gulp-ng-config/gulp-ng-config.js:83:12)\n"
            "    at emitOne (events.js:77:13)\n"
        ),
        0,
        ("/opt/webui/node_modules/gulp-ng-config/gulp-ng-config.js", 83, "DestroyableTransform._transform"),
    ),
    ("Error: x\n    at file:///home/user/a.mjs:7:3\n", 0, ("/home/user/a.mjs", 7, "")),
    ("Error: x\n    at async run (file:///C:/x/a.mjs:7:3)\n", 0, ("C:/x/a.mjs", 7, "run")),
    (
        "/home/user/a.js:5\nfoo(\n    ^\n\nSyntaxError: missing ) after argument list\n    at internalCompile (node:vm:73:18)\n",
        4,
        ("/home/user/a.js", 5, ""),
    ),
    ("Error: nothing below\n", 0, None),
]


@pytest.mark.parametrize(("text", "at", "expected"), CASES, ids=lambda value: str(value)[:30])
def test_the_innermost_user_frame(text: str, at: int, expected: tuple[str, int, str] | None) -> None:
    place = stacks.location(document.read(text.encode()).lines, at)
    assert (place and (place.file, place.line, place.function)) == expected
