"""The graph of a crate: files, jobs, commands, software, parameters, people and licences.

Profiles: RO-Crate 1.1 with Process Run, Workflow Run and Provenance Run Crate 0.5 and Workflow
RO-Crate 1.0. A file of the crate is named by its path, a file outside by a local identifier
(``#path``), with its SHA-256.
"""

import hashlib
import json
import mimetypes
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from rocrate.model import ContextEntity, Person
from rocrate.rocrate import ROCrate

from blimpworks.campaign.catalogue import Pinned
from blimpworks.files import sha256_of
from blimpworks.interop.crate.licences import licence_name, licence_url
from blimpworks.interop.crate.select import Trace
from blimpworks.records.reading import Record

PROFILES = {
    "https://w3id.org/ro/wfrun/process/0.5": "Process Run Crate",
    "https://w3id.org/ro/wfrun/workflow/0.5": "Workflow Run Crate",
    "https://w3id.org/ro/wfrun/provenance/0.5": "Provenance Run Crate",
    "https://w3id.org/workflowhub/workflow-ro-crate/1.0": "Workflow RO-Crate",
}
# Of the workflow run terms only this one is used; RO-Crate 1.1 has no checksum.
TERMS = {"sha256": "https://w3id.org/ro/terms/workflow-run#sha256"}
WORKFLOW = "workflow/Snakefile"
MEDIA_TYPES = {
    ".md": "text/markdown",
    ".parquet": "application/vnd.apache.parquet",
    ".tex": "application/x-tex",
    ".tsv": "text/tab-separated-values",
    ".yaml": "application/yaml",
}
AUTHOR = re.compile(r"(?P<name>[^<>]+?)\s*(?:<(?P<id>https://orcid\.org/[\dX-]{19})>)?")
Entity = Any
"""An entity of rocrate, which has no types."""


@dataclass(frozen=True, slots=True)
class About:
    """Facts on the whole crate."""

    title: str
    description: str
    authors: Sequence[str]
    version: str
    campaign: str
    """Path of the campaign file in the crate."""
    citations: Sequence[str] = ()


def media_type(path: Path | str) -> str:
    """Return the media type of a file by its name."""
    suffixes = Path(path).suffixes
    if suffixes[-1:] == [".gz"]:
        return "application/gzip"
    suffix = suffixes[-1] if suffixes else ""
    return MEDIA_TYPES.get(suffix) or mimetypes.guess_type(str(path))[0] or "text/plain"


def _plainly(values: Sequence[Any]) -> Any:
    return values[0] if len(values) == 1 else [*values]


def _short(value: Any) -> str:
    text = json.dumps(value, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()[:12]


class Graph:
    """A crate's entities, added part by part.

    ``places`` maps unchanged files of the results or repository to their paths in the crate;
    ``relative`` removes paths of this machine from a text.
    """

    def __init__(
        self,
        root: Path,
        trace: Trace,
        places: Mapping[Path, Path],
        sources: Mapping[Path, Pinned],
        relative: Callable[[str], str],
    ) -> None:
        self.root, self.trace, self.places, self.sources = root, trace, places, sources
        self.relative = relative
        self.crate = ROCrate(version="1.1")
        self.crate.metadata.extra_terms.update(TERMS)
        self._known: dict[str, Entity] = {}

    def add(self, identifier: str, **properties: Any) -> Entity:
        """Add a contextual entity, once, and return it; ``type`` is its @type."""
        # rocrate's own look-up walks through all entities when it finds none.
        if identifier not in self._known:
            given = {"@type": properties.pop("type"), **properties}
            entity = ContextEntity(self.crate, identifier, properties=given)
            self._known[identifier] = self.crate.add(entity)
        return self._known[identifier]

    def licence(self, name: str) -> Entity:
        """Add a licence, by its SPDX page if it has one."""
        url = licence_url(name)
        identifier = url or f"#licence/{quote(name)}"
        return self.add(identifier, type="CreativeWork", name=name, **({"url": url} if url else {}))

    def author(self, text: str) -> Entity:
        """Add a person, "Name <https://orcid.org/…>", or an organization, "Name"."""
        match = AUTHOR.fullmatch(text)
        assert match is not None
        if match["id"]:
            person = Person(self.crate, match["id"], properties={"name": match["name"]})
            return self.crate.add(person)
        name = match["name"]
        return self.add(f"#author/{quote(name)}", type="Organization", name=name)

    def file(self, place: Path, **properties: Any) -> Entity:
        """Add a file of the crate."""
        path = self.root / place
        return self.crate.add_file(
            dest_path=place,
            properties={
                "name": place.as_posix(),
                "contentSize": str(path.stat().st_size),
                "encodingFormat": media_type(place),
                "sha256": sha256_of(path),
                **properties,
            },
        )

    def original(self, path: Path) -> Entity:
        """Add a file of the trace: the crate's own, else with its SHA-256 alone."""
        if path in self.places:
            return self.crate.get(quote(self.places[path].as_posix()))
        name = self.relative(path.as_posix())
        properties: dict[str, Any] = {
            "name": name,
            "sha256": self.trace.sha256(path),
            "contentSize": str(self.trace.bytes[path]),
            "encodingFormat": media_type(path),
        }
        row = self.sources.get(path)
        if row is not None:
            properties["license"] = self.licence(licence_name(row.licence))
            if row.url:
                properties["url"] = row.url
        return self.add(f"#{quote(name.lstrip('/'))}", type="File", **properties)

    def package(self, name: str, version: str) -> Entity:
        """Add a version of a package, by its page on the Python package index."""
        url = f"https://pypi.org/project/{name}/{version}/"
        if name == "python":
            url = f"https://www.python.org/downloads/release/python-{version.replace('.', '')}/"
        identifier = "#blimpworks" if name == "blimpworks" else url
        package_url = {} if name == "blimpworks" else {"url": url}
        return self.add(
            identifier,
            type="SoftwareApplication",
            name=name,
            softwareVersion=version,
            **package_url,
        )

    def tool(self, record: Record) -> Entity:
        """Add the command of a job, with the digest of its code and its packages."""
        packages = record["packages"]
        which = _short([record["verb"], record["code"], packages])
        return self.add(
            f"#command/{quote(record['verb'])}/{which}",
            type="SoftwareApplication",
            name=f"blimpworks {record['verb']}",
            softwareVersion=f"{packages.get('blimpworks', '')} (code {record['code']})",
            softwareRequirements=[self.package(*pair) for pair in packages.items()],
        )

    def parameter(self, name: str, value: Any) -> Entity:
        """Add a parameter of a job; jobs share equal ones."""
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        text = self.relative(text)
        identifier = f"#parameter/{quote(name)}/{_short(text)}"
        return self.add(identifier, type="PropertyValue", name=name, value=text)

    def job(self, record: Record, agents: Sequence[Entity]) -> Entity:
        """Add a job: its inputs, products, command and times."""
        git, platform = record["git"], record["host"]["platform"]
        state = {True: "", False: " with local changes", None: ""}[git["clean"]]
        first = self.relative(record["outputs"][0]["path"])
        where = f"Commit {git['commit'] or 'unknown'}{state}, on {platform}."
        noted = self.relative(json.dumps(record["notes"], ensure_ascii=False, sort_keys=True))
        params = [self.parameter(*pair) for pair in record["params"].items()]
        inputs = [self.original(Path(entry["path"])) for entry in record["inputs"]]
        return self.add(
            f"#job/{quote(first.lstrip('/'))}",
            type="CreateAction",
            name=f"{record['verb']}: {first}",
            description=f"{where} Noted: {noted}",
            instrument=self.tool(record),
            object=_plainly([*inputs, *params]),
            result=_plainly([self.original(Path(entry["path"])) for entry in record["outputs"]]),
            startTime=record["started"],
            endTime=record["ended"],
            agent=_plainly(agents),
            actionStatus="http://schema.org/CompletedActionStatus",
        )

    def slot(self, name: str, meaning: str, files: Sequence[Entity]) -> Entity:
        """Add an input or output of the workflow, with its files in this run."""
        slot = self.add(
            f"#workflow/{name}",
            type="FormalParameter",
            name=name,
            description=meaning,
            additionalType="File",
            workExample=_plainly(files),
        )
        for file in files:
            file["exampleOfWork"] = slot
        return slot


def add_files(graph: Graph, copied: Mapping[Path, Path]) -> None:
    """Add all files of the crate; ``copied`` maps copies to their originals."""
    changed = {target: original for original, target in graph.places.items()}
    for path in sorted(p for p in graph.root.rglob("*") if p.is_file()):
        target = path.relative_to(graph.root)
        if target.as_posix() == WORKFLOW:
            continue
        properties: dict[str, Any] = {}
        if target.as_posix() == "README.md":
            properties["about"] = graph.crate.root_dataset
        if target in copied:
            properties["isBasedOn"] = graph.original(copied[target])
        elif target in changed:
            properties["alternateName"] = graph.relative(changed[target].as_posix())
        graph.file(target, **properties)


def add_workflow(graph: Graph, about: About, tools: Sequence[Entity]) -> Entity:
    """Add the workflow as the crate's main entity, with the commands as its parts."""
    path = graph.root / WORKFLOW
    return graph.crate.add_workflow(
        dest_path=WORKFLOW,
        main=True,
        lang="snakemake",
        properties={
            "name": "blimpworks",
            "version": about.version,
            "license": graph.licence("Apache-2.0"),
            "contentSize": str(path.stat().st_size),
            "encodingFormat": "text/plain",
            "sha256": sha256_of(path),
            "hasPart": list(tools),
        },
    )


def add_run(graph: Graph, workflow: Entity, about: About, exhibits: Iterable[Path]) -> Entity:
    """Add the run of the workflow: from the campaign file and the sources to the exhibits."""
    trace, crate = graph.trace, graph.crate
    agents = [graph.author(text) for text in about.authors]
    actions = [graph.job(record, agents) for record in trace.jobs()]
    settings = crate.get(quote(about.campaign))
    campaign = graph.slot("campaign", "Settings of the run.", [settings])
    inputs = [
        graph.original(path)
        for path, record in trace.records.items()
        if record is None or record["verb"] == "retrieve"
    ]
    sources = graph.slot("sources", "Data from elsewhere.", inputs)
    results = [crate.get(quote(target.as_posix())) for target in exhibits]
    output = graph.slot("exhibits", "Tables and figures.", results)
    workflow["input"], workflow["output"] = [campaign, sources], output
    run = graph.add(
        "#run",
        type="CreateAction",
        name="The run of the whole workflow",
        description=f"{len(actions)} jobs. Root hash of their records: {trace.root_hash()}.",
        instrument=workflow,
        object=[settings, *inputs],
        result=_plainly(results),
        startTime=min(r["started"] for r in trace.jobs()),
        endTime=max(r["ended"] for r in trace.jobs()),
        agent=_plainly(agents),
        actionStatus="http://schema.org/CompletedActionStatus",
    )
    crate.root_dataset["mentions"] = [run, *actions]
    return run


def add_root(graph: Graph, about: About, licences: Iterable[str]) -> None:
    """Describe the whole crate."""
    root = graph.crate.root_dataset
    authors = [graph.author(text) for text in about.authors]
    root["name"], root["description"] = about.title, about.description
    root["author"] = root["publisher"] = _plainly(authors)
    root["license"] = _plainly([graph.licence(name) for name in licences])
    if about.citations:
        root["citation"] = _plainly([*about.citations])
    # Not today's date: the same results make the same crate.
    root["datePublished"] = max(r["ended"] for r in graph.trace.jobs())[:10]
    root["conformsTo"] = [
        graph.add(url, type="CreativeWork", name=name, version=url.rsplit("/", 1)[1])
        for url, name in PROFILES.items()
    ]


def write_graph(
    graph: Graph,
    about: About,
    copied: Mapping[Path, Path],
    exhibits: Sequence[Path],
    licences: Iterable[str],
) -> int:
    """Write ``ro-crate-metadata.json`` for ``graph.root``; return the number of entities."""
    add_files(graph, copied)
    tools = {tool["@id"]: tool for tool in map(graph.tool, graph.trace.jobs())}
    workflow = add_workflow(graph, about, list(tools.values()))
    add_run(graph, workflow, about, exhibits)
    add_root(graph, about, licences)
    graph.crate.metadata.write(graph.root)
    return len(graph.crate.get_entities())
