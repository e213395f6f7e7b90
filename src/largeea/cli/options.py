"""Options that several commands share; `groups.py` has those that are given together."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, get_args

import typer

from largeea import config as configuration
from largeea.config import Part

Preset = Annotated[
    str, typer.Option(help="Settings to start from: " + ", ".join(configuration.PRESETS) + ".")
]
ConfigFile = Annotated[Path | None, typer.Option("--config", help="TOML file with settings.")]
Settings = Annotated[
    list[str] | None, typer.Option("--set", help="One setting, such as names.top_k=20. Repeatable.")
]
Seed = Annotated[int | None, typer.Option(help="Random seed.", min=0)]
Without = Annotated[
    list[str] | None,
    typer.Option(help="Part of the method to switch off: " + ", ".join(get_args(Part)) + ". Repeatable."),
]
Encoder = Annotated[
    str | None, typer.Option(help="Encoder of names: the setting names.encoder.", metavar="NAME")
]
Lexicon = Annotated[
    Path | None,
    typer.Option(
        help="Glossary: two terms with the same meaning on each line, separated by a tab.", metavar="FILE"
    ),
]
Threshold = Annotated[
    float | None,
    typer.Option(
        help="Minimum confidence of an accepted pair; default: chosen by the highest expected F1.",
        min=0,
        max=1,
    ),
]
Prefer = Annotated[
    str | None,
    typer.Option(
        help="Threshold by preference: precision (.9), recall (.2) or balanced (the highest expected F1)."
    ),
]
Cardinality = Annotated[
    str | None,
    typer.Option(
        help="How many counterparts an entity may have: 1:1 (default), n:1 (several sources may have the "
        "same target), 1:n (several targets may have the same source) or n:m (both)."
    ),
]
Predicate = Annotated[
    str | None,
    typer.Option(
        help="Predicate of the links, an IRI or a CURIE such as skos:closeMatch; default: owl:sameAs, "
        "owl:equivalentClass, owl:equivalentProperty or skos:exactMatch, depending on what is linked.",
        metavar="IRI",
    ),
]
RunFolder = Annotated[Path, typer.Option("--output", "-o", help="Run folder; a run in it is continued.")]
LinkFormats = Annotated[
    list[str] | None,
    typer.Option(
        "--write", help="Link format: sssom (default), same-as, alignment-api, tsv, parquet. Repeatable."
    ),
]
Overwrite = Annotated[
    bool, typer.Option("--overwrite", help="Use the folder even if it holds a run on other graphs.")
]
Train = Annotated[float, typer.Option(help="Share of the links used as seeds.", min=0, max=0.99)]
Fold = Annotated[str | None, typer.Option(help="Official split to use instead of --train.")]
Reverse = Annotated[bool, typer.Option("--reverse", help="Swap source and target.")]
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
MaxErrors = Annotated[
    int | None,
    typer.Option(
        help="Number of malformed lines that are left out and listed in rejects.tsv; more are an error. "
        "Default: 1 % of what is read, but at least 100.",
        min=0,
    ),
]
Format = Annotated[
    str | None,
    typer.Option(help="Format of graph files whose names do not show it, such as n-triples or csv."),
]
ColumnMap = Annotated[
    str | None,
    typer.Option(
        "--columns",
        help="What the columns of a table are, such as subject=id,name=label,links=parent,"
        "attributes=city+year; default: guessed.",
    ),
]
SourceColumns = Annotated[str | None, typer.Option(help="Columns of the source table, as for --columns.")]
TargetColumns = Annotated[str | None, typer.Option(help="Columns of the target table, as for --columns.")]
Sheet = Annotated[str | None, typer.Option(help="Sheet of an Excel workbook; default: the first.")]
Labels = Annotated[
    list[str] | None, typer.Option("--label", help="Predicate that gives names. Repeatable, best first.")
]
Languages = Annotated[
    list[str] | None, typer.Option("--language", help="Preferred language of names. Repeatable, best first.")
]
PairLanguage = Annotated[
    str | None,
    typer.Option(help="Which pair to read from a DBP1M folder that has several, such as fr.", metavar="CODE"),
]
Types = Annotated[
    list[str] | None,
    typer.Option(
        help="Match only entities of these types, subclasses included: IRIs or CURIEs, separated by commas.",
        metavar="TYPE[,TYPE]",
    ),
]
Select = Annotated[
    str | None,
    typer.Option(
        help="Match only what this SPARQL query selects (a file, or SELECT ?x WHERE {...}).", metavar="QUERY"
    ),
]
LeaveOut = Annotated[
    Path | None,
    typer.Option(help="File of entities of either graph that are not matched, one a line.", metavar="FILE"),
]
CompatibleTypes = Annotated[
    Path | None,
    typer.Option(
        help="File of types that may be paired: a source type and a target type on each line, separated by a "
        "tab. Entities whose types are all in the file are paired in no other way.",
        metavar="FILE",
    ),
]
BlockBy = Annotated[
    list[str] | None,
    typer.Option(
        help="Pair only entities that share a value of this predicate or column, SOURCE=TARGET if its name "
        "differs. Repeatable.",
        metavar="PREDICATE",
    ),
]
SameIri = Annotated[
    str, typer.Option(help="Whether an IRI that is in both RDF graphs means the same entity: on or off.")
]
License = Annotated[
    str | None,
    typer.Option(help="Licence of the links, for SSSOM files; default: unspecified.", metavar="IRI"),
]
Date = Annotated[
    str | None,
    typer.Option(
        help="Date of the links, for SSSOM files; default: the day on which they were found.",
        metavar="YYYY-MM-DD",
    ),
]
WithDoubtful = Annotated[
    bool,
    typer.Option(
        "--with-doubtful", help="Also write doubtful pairs to SSSOM files, with the predicate rdfs:seeAlso."
    ),
]

Memory = Annotated[
    str | None, typer.Option(help="Host memory limit, such as 12GB; default: 80 % of the machine's memory.")
]
GpuMemory = Annotated[
    str | None, typer.Option(help="GPU memory limit, such as 20GB; default: all of the GPU's memory.")
]
Threads = Annotated[int | None, typer.Option(help="Number of CPU threads; default: all cores.", min=1)]
Device = Annotated[str, typer.Option(help="Device to compute on: auto, cpu, cuda or cuda:N.")]
Engine = Annotated[str, typer.Option(help="Where jobs run: local (this machine) or ray (a cluster).")]
Address = Annotated[
    str | None,
    typer.Option(
        help="Address of the Ray cluster: HOST:PORT, or auto. Default: a running cluster; if there is none, "
        "Ray is started on this machine."
    ),
]
