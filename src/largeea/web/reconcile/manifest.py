"""The service manifest: what the service offers, and where."""

from __future__ import annotations

from typing import Any

from largeea.version import __version__
from largeea.web.reconcile.answers import Reconciler
from largeea.web.reconcile.preview import HEIGHT, WIDTH
from largeea.web.reconcile.schema import THING

VERSIONS = ["0.1", "0.2"]
DEFAULT_TYPES = 10
"""Types that are proposed to a user: the most frequent ones."""


def manifest(reconciler: Reconciler, name: str, base_url: str, batch_size: int) -> dict[str, Any]:
    """The manifest of a service whose endpoint is `base_url`, without a slash at its end."""
    space = reconciler.facts.space
    page = {"url": f"{base_url}/preview?id={{{{id}}}}"}
    return {
        "versions": VERSIONS,
        "name": name,
        "identifierSpace": space if ":" in space else f"{base_url}/",
        "schemaSpace": THING,
        "serviceVersion": f"largeea {__version__}",
        "defaultTypes": [
            {"id": kind.iri, "name": kind.name} for kind in reconciler.schema.types[:DEFAULT_TYPES]
        ],
        "view": page,
        "preview": {**page, "width": WIDTH, "height": HEIGHT},
        "suggest": {
            kind: {"service_url": base_url, "service_path": f"/suggest/{kind}"}
            for kind in ("entity", "property", "type")
        },
        "extend": {
            "propose_properties": {"service_url": base_url, "service_path": "/properties"},
            "property_settings": [
                {
                    "name": "limit",
                    "label": "Limit",
                    "type": "number",
                    "default": 0,
                    "help_text": "Maximum number of values of an entity; 0 for all.",
                }
            ],
        },
        "batchSize": batch_size,
    }
