"""Hosts that are network namespaces of this machine: each has its own network and host name, and a wire to the others.

    with Hosts(3) as hosts:
        process = hosts.start(1, ["program", "argument"])
        before = hosts.sent(1)

Two hosts are joined by one wire, more by a switch. Names hold the process id, so runs do not collide. The hosts are
removed when the block ends, and by a guardian when this process is killed; what neither could remove, the next run does.
Needs root, iproute2 and util-linux.
"""
import ctypes
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time

PREFIX = "reshard"
WIRE = "eth1"
PR_SET_PDEATHSIG = 1
LIBC = ctypes.CDLL(None, use_errno=True)


def run(*command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        raise OSError(f"{' '.join(command)}: {done.stderr.strip() or done.returncode}")
    return done.stdout


def die_with_parent():
    LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def alive(pid):
    return os.path.exists(f"/proc/{pid}")


def namespaces():
    return [line.split()[0] for line in run("ip", "netns", "list").splitlines() if line.strip()]


def remove(name):
    """Ends what runs in a namespace, and removes it."""
    pids = subprocess.run(["ip", "netns", "pids", name], stdout=subprocess.PIPE, text=True, check=False).stdout
    for pid in pids.split():
        try:
            os.kill(int(pid), signal.SIGKILL)
        except ProcessLookupError:
            pass
    subprocess.run(["ip", "netns", "delete", name], stderr=subprocess.DEVNULL, check=False)


def remove_all(prefix):
    for name in namespaces():
        if name.startswith(prefix):
            remove(name)


def remove_stale():
    for name in namespaces():
        found = re.fullmatch(rf"{PREFIX}-(\d+)-[\w-]+", name)
        if found and not alive(found[1]):
            remove(name)


def why_not():
    """Why hosts cannot be made here; None if they can."""
    for tool in ("ip", "tc", "unshare"):
        if not shutil.which(tool):
            return f"{tool} is not installed"
    if os.geteuid() != 0:
        return "not root"
    probe = f"{PREFIX}-{os.getpid()}-probe"
    try:
        run("ip", "netns", "add", probe)
        run("ip", "netns", "exec", probe, "unshare", "--uts", "hostname", "probe")
        run("ip", "link", "add", WIRE, "netns", probe, "type", "veth", "peer", "name", "eth2", "netns", probe)
    except OSError as error:
        return f"namespaces are forbidden: {error}"
    finally:
        remove(probe)
    return None


def start_guardian(prefix):
    """A process that outlives this one by just long enough to remove its hosts. Returns what holds it back."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.setsid()
        if os.fork() == 0:  # nobody's child: whoever ends all children of this process does not end it
            os.closerange(3, reader)
            os.closerange(reader + 1, 1024)
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            null = os.open(os.devnull, os.O_RDWR)
            for stream in (0, 1, 2):
                os.dup2(null, stream)
            os.read(reader, 1)
            remove_all(prefix)
        os._exit(0)
    os.waitpid(child, 0)
    os.close(reader)
    return writer


class Hosts:
    made = 0  # by this process

    def __init__(self, count, mtu=9000, network="10.77.0"):
        Hosts.made += 1
        self.prefix = f"{PREFIX}-{os.getpid()}-{Hosts.made}-"
        self.count = count
        self.mtu = mtu
        self.network = network
        self.processes = []
        self.guardian = None

    def __enter__(self):
        remove_stale()
        self.guardian = start_guardian(self.prefix)
        try:
            for host in range(self.count):
                run("ip", "netns", "add", self.name(host))
            if self.count == 2:
                run("ip", "link", "add", WIRE, "netns", self.name(0), "type", "veth",
                    "peer", "name", WIRE, "netns", self.name(1))
            elif self.count > 2:
                self._add_switch()
            for host in range(self.count):
                self._set_up(host)
            for host in range(self.count):
                self._wait_for_wire(host)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for process in self.processes:
            if process.poll() is None:
                process.kill()
        remove_all(self.prefix)
        for process in self.processes:
            process.wait()
        os.close(self.guardian)

    def _add_switch(self):
        switch = self.name("switch")
        run("ip", "netns", "add", switch)
        run("ip", "-n", switch, "link", "add", "bridge", "mtu", str(self.mtu), "type", "bridge")
        run("ip", "-n", switch, "link", "set", "bridge", "up")
        for host in range(self.count):
            run("ip", "link", "add", f"port{host}", "netns", switch, "mtu", str(self.mtu), "type", "veth",
                "peer", "name", WIRE, "netns", self.name(host))
            run("ip", "-n", switch, "link", "set", f"port{host}", "master", "bridge", "up")

    def _set_up(self, host):
        name = self.name(host)
        run("ip", "-n", name, "link", "set", "lo", "up")
        if self.count > 1:
            run("ip", "-n", name, "addr", "add", f"{self.address(host)}/24", "dev", WIRE)
            run("ip", "-n", name, "link", "set", WIRE, "mtu", str(self.mtu), "up")

    def _wait_for_wire(self, host):
        """The kernel reports a new wire as running only after a while, and who looks before finds no network."""
        deadline = time.monotonic() + 20
        while self.count > 1 and self._link(host)["operstate"] != "UP":
            if time.monotonic() > deadline:
                raise OSError(f"the wire of {self.name(host)} did not come up")
            time.sleep(0.01)

    def _link(self, host):
        (link,) = json.loads(run("ip", "-n", self.name(host), "-s", "-j", "link", "show", "dev", WIRE))
        return link

    def name(self, host):
        return f"{self.prefix}{host}"

    def address(self, host):
        return f"{self.network}.{host + 1}"

    def command(self, host, command):
        """What runs `command` on a host."""
        return ["ip", "netns", "exec", self.name(host), "unshare", "--uts", "sh", "-c", 'hostname "$0"; exec "$@"',
                f"host{host}", *command]

    def start(self, host, command, **options):
        """A process on a host. It ends when this process does."""
        process = subprocess.Popen(self.command(host, command), preexec_fn=die_with_parent, **options)
        self.processes.append(process)
        return process

    def launcher_agent(self, folder):
        """A stand-in for ssh, for launchers that know hosts by address or name."""
        path = os.path.join(folder, "agent.sh")
        cases = "\n".join(f"  {self.address(host)}|host{host}) name={self.name(host)} host=host{host} ;;"
                          for host in range(self.count))
        with open(path, "w", encoding="ascii") as file:
            file.write('#!/bin/bash\nwhile [ "${1:0:1}" = "-" ]; do shift; done\naddress=$1\nshift\n'
                       f'case $address in\n{cases}\nesac\n'
                       'exec ip netns exec $name unshare --uts bash -c "hostname $host; $*"\n')
        os.chmod(path, 0o755)
        return path

    def mpirun(self, folder, placement, options, command):
        """How Open MPI, on the first host, starts rank i of `command` on host placement[i], and its environment. What it
        writes lies in `folder`."""
        places = os.path.join(folder, "places")
        with open(places, "w", encoding="ascii") as file:
            file.writelines(f"host{host}\n" for host in placement)
        environment = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "TMPDIR": folder}
        return ["mpirun.openmpi", "-n", str(len(placement)), "--hostfile", places, "--map-by", "seq", "--bind-to", "none",
                "--mca", "plm_rsh_agent", self.launcher_agent(folder), "--mca", "oob_tcp_if_include", WIRE,
                "--mca", "btl", "tcp,self", "--mca", "btl_tcp_if_include", WIRE, *options, *command], environment

    def sent(self, host):
        """Bytes that a host has put on its wire so far, with the headers of Ethernet, IP and TCP."""
        return self._link(host)["stats64"]["tx"]["bytes"]

    def cut(self, host):
        run("ip", "-n", self.name(host), "link", "set", WIRE, "down")

    def throttle(self, host, rate):
        """What a host sends, to a rate as tc writes it: "200mbit"."""
        run("tc", "-n", self.name(host), "qdisc", "replace", "dev", WIRE, "root", "tbf", "rate", rate, "burst", "256kb",
            "latency", "200ms")


def main():
    """hosts.py COUNT COMMAND..: runs a command on every host at the same time, with HOST in its environment."""
    with Hosts(int(sys.argv[1])) as hosts:
        for host in range(hosts.count):
            hosts.start(host, ["env", f"HOST={host}", *sys.argv[2:]])
        while any(process.poll() is None for process in hosts.processes):
            time.sleep(0.05)
        return max(abs(process.returncode) for process in hosts.processes)


if __name__ == "__main__":
    sys.exit(main())
