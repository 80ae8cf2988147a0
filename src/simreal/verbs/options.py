"""Options that several verbs have."""

from __future__ import annotations

from typing import Annotated

import tyro

#: `--json`: print one JSON object and nothing else.
Json = Annotated[bool, tyro.conf.arg(name="json")]
