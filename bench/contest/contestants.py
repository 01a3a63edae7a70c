"""Who takes part, and how its ranks are started."""
import dataclasses
import os
import shutil
import subprocess
from pathlib import Path

HERE = Path(__file__).resolve().parent
SYSTEM_PYTHON = "/usr/bin/python3"  # the one that Debian's packages are for
MOVES = ("a", "b", "c", "d")
COLLECTIVES = ("all_to_all", "all_gather", "reduce_scatter", "all_reduce", "broadcast")
REFERENCE = "limit"
OURS = ("reshard-thread", "reshard-process")

TITLES = {
    "limit": "limit",
    "reshard-thread": "Reshard, threads",
    "reshard-process": "Reshard, processes",
    "openmpi": "Open MPI",
    "mpich": "MPICH",
    "gloo": "gloo",
    "scalapack": "ScaLAPACK",
    "fftw": "FFTW-MPI",
    "torch": "PyTorch (gloo)",
}


@dataclasses.dataclass(frozen=True)
class Contestant:
    """`commands(ranks)`: one command that starts all ranks, or one for each. `memory`: of a redistribution, in its payloads."""
    name: str
    families: tuple
    program: str
    packages: str
    launcher: str = ""
    one_each: bool = False
    arguments: tuple = ()
    most_ranks: int = 1 << 20
    memory: int = 4
    environment: dict = dataclasses.field(default_factory=dict)

    @property
    def title(self):
        return TITLES.get(self.name, self.name)

    def missing(self, build):
        """Why it cannot take part here, or None."""
        if self.launcher and not shutil.which(self.launcher):
            return f"missing: {self.launcher}; install {self.packages}"
        if self.name == "torch":
            probe = "import importlib.util as u, sys; sys.exit(not (u.find_spec('torch') and u.find_spec('numpy')))"
            found = Path(SYSTEM_PYTHON).exists() and subprocess.run([SYSTEM_PYTHON, "-c", probe], check=False).returncode == 0
            return None if found else f"missing: torch of {SYSTEM_PYTHON}; install {self.packages}"
        if not self.executable(build).exists():
            return f"missing: it was not built; install {self.packages} and build again"
        return None

    def bytes_for(self, job):
        """Of all ranks, about: what goes in and comes out, for each way that has memory of its own."""
        return (2 if job.family in COLLECTIVES else self.memory) * job.payload

    def left_out(self, ranks):
        if ranks > self.most_ranks:
            return f"at most {self.most_ranks} ranks: they spin, and more than there are cores take milliseconds a call"
        return None

    def executable(self, build):
        return Path(build) / "bench/contest" / self.program

    def commands(self, build, ranks):
        program = [SYSTEM_PYTHON, str(HERE / "torch_ranks.py")] if self.name == "torch" else [str(self.executable(build))]
        if self.one_each:
            return [[*program, *self.arguments, str(rank), str(ranks)] for rank in range(ranks)]
        if self.launcher:
            spread = ["--oversubscribe", "--bind-to", "none"] if "openmpi" in self.launcher else []
            return [[self.launcher, *spread, "-n", str(ranks), *program, *self.arguments]]
        return [[*program, *self.arguments, str(ranks)]]


# Open MPI refuses root unless told twice.
OPENMPI_ENVIRONMENT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMP_NUM_THREADS": "1"}


def open_mpi(name, families, packages, memory=4, arguments=()):
    return Contestant(name, families, f"contest_{name}", packages, launcher="mpirun.openmpi", memory=memory,
                      arguments=arguments, environment=OPENMPI_ENVIRONMENT)


ALL = (
    Contestant("limit", (*MOVES, "cast", "hop", "barrier", *COLLECTIVES), "contest_limit", "", memory=6),
    Contestant("reshard-thread", (*MOVES, "cast", "hop", "barrier", *COLLECTIVES), "contest_reshard", "",
               arguments=("thread",), memory=6),
    Contestant("reshard-process", (*MOVES, "cast", "hop", "barrier", *COLLECTIVES), "contest_reshard", "",
               arguments=("process",), memory=6),
    open_mpi("openmpi", (*MOVES, "hop", "barrier", *COLLECTIVES), "openmpi-bin libopenmpi-dev", memory=5,
             arguments=("openmpi",)),
    Contestant("mpich", (*MOVES, "hop", "barrier", *COLLECTIVES), "contest_mpich", "mpich libmpich-dev",
               launcher="mpiexec.mpich", arguments=("mpich",), most_ranks=2, memory=5),
    Contestant("gloo", (*MOVES, "barrier", "all_to_all", "all_gather", "all_reduce", "broadcast"), "contest_gloo",
               "libgloo-dev", one_each=True),
    open_mpi("scalapack", ("a", "b", "c"), "openmpi-bin libopenmpi-dev libscalapack-openmpi-dev"),
    open_mpi("fftw", ("b",), "openmpi-bin libopenmpi-dev libfftw3-mpi-dev libfftw3-dev"),
    Contestant("torch", MOVES, "torch_ranks.py", "python3-torch python3-numpy", one_each=True,
               environment={"OMP_NUM_THREADS": "1"}),
)


def chosen(names):
    known = {contestant.name: contestant for contestant in ALL}
    unknown = [name for name in names if name not in known]
    if unknown:
        raise ValueError(f"no contestant {', '.join(unknown)}; there are {', '.join(known)}")
    return [known[name] for name in names] if names else list(ALL)


def environment(contestant, socket_path, folder, build):
    library = Path(build) / "bench/contest/libcontest_start.so"
    return {**os.environ, **contestant.environment, "CONTEST_SOCKET": socket_path, "CONTEST_FOLDER": folder,
            "CONTEST_START_LIBRARY": str(library), "GLOO_SOCKET_IFNAME": "lo"}
