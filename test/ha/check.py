"""Steps over one cluster, each of which leaves it whole."""

import asyncio
import os
import random
import signal
import statistics
import sys
import threading
import time

import psycopg

from cluster import Cluster, until


def value(node, query):
    with psycopg.connect(f"host=127.0.0.1 port={node.port} user=postgres dbname=postgres", autocommit=True) as connection:
        return connection.execute(query).fetchone()[0]


def run(node, *statements):
    with psycopg.connect(f"host=127.0.0.1 port={node.port} user=postgres dbname=postgres", autocommit=True) as connection:
        for statement in statements:
            connection.execute(statement)


def bootstrap(cluster):
    leader = cluster.until_whole()
    run(leader, "create table greetings (n int)", "insert into greetings values (1)")
    for node in cluster.nodes:
        until(f"{node.name} has the row", lambda: node_has(node, "select count(*) from greetings", 1))


def node_has(node, query, wanted):
    try:
        return value(node, query) == wanted
    except psycopg.Error:
        return False


def switchover(cluster):
    leader = cluster.leader()
    heir = cluster.replicas()[0]
    status, text = leader.ask("switchover", "POST", {"leader": leader.name, "candidate": heir.name})
    assert status == 200, text
    until("the heir leads", lambda: cluster.leader() is heir)
    cluster.until_whole()


def failover(cluster):
    """The leader's server and its Patroni are killed; the old leader comes back as a replica."""
    leader = cluster.leader()
    run(leader, "create table if not exists before (n int)")
    leader.patroni.end(signal.SIGKILL)
    leader.kill_server()
    until("another leads", lambda: cluster.leader() not in (None, leader))
    run(cluster.leader(), "create table if not exists after (n int)")
    leader.patroni.start()
    cluster.until_whole()
    until("the old leader has what came after", lambda: node_has(leader, "select count(*) from after", 0))


def rewind(cluster):
    """An old leader has log that nobody else has: it is rewound."""
    leader = cluster.leader()
    others = [node for node in cluster.nodes if node is not leader]
    for node in others:
        node.patroni.send(signal.SIGSTOP)
        node.kill_server()
    run(leader, "create table lost as select generate_series(1, 1000) as n")
    leader.patroni.end(signal.SIGKILL)
    leader.kill_server()
    for node in others:
        node.patroni.send(signal.SIGCONT)
    until("another leads", lambda: cluster.leader() not in (None, leader))
    run(cluster.leader(), "create table kept as select generate_series(1, 1000) as n", "checkpoint")
    before = len(leader.patroni.log())
    leader.patroni.start()
    cluster.until_whole()
    until("the old leader has what came after", lambda: node_has(leader, "select count(*) from kept", 1000))
    until("what nobody else has is gone", lambda: node_has(leader, "select to_regclass('lost') is null", True))
    told = leader.patroni.log()[before:]
    assert "pg_rewind" in told, "it was not rewound"


def synchronous(cluster):
    cluster.configure({"synchronous_mode": True})
    until("a synchronous standby", lambda: any(node.is_synchronous() for node in cluster.nodes))
    leader = cluster.leader()
    until("the leader waits for it", lambda: value(leader, "select count(*) from pg_stat_replication where sync_state = 'sync'") == 1)
    standby = next(node for node in cluster.nodes if node.is_synchronous())
    standby.patroni.end(signal.SIGKILL)
    standby.kill_server()
    until("another is synchronous", lambda: any(node.is_synchronous() and node is not standby for node in cluster.nodes))
    run(leader, "insert into greetings values (2)")
    standby.patroni.start()
    cluster.until_whole()


def configuration(cluster):
    cluster.configure({"postgresql": {"parameters": {"work_mem": "7MB", "max_connections": 120}}})
    for node in cluster.nodes:
        until(f"{node.name} has the setting", lambda: node_has(node, "select current_setting('work_mem')", "7MB"))
        until(f"{node.name} is to be restarted", lambda: node.state().get("pending_restart"))
    for node in cluster.nodes:
        status, text = node.ask("restart", "POST", {})
        assert status == 200, text
    cluster.until_whole()
    for node in cluster.nodes:
        assert node_has(node, "select current_setting('max_connections')", "120"), node.name


def pause(cluster):
    leader = cluster.leader()
    cluster.configure({"pause": True})
    until("all have heard", lambda: all(node.state().get("pause") for node in cluster.nodes))
    leader.kill_server()
    time.sleep(8)
    assert cluster.leader() in (None, leader), "another leads although there is a pause"
    cluster.configure({"pause": None})
    cluster.until_whole()


class Ledger:
    """Clients that note what was acknowledged, and when."""

    def __init__(self, cluster, clients=4):
        self.cluster, self.acknowledged, self.doubtful = cluster, set(), set()
        self.gaps, self.stopping, self.lock = [], threading.Event(), threading.Lock()
        self.last = time.monotonic()
        write = lambda number: asyncio.run(self.write(number))
        self.threads = [threading.Thread(target=write, args=(number,), daemon=True) for number in range(clients)]

    def start(self):
        for thread in self.threads:
            thread.start()

    def stop(self):
        self.stopping.set()
        for thread in self.threads:
            thread.join()

    async def write(self, number):
        connection, count = None, 0
        while not self.stopping.is_set():
            count += 1
            entry = f"{number}-{count}"
            try:
                if connection is None:
                    connection = await psycopg.AsyncConnection.connect(self.cluster.conninfo(), autocommit=True)
                # A server that was stopped never answers, and never breaks the connection.
                await asyncio.wait_for(connection.execute("insert into ledger values (%s)", (entry,)), 4)
                with self.lock:
                    now = time.monotonic()
                    self.acknowledged.add(entry)
                    self.gaps.append((now, now - self.last))
                    self.last = now
            except (psycopg.Error, asyncio.TimeoutError):
                # It may have come in all the same: it is not written again.
                with self.lock:
                    self.doubtful.add(entry)
                if connection is not None:
                    connection.pgconn.finish()
                connection = None
                await asyncio.sleep(0.05)

    def longest_gap(self, since):
        """The longest time without an acknowledged write, from this moment on."""
        with self.lock:
            gaps = [gap for at, gap in self.gaps if at >= since]
            return max(gaps + [time.monotonic() - self.last])

    def until_written(self, since):
        until("somebody writes", lambda: self.last > since)


def ledger(cluster):
    """Random kills over a running ledger in synchronous mode: nothing acknowledged is lost, nothing is doubled."""
    seed = int(os.environ.get("STAMPEDE_HA_SEED", "1"))
    kills = int(os.environ.get("STAMPEDE_HA_KILLS", "10"))
    draw = random.Random(seed)
    cluster.configure({"synchronous_mode": True, "synchronous_mode_strict": True})
    until("a synchronous standby", lambda: any(node.is_synchronous() for node in cluster.nodes))
    run(cluster.leader(), "drop table if exists ledger", "create table ledger (entry text)")
    writers = Ledger(cluster)
    writers.start()
    writers.until_written(time.monotonic())
    without_leader = []
    for kill in range(kills):
        time.sleep(draw.uniform(1, 4))
        kind = draw.choice(["leader", "leader", "replica", "store", "network"])
        leader = cluster.leader()
        began = time.monotonic()
        if kind == "leader":
            leader.patroni.end(signal.SIGKILL)
            leader.kill_server()
            time.sleep(1)
            writers.until_written(time.monotonic())
            leader.patroni.start()
            without_leader.append(writers.longest_gap(began))
        elif kind == "replica":
            replica = draw.choice([node for node in cluster.nodes if node is not leader])
            replica.patroni.end(signal.SIGKILL)
            replica.kill_server()
            time.sleep(2)
            replica.patroni.start()
        elif kind == "store" and cluster.etcd:
            member = draw.choice(cluster.etcd)
            member.end(signal.SIGKILL)
            time.sleep(2)
            member.start()
        else:
            # A node that nobody can reach, which comes back and believes that it leads.
            leader.patroni.send(signal.SIGSTOP)
            leader.kill_server(signal.SIGSTOP)
            time.sleep(1)
            writers.until_written(time.monotonic())
            leader.kill_server(signal.SIGCONT)
            leader.patroni.send(signal.SIGCONT)
            without_leader.append(writers.longest_gap(began))
        silent = f", {without_leader[-1]:.1f} s without writes" if kind in ("leader", "network") else ""
        cluster.until_whole(180)
        print(f"    kill {kill + 1}: {kind}, {len(writers.acknowledged)} acknowledged{silent}", flush=True)
    writers.stop()
    leader = cluster.until_whole()
    with psycopg.connect(f"host=127.0.0.1 port={leader.port} user=postgres dbname=postgres") as connection:
        rows = [row[0] for row in connection.execute("select entry from ledger")]
    found = set(rows)
    lost = writers.acknowledged - found
    foreign = found - writers.acknowledged - writers.doubtful
    assert len(rows) == len(found), f"{len(rows) - len(found)} entries are doubled"
    assert not lost, f"{len(lost)} acknowledged entries are lost: {sorted(lost)[:5]}"
    assert not foreign, f"entries that nobody wrote: {sorted(foreign)[:5]}"
    print(f"    {len(writers.acknowledged)} acknowledged entries are there, none twice")
    if without_leader:
        median = statistics.median(without_leader)
        print(f"    median time without writes when the leader goes: {median:.1f} s, of {len(without_leader)}")


STEPS = [bootstrap, switchover, failover, rewind, synchronous, configuration, pause, ledger]


def main():
    work, names = sys.argv[1], sys.argv[2:]
    cluster = Cluster(work, int(os.environ.get("STAMPEDE_HA_NODES", "3")))
    failed = []
    try:
        cluster.start()
        for step in STEPS:
            # Without the first one there is nothing.
            if names and step.__name__ not in names and step is not bootstrap:
                continue
            began = time.monotonic()
            try:
                step(cluster)
                print(f"{step.__name__}: ok ({time.monotonic() - began:.0f} s)", flush=True)
            except (AssertionError, psycopg.Error) as error:
                failed.append(step.__name__)
                print(f"{step.__name__}: FAILED: {error}", flush=True)
                for node in cluster.nodes:
                    print(f"--- {node.name}\n" + "\n".join(node.patroni.log().splitlines()[-15:]))
                break
    finally:
        keep = os.environ.get("STAMPEDE_HA_KEEP")
        cluster.stop()
        if keep:
            os.system(f"cp -a {work} {keep}")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
