"""One contestant with its processes, which sleep on their sockets until the driver wants something."""
import json
import mmap
import os
import select
import shutil
import signal
import socket
import subprocess
import tempfile
import time

CELL_BYTES = 64
CELLS = 4096 // CELL_BYTES
START_S = 60  # for all ranks to arrive


class Lost(Exception):
    """The contestant takes no further part; the text says why."""


class Line:
    """A socket to one rank, in lines of JSON."""

    def __init__(self, connection):
        self.connection = connection
        self.heard = b""

    def say(self, what):
        try:
            self.connection.sendall(json.dumps(what).encode() + b"\n")
        except OSError as error:
            raise Lost(f"a rank has ended ({error.strerror})") from None

    def hear(self, deadline, limit_s):
        while b"\n" not in self.heard:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self.connection], [], [], left)[0]:
                raise Lost(f"no answer in {limit_s:g} s, left out")
            try:
                chunk = self.connection.recv(1 << 16)
            except OSError:
                chunk = b""
            if not chunk:
                raise Lost("a rank has ended")
            self.heard += chunk
        line, self.heard = self.heard.split(b"\n", 1)
        return json.loads(line)


class Lobby:
    """Where ranks arrive: a socket in a folder that goes away, and the page with everybody's start lines."""

    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="contest-")
        self.path = os.path.join(self.folder, "driver")
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(self.path)
        self.listener.listen(256)
        self.page = os.memfd_create("contest-start-lines")
        os.truncate(self.page, mmap.PAGESIZE)
        self.next_cell = 0

    def cell(self):
        """The offset of a start line that nobody uses; it may have been used by processes that are gone."""
        offset = self.next_cell % CELLS * CELL_BYTES
        self.next_cell += 1
        os.pwrite(self.page, bytes(CELL_BYTES), offset)
        return offset

    def close(self):
        self.listener.close()
        os.close(self.page)
        shutil.rmtree(self.folder, ignore_errors=True)


class Group:
    def __init__(self, contestant, ranks, lobby, commands, environment, limit_s):
        self.contestant = contestant
        self.ranks = ranks
        self.limit_s = limit_s
        self.alive = True
        self.lines = {}
        self.ranks_processes = set()
        self.log = tempfile.TemporaryFile(dir=lobby.folder)
        self.processes = [
            subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log,
                             start_new_session=True) for command in commands]
        try:
            self.gather(lobby)
        except Lost:
            self.kill()
            raise

    def gather(self, lobby):
        offset = lobby.cell()
        deadline = time.monotonic() + START_S
        while len(self.lines) < self.ranks:
            if not select.select([lobby.listener], [], [], 0.1)[0]:
                if any(process.poll() is not None for process in self.processes):
                    raise Lost(f"did not start: {self.last_words()}")
                if time.monotonic() > deadline:
                    raise Lost(f"no answer in {START_S:g} s, left out")
                continue
            line = Line(lobby.listener.accept()[0])
            hello = line.hear(deadline, START_S)
            if hello["contestant"] != self.contestant.name:
                continue  # a rank of one that was given up
            self.lines[hello["rank"]] = line
            self.ranks_processes.add(hello["process"])
            line.say({"start_line": f"/proc/{os.getpid()}/fd/{lobby.page}", "offset": offset})

    def ask(self, order):
        """The answers of all ranks, by rank."""
        for line in self.lines.values():
            line.say(order)
        deadline = time.monotonic() + self.limit_s
        try:
            answers = [self.lines[rank].hear(deadline, self.limit_s) for rank in range(self.ranks)]
        except Lost as lost:
            raise Lost(f"{lost}{self.last_words(': ')}") from None
        for rank, answer in enumerate(answers):
            if "error" in answer:
                raise Lost(f"rank {rank}: {answer['error']}")
        return answers

    def last_words(self, before=""):
        self.log.seek(0)
        lines = [line.strip() for line in self.log.read().decode(errors="replace").splitlines() if line.strip(" -*")]
        return before + lines[-1] if lines else ""

    def end(self):
        try:
            for line in self.lines.values():
                line.say({"do": "end"})
            for process in self.processes:
                process.wait(timeout=10)
            self.ranks_processes.clear()
        except (Lost, subprocess.TimeoutExpired):
            pass
        self.kill()

    def kill(self):
        """Whatever is left: launchers with their groups, and ranks, which some launchers put into groups of their own."""
        self.alive = False
        for process in self.processes:
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            process.wait()
        for rank_process in self.ranks_processes:
            try:
                os.kill(rank_process, signal.SIGKILL)
            except ProcessLookupError:
                pass
        for line in self.lines.values():
            line.connection.close()
        self.log.close()
