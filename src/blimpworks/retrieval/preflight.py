"""Find obstacles to retrieving files and models within seconds, before a run starts.

``campaign_obstacles`` returns sentences that say what is wrong and what to do.

- A file comes from a mirror (a directory with copies), from the address in its row of the catalogue
  (``Pin``), or from further addresses. Its checksum is in the row, or an archive such as Zenodo
  states it.
- A model comes from the Hugging Face hub, or from a cache of the hub's client. A gated model needs
  a token whose owner has accepted the licence. A locked model must still have the commit that the
  lock file records.
"""

import logging
import shutil
import signal
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from itertools import chain
from pathlib import Path
from types import FrameType
from typing import Literal, NamedTuple, cast
from urllib.parse import urljoin

import psutil
from requests.exceptions import ReadTimeout, RequestException

from blimpworks.campaign.addresses import check_address, in_cache, is_on_hub, offline_variable
from blimpworks.campaign.catalogue import hub_address
from blimpworks.campaign.scoring_jobs import CampaignSelection
from blimpworks.campaign.table_files import Locked, locked_models, model_tables
from blimpworks.errors import UserError
from blimpworks.retrieval.download import cause_of, host_of, limit_waits, open_session
from blimpworks.retrieval.sources import Pin, in_mirror

LIMITS = (10.0, 10.0)
"""Longest time in seconds to connect to a host, and to get any answer from it."""
PARALLEL_REQUESTS = 16
"""Number of parallel requests."""


class HubNeed(NamedTuple):
    """A model to retrieve from the hub."""

    hf_id: str
    check_licence: bool
    """Whether to ask the hub if the token's owner has accepted the licence."""
    name: str = ""
    """Name in the table of models."""
    revision: str = "main"
    locked: Locked | None = None
    """Row of the lock file with the commit of the revision, if there is one."""


def _name_files(names: Sequence[str]) -> str:
    return f"{len(names)} files, such as {names[0]}" if len(names) > 1 else names[0]


def unreachable_reason(url: str, limits: tuple[float, float] = LIMITS, *, retries: int = 1) -> str:
    """Return why a host cannot be reached, with the environment's proxies; empty if it can."""
    with open_session(retries) as session:
        try:
            session.head(urljoin(url, "/"), timeout=limits, allow_redirects=False)
        except ReadTimeout:  # it can be reached, but is slow
            return ""
        except RequestException as error:
            return cause_of(error, url)
    return ""


def _unreachable_hosts(urls: Iterable[str]) -> dict[str, str]:
    """Return {unreachable host: reason why it cannot be reached} for the hosts of ``urls``."""
    # Silence urllib3, which would print each attempt: the returned hosts are reported once.
    logging.getLogger("urllib3.connectionpool").setLevel(logging.ERROR)
    url_by_host = {host_of(url): url for url in urls}
    with ThreadPoolExecutor(PARALLEL_REQUESTS) as pool:
        causes = zip(url_by_host, pool.map(unreachable_reason, url_by_host.values()), strict=True)
        return {host: cause for host, cause in causes if cause}


def _host_obstacles(downloads: Iterable[Pin], addresses: Path | None) -> Iterator[str]:
    """Yield, for each unreachable host, how many of its files no reachable host has."""
    allowed = []
    for pin in downloads:
        with suppress(ValueError):  # leave forbidden addresses to the download's message
            check_address(pin.url)
            allowed.append(pin)
    # First ask the hosts in the rows. For files of unreachable hosts, ask those of other addresses.
    causes = _unreachable_hosts(pin.url for pin in allowed)
    unreachable = [pin for pin in allowed if host_of(pin.url) in causes]
    other_urls = {pin: pin.other_addresses(addresses) for pin in unreachable}
    causes |= _unreachable_hosts(chain.from_iterable(other_urls.values()))
    unavailable_files = Counter[str]()
    for pin, urls in other_urls.items():
        if all(host_of(url) in causes for url in urls):
            unavailable_files[host_of(pin.url)] += 1
    for host, count in unavailable_files.items():
        yield f"no connection for {count} files: {causes[host]}; check the network and proxy"


def _download_obstacles(
    pins: Sequence[Pin], mirror: Path | None, addresses: Path | None
) -> Iterator[str]:
    """Yield what prevents the download of files that the mirror lacks, and of archives' checksums.

    Only an archive states the checksum of some files, so that even copies in the mirror need the
    network to be verified.
    """
    variable = offline_variable()
    try:
        absent = [pin for pin in pins if in_mirror(pin, mirror) is None]
        mirrored = [pin for pin in pins if pin not in absent]
        unverifiable = [pin for pin in mirrored if not pin.checksums] if variable else []
    except UserError as error:
        yield str(error).rstrip(".")
        return
    if names := [pin.name for pin in absent if not pin.url]:
        yield f"no address, and in no mirror: {_name_files(names)}; put them into the mirror"
    downloads = [pin for pin in absent if pin.url]
    if unverifiable:
        first, names = unverifiable[0], [pin.name for pin in unverifiable]
        yield (
            f"{variable} forbids the network, and only their archives state the checksums of "
            f"{_name_files(names)}; unset it, or run `blimpworks pin {first.catalogue} "
            f"{first.name} --mirror DIRECTORY`"
        )
    if downloads and variable:
        names = [pin.name for pin in downloads]
        yield f"{variable} forbids the network, and no mirror has {_name_files(names)}; unset it"
    elif downloads:
        yield from _host_obstacles(downloads, addresses)


def _model_obstacle(need: HubNeed) -> str:
    """Return why a model cannot be retrieved; empty if it can.

    The hub may refuse it to the token's owner, or have another commit than the locked one. After a
    temporary error, the result is empty too, because a download tries again.
    """
    from huggingface_hub import HfApi
    from huggingface_hub.errors import GatedRepoError, HfHubHTTPError, RepositoryNotFoundError

    # The hub's client uses requests or httpx, depending on its version. A lost connection is an
    # OSError in requests; in httpx, its class derives from a base of the client's HfHubHTTPError.
    temporary = cast(tuple[type[Exception], ...], (OSError, *HfHubHTTPError.__bases__))
    try:
        if need.check_licence:
            HfApi().auth_check(need.hf_id)
        if need.locked:
            tip = HfApi().model_info(need.hf_id, revision=need.revision).sha
            if tip and tip != need.locked.row.commit:
                return need.locked.moved(tip, need.name)
    except GatedRepoError:
        return f"{need.hf_id}: its licence is not accepted (https://huggingface.co/{need.hf_id})"
    except RepositoryNotFoundError:
        return f"{need.hf_id}: the hub has no such model, or hides it from the token's owner"
    except temporary:
        return ""
    return ""


def _hub_obstacles(needs: Sequence[HubNeed]) -> Iterator[str]:
    """Yield the obstacles to retrieving gated models, and models with locked commits."""
    if not needs or offline_variable():  # offline, models come from a cache
        return
    try:
        from huggingface_hub import constants, get_token
    except ModuleNotFoundError:  # it may be installed in the environment of the jobs
        return
    if cause := unreachable_reason(constants.ENDPOINT):
        yield (
            f"no connection for {len(needs)} models: {cause}; check the network and proxy, or set "
            "HF_HUB_OFFLINE=1 where a cache of the hub's client has them"
        )
        return
    gated = [need.hf_id for need in needs if need.check_licence]
    if gated and get_token() is None:
        yield (
            f"no token of the hub for gated models ({', '.join(gated)}): accept their licences on "
            "https://huggingface.co, and set HF_TOKEN or run `hf auth login`"
        )
        # Without a token, each request about a licence would fail too.
        needs = [need._replace(check_licence=False) for need in needs]
    limit_waits()
    with ThreadPoolExecutor(PARALLEL_REQUESTS) as pool:
        yield from filter(None, pool.map(_model_obstacle, needs))


def obstacles(
    pins: Sequence[Pin],
    models: Sequence[HubNeed],
    mirror: Path | None,
    folder: Path,
    checksums: Literal["any", "sha256"] = "any",
    addresses: Path | None = None,
) -> list[str]:
    """Return the obstacles to retrieving files, and models of the hub, into ``folder``.

    One request goes to each host, and one to the hub for each gated or locked model. ``checksums``:
    "sha256" if each file must have a SHA-256, unless its row says ``sha256_optional``; "any" if
    every checksum suffices. ``addresses``: table of further addresses of files.
    """
    verifiable, without_checksum, problems = list[Pin](), list[Pin](), list[str]()
    for pin in pins:
        any_suffices = checksums == "any" or pin.sha256_optional
        has_checksum = pin.is_pinned if any_suffices else bool(pin.sha256)
        (verifiable if has_checksum else without_checksum).append(pin)
    if without_checksum:
        tables = " and ".join(dict.fromkeys(pin.catalogue for pin in without_checksum))
        names = _name_files([pin.name for pin in without_checksum])
        problems.append(
            f"no checksum: {names}; run `blimpworks pin` on {tables or 'the catalogue'} where "
            "there is a network, or set unpinned: skip in the campaign"
        )
    problems += [*_download_obstacles(verifiable, mirror, addresses), *_hub_obstacles(models)]
    needed = sum(pin.bytes or 0 for pin in verifiable)
    existing = next(path for path in (folder, *folder.absolute().parents) if path.exists())
    free = shutil.disk_usage(existing).free
    if needed > free:
        problems.append(
            f"{folder}: the files take {needed / 1e9:,.1f} GB, {free / 1e9:,.1f} GB are free; "
            "make room, or name another directory as pathvars.resources"
        )
    return problems


def campaign_obstacles(
    selection: CampaignSelection, names: Iterable[str], cache: Path | None
) -> list[str]:
    """Return the obstacles to retrieving ``names``, paths below a campaign's resources.

    ``names``: sources/FILE or models/MODEL/SCOPE/checkpoint.json; SCOPE is the language of the
    checkpoint, or ``multi``. ``cache``: the cluster's shared cache of models of the hub, if any.
    """
    campaign, catalogue = selection.campaign, selection.catalogue
    rows = catalogue.files
    locked_rows = locked_models(model_tables(campaign.catalogue.models))
    pins, needs = list[Pin](), dict[str, HubNeed]()
    for path in names:
        folder, name = path.split("/", 1)
        if folder == "sources":
            table = catalogue.tables.get(name, campaign.catalogue.treebanks)
            pins.append(Pin.of(rows[name], table))
            continue
        model, scope, _ = name.split("/")
        row = catalogue.models[model]
        address = hub_address(row, scope, catalogue)
        locked, cached = locked_rows.get((address, row.revision)), in_cache(cache, address)
        # Ask about a locked model even if it is cached: the hub may now have another commit.
        if is_on_hub(address) and (locked or not cached):
            check_licence = row.gated == "yes" and not cached
            hf_id = address.partition(":")[0]  # without the name of a GGUF file
            needs[address] = HubNeed(hf_id, check_licence, row.name, row.revision, locked)
    resources, checksums = Path(campaign.pathvars.resources), campaign.checksums
    addresses = campaign.catalogue.addresses
    return obstacles(pins, [*needs.values()], campaign.mirror, resources, checksums, addresses)


def refuse_unreachable(selection: CampaignSelection, cache: Path | None) -> None:
    """Raise UserError if files or models that a campaign lacks cannot be retrieved."""
    resources = Path(selection.campaign.pathvars.resources)
    names = [f"sources/{name}" for name in selection.retrieved_files]
    on_hub = [job for job in selection.jobs if selection.catalogue.models[job.model].hf_id]
    names += [f"models/{job.model}/{job.scope}/checkpoint.json" for job in on_hub]
    absent = [name for name in dict.fromkeys(names) if not (resources / name).exists()]
    if lines := campaign_obstacles(selection, absent, cache):
        listed = "\n".join(f"  - {line}" for line in lines)
        raise UserError(
            f"{len(absent)} files and models are to be retrieved, and not all can be:\n{listed}"
        )


DOWNLOAD_COMMANDS = {"retrieve", "retrieve-model"}


def end_downloads_on_signals() -> None:
    """Let SIGINT and SIGTERM to this process also end the downloads among its child processes.

    Snakemake, when it is interrupted, waits for running jobs, which takes minutes if a host does
    not answer. Received bytes stay, and the next run continues the downloads.
    """
    former_handlers = {n: signal.getsignal(n) for n in (signal.SIGINT, signal.SIGTERM)}

    def handle(number: int, frame: FrameType | None) -> None:
        """End the downloads, then call the former handler."""
        try:
            for process in psutil.Process().children(recursive=True):
                with suppress(psutil.Error):  # it has just ended
                    command = process.cmdline()
                    if "blimpworks" in command and DOWNLOAD_COMMANDS & {*command}:
                        process.terminate()
        finally:
            former_handler = former_handlers[signal.Signals(number)]
            if callable(former_handler):
                former_handler(number, frame)

    with suppress(ValueError):  # only the main thread can set handlers; Snakemake may run elsewhere
        for number in former_handlers:
            signal.signal(number, handle)
