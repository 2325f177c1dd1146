"""Start a real SLURM on this machine: one controller, five virtual nodes, two types of fake GPUs.

All its files are in one private directory, and it stops on exit. It needs root and Debian's
packages slurmctld, slurmd, slurm-client and munge; for accounting, slurmdbd and mariadb-server.
"""

import contextlib
import fcntl
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from pathlib import Path

import psutil

PROGRAMS = ("munged", "slurmctld", "slurmd", "squeue", "srun")
PROGRAMS += ("slurmdbd", "mariadbd", "mariadb-install-db")
PACKAGES = "slurmctld slurmd slurm-client munge slurmdbd mariadb-server"
GPUS = {"gpu1": ("a100", 4), "gpu2": ("a100", 4), "gpuh1": ("h100", 2)}
NODES = ("cpu1", "cpu2", *GPUS)
ACCOUNT = "research"
# The executor's job step drops SLURM_CONF, so srun reads this file.
SYSTEM = Path("/etc/slurm/slurm.conf")
# Every process of a cluster's jobs has this variable, so that the cluster can end them all.
MARK = "BLIMPWORKS_TEST_CLUSTER"

CONFIGURATION = """\
ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={here}/munge/socket
CredType=cred/munge
SlurmctldPort={controller_port}
StateSaveLocation={here}/state
SlurmdSpoolDir={here}/spool/%n
SlurmctldPidFile={here}/run/slurmctld.pid
SlurmdPidFile={here}/run/slurmd-%n.pid
DebugFlags=NO_CONF_HASH
ProctrackType=proctrack/{tracking}
TaskPlugin=task/{task}
JobAcctGatherType=jobacct_gather/linux
JobAcctGatherFrequency=task=2
JobAcctGatherParams={gather}
SwitchType=switch/none
MpiDefault=none
SchedulerType=sched/backfill
SchedulerParameters=batch_sched_delay=0,sched_interval=2,sched_min_interval=0,bf_interval=2
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU_Memory
SlurmdParameters=config_overrides
GresTypes=gpu
MinJobAge=600
ReturnToService=2
SlurmctldTimeout=30
SlurmdTimeout=20
KillWait=5
JobRequeue=0
RequeueExit=
AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageHost=127.0.0.1
AccountingStoragePort={database_port}
AccountingStoragePass={here}/munge/socket
AccountingStorageTRES=gres/gpu
NodeName=DEFAULT CPUs=32
{nodes}
PartitionName=DEFAULT DefaultTime=60 DefMemPerCPU=1000 State=UP
PartitionName=cpu Nodes=cpu1,cpu2 Default=YES MaxTime=1-00:00:00
PartitionName=gpu Nodes=gpu1,gpu2,gpuh1 MaxTime=2-00:00:00
"""
DATABASE_CONFIGURATION = """\
AuthType=auth/munge
AuthInfo=socket={here}/munge/socket
DbdHost={host}
DbdAddr=127.0.0.1
DbdPort={database_port}
SlurmUser=root
PidFile={here}/run/slurmdbd.pid
StorageType=accounting_storage/mysql
StorageHost=localhost
StorageUser=root
StorageLoc=slurm
"""
CGROUPS = """\
CgroupPlugin=cgroup/v1
CgroupMountpoint={cgroups}
CgroupAutomount=no
ConstrainRAMSpace=yes
ConstrainSwapSpace=no
ConstrainCores=no
ConstrainDevices=no
"""


def unusable() -> str:
    """Return the reason why no cluster can be started here, or ""."""
    if os.geteuid() != 0:
        return "starting SLURM's daemons needs root"
    missing = [name for name in PROGRAMS if shutil.which(name) is None]
    if missing:
        return f"no {', '.join(missing)}: apt-get install {PACKAGES}"
    if SYSTEM.exists() and not SYSTEM.is_symlink():
        return f"this machine belongs to a cluster: {SYSTEM} exists"
    return ""


def free_ports(count: int) -> list[int]:
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]


def kill(numbers: list[int]) -> None:
    """Stop all processes, then kill them, so that none sees and reports another's end."""
    for sign in (signal.SIGSTOP, signal.SIGKILL):
        for number in numbers:
            with contextlib.suppress(ProcessLookupError):
                os.kill(number, sign)


class Cluster:
    """A SLURM cluster, from ``with Cluster() as cluster`` until its end.

    ``memory`` is how SLURM stops a job that exceeds its memory: ``cgroup``, as on most clusters, or
    ``polling`` on machines without memory cgroups.
    """

    def __init__(self):
        self.memory = "polling"
        self._daemons: dict[str, subprocess.Popen[bytes]] = {}
        self._undo = contextlib.ExitStack()

    def __enter__(self) -> "Cluster":
        # Names of sockets must be short.
        self.here = Path(tempfile.mkdtemp(prefix="slurm-", dir="/tmp"))
        self._undo.callback(shutil.rmtree, self.here, ignore_errors=True)
        try:
            self._one_at_a_time()
            self._undo.callback(self._stop)
            self._configure()
            self._start_munge()
            self._start_database()
            self.start_accounting()
            self.start_controller()
            for node in NODES:
                self.start_node(node)
            self.wait_for(lambda: {*self.nodes().values()} == {"idle"}, 60, "nodes are idle")
        except BaseException:
            self._undo.close()
            raise
        return self

    def __exit__(self, *error: object) -> None:
        self._undo.close()

    def _one_at_a_time(self) -> None:
        """Wait for another cluster on this machine to end, as both need the same link."""
        lock = os.open("/tmp/blimpworks-slurm.lock", os.O_CREAT | os.O_RDWR)
        self._undo.callback(os.close, lock)
        fcntl.flock(lock, fcntl.LOCK_EX)
        SYSTEM.parent.mkdir(parents=True, exist_ok=True)
        SYSTEM.unlink(missing_ok=True)
        SYSTEM.symlink_to(self.here / "slurm.conf")
        self._undo.callback(SYSTEM.unlink)

    def _configure(self) -> None:
        for name in ("munge", "state", "spool", "run", "log", "dev", "data"):
            (self.here / name).mkdir(mode=0o755)
        self.here.chmod(0o755)
        controller, database, *ports = free_ports(2 + len(NODES))
        cgroups = self._cgroups()
        self.memory = "cgroup" if cgroups else "polling"
        names = {"host": socket.gethostname().split(".")[0], "here": self.here}
        names |= {"controller_port": controller, "database_port": database}
        nodes, gres = self._nodes(names["host"], ports)
        ways = ("cgroup", "cgroup", "") if cgroups else ("linuxproc", "none", "OverMemoryKill")
        names |= dict(zip(("tracking", "task", "gather"), ways, strict=True))
        text = CONFIGURATION.format(**names, nodes="\n".join(nodes))
        lines = [line for line in text.splitlines() if not line.endswith("=")]
        (self.here / "slurm.conf").write_text("\n".join(lines) + "\n")
        (self.here / "gres.conf").write_text("\n".join(gres) + "\n")
        if cgroups:
            (self.here / "cgroup.conf").write_text(CGROUPS.format(cgroups=cgroups))
        database_file = self.here / "slurmdbd.conf"
        database_file.write_text(DATABASE_CONFIGURATION.format(**names))
        database_file.chmod(0o600)

    def _nodes(self, host: str, ports: list[int]) -> tuple[list[str], list[str]]:
        """Return lines that describe the nodes and their GPUs, which are links to /dev/null."""
        nodes, gres = [], ["AutoDetect=off"]
        for number in range(max(count for _, count in GPUS.values())):
            (self.here / f"dev/nvidia{number}").symlink_to("/dev/null")
        for node, port in zip(NODES, ports, strict=True):
            line = f"NodeName={node} NodeAddr=127.0.0.1 NodeHostname={host} Port={port} "
            if node in GPUS:
                kind, count = GPUS[node]
                files = f"{self.here}/dev/nvidia[0-{count - 1}]"
                gres.append(f"NodeName={node} Name=gpu Type={kind} File={files}")
                line += f"RealMemory=256000 Gres=gpu:{kind}:{count} Feature=gpu,{kind}"
            else:
                line += "RealMemory=128000 Feature=cpu"
            nodes.append(line)
        return nodes, gres

    def _cgroups(self) -> Path | None:
        """Return the folder of version 1 control groups, mounted here if need be, or None."""
        system = Path("/sys/fs/cgroup")
        controllers = ("freezer", "memory")
        if all((system / name / "tasks").exists() for name in controllers):
            with contextlib.suppress(OSError):
                (system / "memory" / self.here.name).mkdir()
                (system / "memory" / self.here.name).rmdir()
                return system
            return None
        own = self.here / "cgroup"
        for name in controllers:
            (own / name).mkdir(parents=True)
            mount = ["mount", "-t", "cgroup", "-o", name, "cgroup", str(own / name)]
            if subprocess.run(mount, capture_output=True, check=False).returncode:
                return None
            self._undo.callback(subprocess.run, ["umount", str(own / name)], check=False)
        return own

    def _daemon(self, name: str, *command: str, **environment: str) -> None:
        log = (self.here / "log" / f"{name}.log").open("ab")
        env = {**os.environ, "SLURM_CONF": str(self.here / "slurm.conf"), **environment}
        env[MARK] = str(self.here)
        # A separate session: an interrupt of the tests stops the cluster in order.
        self._daemons[name] = subprocess.Popen(
            command, stdout=log, stderr=log, env=env, start_new_session=True
        )
        log.close()

    def _end(self, name: str, how: int = signal.SIGTERM) -> None:
        daemon = self._daemons.pop(name, None)
        if daemon is None:
            return
        daemon.send_signal(how)
        try:
            daemon.wait(10)
        except subprocess.TimeoutExpired:
            daemon.kill()
            daemon.wait()

    def _start_munge(self) -> None:
        here = self.here / "munge"
        (here / "key").write_bytes(os.urandom(128))
        (here / "key").chmod(0o600)
        files = [f"--key-file={here}/key", f"--socket={here}/socket", f"--pid-file={here}/pid"]
        files += [f"--log-file={here}/log", f"--seed-file={here}/seed"]
        self._daemon("munged", "munged", "--foreground", "--num-threads=4", *files)
        self.wait_for((here / "socket").exists, 20, "munge")

    def _start_database(self) -> None:
        data, path = self.here / "data", self.here / "run/mariadb"
        make = ["mariadb-install-db", "--no-defaults", "--user=root", f"--datadir={data}"]
        make += ["--auth-root-authentication-method=socket", "--skip-test-db"]
        with (self.here / "log/install-db.log").open("wb") as log:
            subprocess.run(make, stdout=log, stderr=log, check=True)
        command = ["mariadbd", "--no-defaults", "--user=root", f"--datadir={data}"]
        command += [f"--socket={path}", "--skip-networking", "--innodb-buffer-pool-size=64M"]
        self._daemon("mariadbd", *command)
        self.wait_for(path.exists, 30, "the database")

    def _stop(self) -> None:
        with contextlib.suppress(subprocess.SubprocessError):
            self.command("scancel", "--user=root", "--full", timeout=5)
        self._kill_jobs()
        for name in [*reversed(self._daemons)]:
            self._end(name)
        self._kill_jobs()
        for root in (Path("/sys/fs/cgroup"), self.here / "cgroup"):
            left = [d for node in NODES for d in root.glob(f"*/slurm_{node}/**/")]
            for directory in sorted(left, key=lambda path: -len(path.parts)):
                with contextlib.suppress(OSError):
                    directory.rmdir()

    def _kill_jobs(self, node: str = "") -> None:
        # Others may start meanwhile, so repeat until none is left.
        for _ in range(50):
            if not (processes := self.processes(node)):
                return
            kill(processes)
            time.sleep(0.02)

    def start_node(self, name: str) -> None:
        self._daemon(f"slurmd-{name}", "slurmd", "-D", "-N", name)

    def kill_node(self, name: str) -> None:
        """Cut a node's power and tell the controller, which would notice after half a minute."""
        self._end(f"slurmd-{name}", signal.SIGKILL)
        self._kill_jobs(name)
        self.command("scontrol", "update", f"nodename={name}", "state=down", "reason=test")

    def repair_node(self, name: str) -> None:
        """Switch on a node that was down, and wait until it takes jobs."""
        self.start_node(name)
        update = ["scontrol", "update", f"nodename={name}", "state=resume"]

        def idle() -> bool:
            with contextlib.suppress(subprocess.CalledProcessError):
                self.command(*update)
            return self.nodes().get(name) in ("idle", "mixed")

        if self.nodes().get(name) != "idle":
            self.wait_for(idle, 60, f"{name} is back")

    def stop_controller(self) -> None:
        self._end("slurmctld")

    def start_controller(self) -> None:
        self._daemon("slurmctld", "slurmctld", "-D")
        self.wait_for(lambda: not self.tried("scontrol", "ping").returncode, 30, "slurmctld")

    def stop_accounting(self) -> None:
        self._end("slurmdbd")

    def start_accounting(self) -> None:
        self._daemon("slurmdbd", "slurmdbd", "-D", MYSQL_UNIX_PORT=str(self.here / "run/mariadb"))
        self.wait_for(
            lambda: not self.tried("sacctmgr", "-n", "show", "cluster").returncode, 60, "slurmdbd"
        )
        if ACCOUNT not in self.command("sacctmgr", "-nP", "show", "account", "format=account"):
            for entry in (["cluster", "test"], ["account", ACCOUNT], ["user", "root"]):
                more = [f"account={ACCOUNT}"] if entry[0] == "user" else []
                self.tried("sacctmgr", "-i", "add", *entry, *more)

    def environment(self, **more: str) -> dict[str, str]:
        names = {name: value for name, value in os.environ.items() if name[:6] != "SLURM_"}
        own = {"SLURM_CONF": str(self.here / "slurm.conf"), MARK: str(self.here)}
        return {**names, **own, **more}

    def tried(self, *command: str, timeout: float = 30) -> subprocess.CompletedProcess[str]:
        """Run a command of SLURM's, which may fail."""
        how = {"capture_output": True, "text": True, "timeout": timeout}
        return subprocess.run(command, env=self.environment(), check=False, **how)

    def command(self, *command: str, timeout: float = 30) -> str:
        done = self.tried(*command, timeout=timeout)
        if done.returncode:
            raise subprocess.CalledProcessError(done.returncode, command, done.stdout, done.stderr)
        return done.stdout

    def nodes(self) -> dict[str, str]:
        done = self.tried("sinfo", "-hN", "-o", "%N %T")
        return dict(line.split() for line in done.stdout.splitlines())

    def squeue(self) -> list[dict[str, str]]:
        names = ("id", "state", "name", "comment", "workdir", "node", "partition", "end")
        text = self.command(
            "squeue", "-h", "--states=all", "-S", "i", "-o", "%i|%T|%j|%k|%Z|%N|%P|%e"
        )
        return [dict(zip(names, line.split("|"), strict=True)) for line in text.splitlines()]

    def details(self, job: str) -> dict[str, str]:
        words = self.command("scontrol", "-o", "show", "job", job).split()
        return dict(word.split("=", 1) for word in words if "=" in word)

    def cancel(self, job: str) -> None:
        self.command("scancel", job)

    def processes(self, node: str = "") -> list[int]:
        """Return processes of jobs, on a node or anywhere, with SLURM's that watch them."""
        variables = {MARK: str(self.here)} | ({"SLURMD_NODENAME": node} if node else {})
        daemons, found = {daemon.pid for daemon in self._daemons.values()}, set()
        for each in psutil.process_iter():
            with contextlib.suppress(psutil.Error):
                marked = each.pid != os.getpid() and variables.items() <= each.environ().items()
                # Daemons of this cluster and their helpers are left out.
                if marked and not daemons & {each.pid, each.ppid()}:
                    found.add(each.pid)
                    parent = each.parent()
                    if parent and parent.name() == "slurmstepd":
                        found.add(parent.pid)
        return [*found]

    def wait_for(self, predicate, seconds: float, what: str = ""):
        """Return the first true value of a predicate; fail after five times ``seconds``."""
        until = time.monotonic() + 5 * seconds
        while time.monotonic() < until:
            if value := predicate():
                return value
            time.sleep(0.1)
        raise AssertionError(
            f"waited {5 * seconds} s in vain for {what or predicate}\n{self.logs()}"
        )

    def logs(self, lines: int = 15) -> str:
        ends = []
        for file in sorted((self.here / "log").glob("*.log")):
            last = file.read_text(errors="replace").splitlines()[-lines:]
            ends += [f"== {file.name}", *last]
        return "\n".join(ends)
