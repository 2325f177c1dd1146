"""Find obstacles to retrieving files and models within seconds, before a run starts.

``campaign_obstacles`` returns sentences that say what is wrong and what to do. A pin is the row of
a file in the catalogue; it can have an address and a checksum. A mirror has copies of files.
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
    gated: bool
    """Whether a user must have accepted its licence on the hub."""
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
    # Hosts that cannot be reached are listed: urllib3 must not also print each attempt.
    logging.getLogger("urllib3.connectionpool").setLevel(logging.ERROR)
    url_by_host = {host_of(url): url for url in urls}
    with ThreadPoolExecutor(PARALLEL_REQUESTS) as pool:
        causes = zip(url_by_host, pool.map(unreachable_reason, url_by_host.values()), strict=True)
        return {host: cause for host, cause in causes if cause}


def _host_obstacles(downloads: Iterable[Pin], addresses: Path | None) -> Iterator[str]:
    """Yield unreachable hosts of files that no reachable host has, with the number of files."""
    allowed = []
    for pin in downloads:
        with suppress(ValueError):  # leave forbidden addresses to the download's message
            check_address(pin.url)
            allowed.append(pin)
    # Ask the hosts of the files, then the hosts of further addresses of files on unreachable ones.
    causes = _unreachable_hosts(pin.url for pin in allowed)
    unreachable = [pin for pin in allowed if host_of(pin.url) in causes]
    other_urls = {pin: pin.other_addresses(addresses) for pin in unreachable}
    causes |= _unreachable_hosts(chain.from_iterable(other_urls.values()))
    lost_files = Counter[str]()
    for pin, urls in other_urls.items():
        if all(host_of(url) in causes for url in urls):
            lost_files[host_of(pin.url)] += 1
    for host, count in lost_files.items():
        yield f"no connection for {count} files: {causes[host]}; check the network and proxy"


def _download_obstacles(
    pins: Sequence[Pin], mirror: Path | None, addresses: Path | None
) -> Iterator[str]:
    """Yield the obstacles to downloading the files, and the checksums, that the mirror lacks."""
    variable = offline_variable()
    try:
        absent = [pin for pin in pins if in_mirror(pin, mirror) is None]
        mirrored = [pin for pin in pins if pin not in absent]
        # Files of the mirror that cannot be verified offline: only an archive on the network states
        # their checksum.
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


def _refusal(need: HubNeed) -> str:
    """Return why the hub refuses a model to the token's owner, or that the model has changed.

    Empty if the model can be retrieved, or for a temporary error, because a download tries again.
    """
    from huggingface_hub import HfApi
    from huggingface_hub.errors import GatedRepoError, HfHubHTTPError, RepositoryNotFoundError

    # The hub's client uses requests or httpx; its errors derive from that package's base class.
    temporary = cast(tuple[type[Exception], ...], (OSError, *HfHubHTTPError.__bases__))
    try:
        if need.gated:
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
    gated = [need.hf_id for need in needs if need.gated]
    if gated and get_token() is None:
        yield (
            f"no token of the hub for gated models ({', '.join(gated)}): accept their licences on "
            "https://huggingface.co, and set HF_TOKEN or run `hf auth login`"
        )
        # Without a token, each request about a licence would fail too.
        needs = [need._replace(gated=False) for need in needs]
    limit_waits()
    with ThreadPoolExecutor(PARALLEL_REQUESTS) as pool:
        yield from filter(None, pool.map(_refusal, needs))


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
    accepted kinds of checksums. ``addresses``: table of further addresses of files.
    """
    pinned, unpinned, problems = list[Pin](), list[Pin](), list[str]()
    for pin in pins:
        accepts_any = checksums == "any" or pin.sha256_optional
        if pin.sha256 or (accepts_any and pin.is_pinned):
            pinned.append(pin)
        else:
            unpinned.append(pin)
    if unpinned:
        tables = " and ".join(dict.fromkeys(pin.catalogue for pin in unpinned))
        problems.append(
            f"no checksum: {_name_files([pin.name for pin in unpinned])}; run `blimpworks pin` on "
            f"{tables or 'the catalogue'} where there is a network, or set unpinned: skip in the "
            "campaign"
        )
    problems += [*_download_obstacles(pinned, mirror, addresses), *_hub_obstacles(models)]
    needed = sum(pin.bytes or 0 for pin in pinned)
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

    They are sources/FILE or models/MODEL/SCOPE/checkpoint.json, as ``refuse_unreachable`` makes.
    ``cache``: the cluster's shared cache of models of the hub, if any.
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
        # The hub may have another commit now than a locked one, also for a cached model.
        if is_on_hub(address) and (locked or not cached):
            gated = row.gated == "yes" and not cached
            hf_id = address.partition(":")[0]
            needs[address] = HubNeed(hf_id, gated, row.name, row.revision, locked)
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
