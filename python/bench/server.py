"""The server beside PostgreSQL, in one run: `python python/bench/server.py --frazil target/release/frazil`.

Both servers are started here, in directories of their own on one disk, with PostgreSQL's default settings: commits are durable in both. Clients
reach them by loopback TCP, and are PostgreSQL's own programs (pgbench, psql), psycopg 3 and, where it is installed, ADBC. In each round both
servers do each task in turn, and the one that begins changes from round to round. A ratio is Frazil's speed over PostgreSQL's: the geometric mean
of the rounds. Tasks in which the client's own work counts have a floor: a server that only sends the bytes of Frazil's answer, recorded before, in the
same rounds. A floor below the bound proves that no server reaches the bound with this client here; then the task is not missed. Beside such tasks
stands the processor time that the server took, which neither the client nor other programs change. Answers of TPC-H are not compared here (`python/tests/test_tpch.py` does that). The exit code is 1 if a task misses its bound.

Run as root, PostgreSQL runs as the user of `--postgres-user`, because it refuses to run as root."""

import argparse
import contextlib
import itertools
import math
import multiprocessing
import os
import pathlib
import pwd
import re
import resource
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time

import psycopg

TEXTS = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TEXTS / "python" / "tests"))
import tpch_data  # noqa: E402

WIDE = ("create table wide (a integer, b bigint, c double precision, d numeric(12,2), e date, f timestamp, g text, h boolean)",
        "insert into wide select i, i::bigint * 1000000, i / 7.0, i / 100.0, date '2000-01-01' + i % 5000, "
        "timestamp '2000-01-01' + i * interval '1 second', 'text of ' || i, i % 3 = 0 from generate_series(1, {rows}) i")
#: Most milliseconds of a TPC-H query on PostgreSQL; beyond, the query counts as having taken that long.
TPCH_LIMIT = 120_000


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Server:
    """A server that runs until it is stopped."""

    #: PostgreSQL's programs themselves: those in the path may be scripts that look for a version, which takes some 20 ms.
    programs = pathlib.Path("/usr/lib/postgresql/15/bin")

    def __init__(self, name, command, port, user=None):
        self.name, self.port = name, port
        switch = {"user": user, "group": pwd.getpwnam(user).pw_gid, "extra_groups": []} if user else {}
        self.child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **switch)
        for _ in range(600):
            with contextlib.suppress(psycopg.OperationalError):
                self.connect("postgres").close()
                return
            time.sleep(0.05)
        raise SystemExit(f"{name} does not answer")

    def connect(self, database="bench", **more):
        return psycopg.connect(host="127.0.0.1", port=self.port, user="postgres", dbname=database, autocommit=True, **more)

    def address(self):
        return ["-h", "127.0.0.1", "-p", str(self.port), "-U", "postgres"]

    def psql(self, text, **more):
        return subprocess.run([self.programs / "psql", *self.address(), "-d", "bench", "-XqAt", "-v", "ON_ERROR_STOP=1", "-c", text], check=True, **more)

    def memory(self):
        """Resident bytes of the process."""
        text = pathlib.Path(f"/proc/{self.child.pid}/status").read_text()
        return int(re.search(r"VmRSS:\s+(\d+) kB", text)[1]) * 1024

    def processor(self, backend):
        """Processor seconds of the process that serves a session. `backend` is PostgreSQL's number of it."""
        served_by = self.child.pid if self.name == "Frazil" else backend
        fields = pathlib.Path(f"/proc/{served_by}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def stop(self):
        self.child.send_signal(signal.SIGINT)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.child.wait(10)
        if self.child.poll() is None:
            self.child.kill()


def postgres(options, directory):
    """PostgreSQL with its default settings."""
    user = options.postgres_user if os.geteuid() == 0 else None
    home, binaries = directory / "postgres", pathlib.Path(options.postgres)
    home.mkdir()
    if user:
        shutil.chown(home, user)
    switch = {"user": user, "group": pwd.getpwnam(user).pw_gid, "extra_groups": []} if user else {}
    subprocess.run([binaries / "initdb", "-D", home / "data", "-A", "trust", "-U", "postgres", "-E", "UTF8", "--locale=C"],
                   check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **switch)
    port = free_port()
    server = Server("PostgreSQL", [binaries / "postgres", "-D", home / "data", "-c", "listen_addresses=127.0.0.1", "-c", f"port={port}",
                                   "-c", f"unix_socket_directories={home}"], port, user)
    with server.connect("postgres") as connection:
        connection.execute("create database bench")
    return server


def frazil(options, directory, most=200):
    """Frazil on a directory."""
    port = free_port()
    return Server("Frazil", [options.frazil, "serve", directory / "frazil", "--listen", f"127.0.0.1:{port}", "--trust-loopback",
                             "--database", "bench", "--max-connections", str(most)], port)


class Floor:
    """A server that sends, to each client, the bytes that Frazil sent to a client that was recorded."""

    name = "Floor"

    def __init__(self, server, work):
        #: Turns of each connection of the recorded client: how many bytes it sends, and the bytes that it gets then.
        self.turns = []
        listener = socket.create_server(("127.0.0.1", 0))
        self.port = listener.getsockname()[1]
        accepting = threading.Thread(target=self.record, args=(listener, server.port))
        accepting.start()
        work(self)
        listener.shutdown(socket.SHUT_RDWR)
        accepting.join()
        with socket.create_server(("127.0.0.1", 0)) as listener:
            self.port = listener.getsockname()[1]
            self.child = multiprocessing.get_context("fork").Process(target=self.replay, args=(listener,), daemon=True)
            self.child.start()

    def record(self, listener, port):
        threads = []
        # The listener's end is an error.
        with contextlib.suppress(OSError):
            while True:
                client, _ = listener.accept()
                self.turns.append([])
                threads.append(threading.Thread(target=self.follow, args=(client, port, self.turns[-1])))
                threads[-1].start()
        for thread in threads:
            thread.join()

    @staticmethod
    def follow(client, port, turns):
        with client, socket.create_connection(("127.0.0.1", port)) as server:
            # An answer is over when nothing comes for a while: the query itself takes less.
            server.settimeout(1)
            while asked := client.recv(1 << 20):
                server.sendall(asked)
                parts = []
                with contextlib.suppress(TimeoutError):
                    while part := server.recv(1 << 20):
                        parts.append(part)
                        client.sendall(part)
                turns.append((len(asked), b"".join(parts)))

    def replay(self, listener):
        """Serves connections in the order of those that were recorded, again and again."""
        for turns in itertools.cycle(self.turns):
            client, _ = listener.accept()
            threading.Thread(target=self.answer, args=(client, turns)).start()

    @staticmethod
    def answer(client, turns):
        with client, contextlib.suppress(ConnectionError):
            for count, answer in turns:
                while count > 0 and (asked := client.recv(count)):
                    count -= len(asked)
                client.sendall(answer)

    def connect(self, **more):
        return psycopg.connect(host="127.0.0.1", port=self.port, user="postgres", dbname="bench", autocommit=True, sslmode="disable",
                               gssencmode="disable", **more)

    def processor(self, _):
        return 0.0

    def stop(self):
        self.child.kill()


class Table:
    """Prints a line a task, and remembers whether all bounds were reached."""

    def __init__(self):
        self.missed = 0
        print(f"{'task':42} {'Frazil':>12} {'PostgreSQL':>12} {'ratio':>7} {'bound':>6} {'floor':>7}")

    def line(self, task, unit, rounds, bound, more_is_better):
        """Adds a task whose rounds gave figures: Frazil's and PostgreSQL's, and perhaps the floor's."""
        ratios = [[of / theirs if more_is_better else theirs / of for of in (ours, *floor)] for ours, theirs, *floor in rounds]
        ratio, *floor = (math.exp(statistics.fmean(map(math.log, of))) for of in zip(*ratios))
        ours, theirs, *_ = (statistics.median(of) for of in zip(*rounds))
        is_reachable = not floor or floor[0] >= bound
        self.missed += ratio < bound and is_reachable
        verdict = "" if ratio >= bound else "  missed" if is_reachable else "  no server reaches the bound"
        shown = f"{floor[0]:7.2f}" if floor else " " * 7
        print(f"{task + ', ' + unit:42} {ours:12,.2f} {theirs:12,.2f} {ratio:7.2f} {bound:6} {shown}{verdict}", flush=True)


def in_turns(servers, rounds, work):
    """What some work gives on each server in each round. The server that begins changes from round to round."""
    found = []
    for number in range(rounds):
        order = servers if number % 2 == 0 else servers[::-1]
        figures = {server.name: work(server) for server in order}
        found.append(tuple(figures[server.name] for server in servers))
    return found


def seconds(work):
    begun = time.perf_counter()
    work()
    return time.perf_counter() - begun


def pgbench(servers, options, table):
    for server in servers:
        subprocess.run([server.programs / "pgbench", *server.address(), "-i", "-q", "-s", str(options.scale), "bench"], check=True, stderr=subprocess.DEVNULL)

    def run(server, *more):
        given = [server.programs / "pgbench", *server.address(), "-n", "-M", "prepared", "-T", str(options.seconds), *more, "bench"]
        said = subprocess.run(given, check=True, capture_output=True, text=True).stdout
        return float(re.search(r"tps = ([\d.]+)", said)[1])

    for task, bound, more in [("pgbench -S, 1 client", 1, ["-S"]), ("pgbench -S, 16 clients", 1, ["-S", "-c", "16", "-j", "2"]),
                              ("pgbench TPC-B, 16 clients", 1, ["-c", "16", "-j", "2"])]:
        table.line(task, "transactions/s", in_turns(servers, options.rounds, lambda s: run(s, *more)), bound, True)  # noqa: B023


def select(servers, options, table):
    rows = options.rows
    for server in servers:
        with server.connect() as connection:
            connection.execute(WIDE[0])
            connection.execute(WIDE[1].format(rows=rows))
            connection.execute("vacuum" if server.name == "PostgreSQL" else "select 1")

    def by_psycopg(server, work):
        with server.connect() as connection:
            cursor, backend = connection.cursor(binary=True), connection.info.backend_pid
            before = server.processor(backend)
            return seconds(lambda: work(cursor.execute("select * from wide"))), server.processor(backend) - before

    def by_adbc(server):
        where = f"postgresql://postgres@127.0.0.1:{server.port}/bench?sslmode=disable&gssencmode=disable"
        with adbc.connect(where) as connection, connection.cursor() as cursor:
            cursor.execute("select pg_backend_pid()")
            backend = cursor.fetchone()[0]

            def fetch():
                cursor.execute("select * from wide")
                cursor.fetch_arrow_table()

            before = server.processor(backend)
            return seconds(fetch), server.processor(backend) - before

    def measured(task, work):
        floor = Floor(servers[0], work)
        try:
            rounds = in_turns([*servers, floor], options.rounds, work)
        finally:
            floor.stop()
        name = f"select of {rows:,} rows, {task}"
        table.line(name, "s", [[wall for wall, _ in of] for of in rounds], 2, False)
        table.line(f"  {task}, server", "processor s", [[max(of, 0.01) for _, of in both[:2]] for both in rounds], 2, False)

    # Rows in the driver's memory, and none of them as Python's values.
    measured("psycopg execute", lambda server: by_psycopg(server, lambda cursor: cursor))
    measured("psycopg fetchall", lambda server: by_psycopg(server, lambda cursor: len(cursor.fetchall())))
    try:
        import adbc_driver_postgresql.dbapi as adbc
    except ImportError:
        print("ADBC is not installed")
        return
    measured("ADBC", by_adbc)


def copy(servers, options, table, directory):
    rows = 5 * options.rows
    wide = directory / "wide.csv"
    for server in servers:
        with server.connect() as connection:
            connection.execute("create table source as select i as a, i::bigint * 1000000 as b, 'text of ' || i as g, date '2000-01-01' + "
                               f"i % 5000 as e from generate_series(1, {rows}) i")
            connection.execute("create table target (a integer, b bigint, g text, e date)")

    def out(server):
        with open(wide, "w") as file:
            return seconds(lambda: server.psql("copy source to stdout (format csv)", stdout=file))

    def back(server):
        with server.connect() as connection:
            connection.execute("truncate target")
        with open(wide) as file:
            return seconds(lambda: server.psql("copy target from stdin (format csv)", stdin=file))

    table.line(f"COPY of {rows:,} rows out", "s", in_turns(servers, options.rounds, out), 2, False)
    table.line(f"COPY of {rows:,} rows in", "s", in_turns(servers, options.rounds, back), 2, False)


def tpch(servers, options, table, directory):
    tpch_data.SCALE_FACTOR = options.tpch
    data = directory / "tpch"
    data.mkdir()
    program = pathlib.Path(sys.executable).with_name("tpchgen-cli")
    subprocess.run([program, "csv", "-s", str(options.tpch), "-o", data], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    for server in servers:
        for name in tpch_data.TABLES:
            server.psql(tpch_data.ddl(name))
            with open(data / f"{name}.csv") as file:
                server.psql(f"copy {name} from stdin (format csv, header)", stdin=file)
        # Keys, as TPC-H has them; without them some queries of PostgreSQL do not end.
        for name, key in [("region", "r_regionkey"), ("nation", "n_nationkey"), ("supplier", "s_suppkey"), ("customer", "c_custkey"),
                          ("part", "p_partkey"), ("partsupp", "ps_partkey, ps_suppkey"), ("orders", "o_orderkey"),
                          ("lineitem", "l_orderkey, l_linenumber")]:
            server.psql(f"alter table {name} add primary key ({key})")
        server.psql("create index on lineitem (l_partkey, l_suppkey)")
        server.psql("analyze")

    def milliseconds(server, number):
        begun = time.perf_counter()
        try:
            limit = {"PGOPTIONS": f"-c statement_timeout={TPCH_LIMIT}"}
            server.psql(tpch_data.query(number), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env={**os.environ, **limit})
        except subprocess.CalledProcessError:
            return float(TPCH_LIMIT)
        return 1000 * (time.perf_counter() - begun)

    pairs = []
    for number in range(1, 23):
        milliseconds(servers[0], number)
        pairs += in_turns(servers, 1, lambda server: milliseconds(server, number))  # noqa: B023
        if options.verbose:
            print(f"  Q{number}: {pairs[-1][0]:.1f} ms, PostgreSQL {pairs[-1][1]:.1f} ms")
    table.line(f"TPC-H SF {options.tpch:g} by psql (median query)", "ms", pairs, 10, False)


def idle(options, table, directory):
    """Memory of idle connections, and a point query's time beside them."""
    count = options.idle
    resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
    server = frazil(options, directory, count + 20)
    try:
        with server.connect() as connection:
            connection.execute("create table point (id integer primary key, t text)")
            connection.execute("insert into point select i, 'text ' || i from generate_series(1, 100000) i")
        packet = b"\0\3\0\0user\0postgres\0database\0bench\0\0"

        def log_in(wanted):
            """Sessions that are logged in: fifty at a time, so that the queue of the socket holds them."""
            opened = []
            while len(opened) < wanted:
                batch = []
                for number in range(len(opened), min(len(opened) + 50, wanted)):
                    # One pair of addresses has too few ports for very many.
                    source = (f"127.0.0.{2 + number // 20000}", 0)
                    one = socket.create_connection(("127.0.0.1", server.port), timeout=60, source_address=source)
                    one.sendall((len(packet) + 4).to_bytes(4, "big") + packet)
                    batch.append(one)
                for one in batch:
                    said = b""
                    while not said.endswith(b"Z\0\0\0\5I"):
                        part = one.recv(16384)
                        if not part:
                            raise SystemExit(f"a login failed: {said!r}")
                        said += part
                opened += batch
            return opened

        def slowest():
            """Microseconds within which 99 of 100 point queries are answered."""
            times = []
            with server.connect() as connection:
                cursor = connection.cursor()
                for number in range(20_000):
                    times.append(seconds(lambda: cursor.execute("select t from point where id = %s", [number], prepare=True)))
            return 1e6 * statistics.quantiles(times, n=100)[98]

        few = log_in(10)
        slow_of_few = slowest()
        before = server.memory()
        many = log_in(count)
        time.sleep(12)
        # Threads that ran the logins have ended by now.
        each = (server.memory() - before) / count / 1024
        slow_of_many = slowest()
        table.missed += (each > 64) + (slow_of_many > 2 * slow_of_few)
        print(f"{count:,} idle connections: {each:.1f} KiB each (bound 64); p99 of a point query {slow_of_many:.0f} µs, with 10 "
              f"{slow_of_few:.0f} µs (bound 2 times)", flush=True)
        for one in few + many:
            one.close()
    finally:
        server.stop()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--frazil", required=True, type=pathlib.Path, help="Frazil's program")
    parser.add_argument("--postgres", default="/usr/lib/postgresql/15/bin", help="folder of PostgreSQL's programs")
    parser.add_argument("--postgres-user", default="postgres", help="user that runs PostgreSQL if this runs as root")
    parser.add_argument("--directory", help="folder for the data of both, on a disk; a temporary one by default")
    parser.add_argument("--only", default="pgbench,select,copy,tpch,idle", help="tasks, separated by commas")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=int, default=5, help="length of a run of pgbench")
    parser.add_argument("--scale", type=int, default=16, help="pgbench's scale")
    parser.add_argument("--rows", type=int, default=1_000_000, help="rows of the select; COPY has five times as many")
    parser.add_argument("--tpch", type=float, default=1, help="scale factor of TPC-H")
    parser.add_argument("--idle", type=int, default=9_900, help="idle connections")
    parser.add_argument("--verbose", action="store_true", help="print each query of TPC-H")
    options = parser.parse_args()
    options.frazil = options.frazil.resolve()
    Server.programs = pathlib.Path(options.postgres)
    only = options.only.split(",")
    table = Table()
    with tempfile.TemporaryDirectory(dir=options.directory) as directory:
        directory = pathlib.Path(directory)
        directory.chmod(0o755)
        if only != ["idle"]:
            servers = []
            try:
                servers = [frazil(options, directory)]
                servers.append(postgres(options, directory))
                for task, run in [("pgbench", pgbench), ("select", select)]:
                    if task in only:
                        run(servers, options, table)
                for task, run in [("copy", copy), ("tpch", tpch)]:
                    if task in only:
                        run(servers, options, table, directory)
            finally:
                for server in servers:
                    server.stop()
        if "idle" in only:
            idle(options, table, directory)
    return 1 if table.missed else 0


if __name__ == "__main__":
    sys.exit(main())
