"""Three servers under Patroni, and the store in which they agree, as processes on loopback addresses."""

import json
import os
import shutil
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request

import psycopg

PATIENCE = 90


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def until(what, holds, patience=PATIENCE):
    """Waits until it holds; returns what it came to."""
    end = time.monotonic() + patience
    while True:
        found = holds()
        if found:
            return found
        if time.monotonic() > end:
            raise AssertionError(f"still not: {what}")
        time.sleep(0.1)


class Process:
    """A program with a log."""

    def __init__(self, name, folder, command, environment=None):
        self.name, self.command = name, command
        self.log_path = os.path.join(folder, f"{name}.log")
        self.environment = dict(os.environ, **(environment or {}))
        self.process = None

    def start(self):
        with open(self.log_path, "ab") as log:
            self.process = subprocess.Popen(
                self.command, stdout=log, stderr=log, stdin=subprocess.DEVNULL, env=self.environment, start_new_session=True
            )

    def running(self):
        return self.process is not None and self.process.poll() is None

    def send(self, number):
        if self.running():
            self.process.send_signal(number)

    def end(self, number=signal.SIGTERM, patience=30):
        if self.process is None:
            return
        self.send(number)
        try:
            self.process.wait(patience)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process = None

    def log(self):
        with open(self.log_path, errors="replace") as file:
            return file.read()


class Node:
    """A server and its Patroni."""

    def __init__(self, cluster, number):
        self.cluster, self.name = cluster, f"node{number}"
        self.port, self.rest = free_port(), free_port()
        self.folder = os.path.join(cluster.work, self.name)
        self.data = os.path.join(self.folder, "data")
        os.makedirs(self.folder)
        self.configuration = os.path.join(self.folder, "patroni.yml")
        patroni = os.path.join(os.path.dirname(os.sys.executable), "patroni")
        environment = {"PATH": f"{cluster.bin}:{os.environ['PATH']}"}
        compared = os.environ.get("STAMPEDE_HA_POSTGRESQL")
        if compared:
            # Its replication needs its own libpq.
            environment["LD_LIBRARY_PATH"] = os.path.join(os.path.dirname(compared), "lib")
        self.patroni = Process("patroni", self.folder, [patroni, self.configuration], environment)

    def write(self):
        with open(self.configuration, "w") as file:
            json.dump(self.settings(), file, indent=1)

    def settings(self):
        cluster = self.cluster
        settings = {
            "scope": "ha",
            "name": self.name,
            "restapi": {"listen": f"127.0.0.1:{self.rest}", "connect_address": f"127.0.0.1:{self.rest}"},
            "bootstrap": {
                "dcs": {
                    "ttl": 20,
                    "loop_wait": 2,
                    "retry_timeout": 6,
                    "maximum_lag_on_failover": 1048576,
                    "postgresql": {
                        "use_pg_rewind": True,
                        "use_slots": True,
                        "parameters": {
                            "wal_level": "replica",
                            "hot_standby": "on",
                            "max_connections": 100,
                            "max_wal_senders": 10,
                            "max_replication_slots": 10,
                            "max_prepared_transactions": 0,
                            "max_worker_processes": 8,
                            "wal_keep_size": "128MB",
                            "wal_log_hints": "on",
                            "fsync": "off",
                        },
                    },
                },
                "initdb": [{"encoding": "UTF8"}, "data-checksums"],
                "pg_hba": ["local all all trust", "host all all 127.0.0.1/32 trust", "host replication all 127.0.0.1/32 trust"],
            },
            "postgresql": {
                "listen": f"127.0.0.1:{self.port}",
                "connect_address": f"127.0.0.1:{self.port}",
                "data_dir": self.data,
                "bin_dir": cluster.bin,
                "pgpass": os.path.join(self.folder, "pgpass"),
                "authentication": {
                    "superuser": {"username": "postgres", "password": "secret"},
                    "replication": {"username": "replicator", "password": "secret"},
                    "rewind": {"username": "rewinder", "password": "secret"},
                },
                "parameters": {"unix_socket_directories": self.folder},
            },
            "watchdog": {"mode": "off"},
        }
        settings.update(cluster.store_settings(self))
        return settings

    def ask(self, path="patroni", method="GET", body=None):
        """An answer of Patroni's own interface: status and contents; none if there is none."""
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"http://127.0.0.1:{self.rest}/{path}", data, method=method)
        try:
            with urllib.request.urlopen(request, timeout=70) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()
        except OSError:
            return None, ""

    def state(self):
        status, text = self.ask()
        return json.loads(text) if status is not None and text.startswith("{") else {}

    def role(self):
        return self.state().get("role")

    def is_synchronous(self):
        return bool(self.state().get("sync_standby"))

    def is_writable(self):
        try:
            with psycopg.connect(f"host=127.0.0.1 port={self.port} user=postgres dbname=postgres connect_timeout=3") as connection:
                return not connection.execute("select pg_is_in_recovery()").fetchone()[0]
        except psycopg.Error:
            return False

    def server_pid(self):
        try:
            with open(os.path.join(self.data, "postmaster.pid")) as file:
                return int(file.readline())
        except (OSError, ValueError):
            return None

    def kill_server(self, number=signal.SIGKILL):
        """Sends a signal to the server, and to its processes if it has several."""
        pid = self.server_pid()
        if pid is None:
            return
        children = subprocess.run(["pgrep", "-P", str(pid)], capture_output=True, text=True).stdout.split()
        for process in [pid, *map(int, children)]:
            try:
                os.kill(process, number)
            except ProcessLookupError:
                pass


class Cluster:
    """All of it."""

    def __init__(self, work, nodes=3):
        self.work, self.bin = work, os.path.join(work, "bin")
        self.etcd = []
        if shutil.which("etcd"):
            self.make_etcd()
        else:
            self.raft_ports = [free_port() for _ in range(nodes)]
        self.nodes = [Node(self, number) for number in range(1, nodes + 1)]
        for node in self.nodes:
            node.write()

    def make_etcd(self):
        members = [(f"etcd{n}", free_port(), free_port()) for n in range(1, 4)]
        together = ",".join(f"{name}=http://127.0.0.1:{peer}" for name, _, peer in members)
        self.etcd_clients = [f"127.0.0.1:{client}" for _, client, _ in members]
        for name, client, peer in members:
            folder = os.path.join(self.work, name)
            os.makedirs(folder, mode=0o700)
            command = ["etcd", "--name", name, "--data-dir", folder, "--initial-cluster", together]
            command += ["--listen-client-urls", f"http://127.0.0.1:{client}", "--advertise-client-urls", f"http://127.0.0.1:{client}"]
            command += ["--listen-peer-urls", f"http://127.0.0.1:{peer}", "--initial-advertise-peer-urls", f"http://127.0.0.1:{peer}"]
            command += ["--unsafe-no-fsync"] if self.etcd_knows("--unsafe-no-fsync") else []
            self.etcd.append(Process(name, self.work, command))

    @staticmethod
    def etcd_knows(option):
        told = subprocess.run(["etcd", "--help"], capture_output=True, text=True)
        return option in told.stdout + told.stderr

    def store_settings(self, node):
        if self.etcd:
            return {"etcd3": {"hosts": self.etcd_clients}}
        own = self.raft_ports[int(node.name[4:]) - 1]
        others = [f"127.0.0.1:{port}" for port in self.raft_ports if port != own]
        folder = os.path.join(node.folder, "raft")
        return {"raft": {"data_dir": folder, "self_addr": f"127.0.0.1:{own}", "partner_addrs": others}}

    def start(self):
        for member in self.etcd:
            member.start()
        for node in self.nodes:
            node.patroni.start()

    def stop(self):
        for node in self.nodes:
            node.patroni.end(patience=60)
            node.kill_server()
        for member in self.etcd:
            member.end(signal.SIGKILL)

    def leader(self):
        """The node that leads and can be written to, if there is one."""
        found = [node for node in self.nodes if node.ask("leader")[0] == 200]
        return found[0] if len(found) == 1 and found[0].is_writable() else None

    def replicas(self):
        return [node for node in self.nodes if node.role() == "replica"]

    def until_whole(self, patience=PATIENCE):
        """One leader, and all others follow it on its time line."""

        def whole():
            leader = self.leader()
            if leader is None:
                return None
            timeline = leader.state().get("timeline")
            followers = [node for node in self.nodes if node is not leader and self.follows(node, timeline)]
            return leader if len(followers) == len(self.nodes) - 1 else None

        return until("a leader, and all others follow it", whole, patience)

    @staticmethod
    def follows(node, timeline):
        state = node.state()
        return state.get("state") == "running" and state.get("replication_state") == "streaming" and state.get("timeline") == timeline

    def configure(self, change):
        status, text = self.nodes[0].ask("config", "PATCH", change)
        assert status == 200, text

    def conninfo(self):
        """Whoever is the leader."""
        hosts = ",".join("127.0.0.1" for _ in self.nodes)
        ports = ",".join(str(node.port) for node in self.nodes)
        return f"host={hosts} port={ports} user=postgres dbname=postgres target_session_attrs=read-write connect_timeout=3"
