"""Records what clients and the server say to each other, for `crates/server/tests/wire/recordings`.

Usage: python record.py PROGRAM FOLDER [CLIENT …], with Frazil's program, the folder of the recordings, and names of `short_steps.py`;
without names, every client that is installed. Each client has a server of its own, of an empty database in memory. FRAZIL_CLIENTS is the
folder of the clients that `cargo xtask clients` installed.

A line of the file is a message: `>` of the client or `<` of the server, behind the number of the connection if it is not the first,
then its type, and its content with bytes that are not printable as `\\xNN`. An answer of more than
`MOST_ROWS` rows is one of the catalogs, which grow: a line `<* ROWS FIELDS` has their least number and the number of their fields."""

import itertools
import pathlib
import socket
import subprocess
import sys
import threading

STEPS = pathlib.Path(__file__).parent / "short_steps.py"
MOST_ROWS = 150
ROW = b"D"
KEY = b"K"


def shown(content):
    return "".join(chr(b) if 32 < b < 127 and b != 92 else f"\\x{b:02x}" for b in content)


def exactly(stream, count):
    found = b""
    while len(found) < count:
        more = stream.recv(count - len(found))
        if not more:
            return None
        found += more
    return found


class Recording:
    """The messages of all connections, in the order in which they were seen: one of a client before the server has it."""

    def __init__(self):
        self.messages, self.lock = [], threading.Lock()

    def forward(self, number, source, target, arrow):
        """Forwards messages. The first of a client has no type."""
        is_packet = arrow == ">"
        while True:
            try:
                kind = b"" if is_packet else exactly(source, 1)
                length = exactly(source, 4) if kind is not None else None
                content = exactly(source, int.from_bytes(length, "big") - 4) if length else None
            except ConnectionError:
                content = None
            if content is None:
                break
            # The key by which a session is cancelled differs from run to run, and nobody compares it.
            kept = bytes(len(content)) if kind == KEY and arrow == "<" else content
            with self.lock:
                self.messages.append((number, arrow, kind, kept))
            try:
                target.sendall(kind + length + content)
            except OSError:
                # A client that has gone is told what it does not read.
                pass
            is_packet = False
        try:
            target.shutdown(socket.SHUT_WR)
        except OSError:
            pass

    def text(self):
        lines = []
        # Rows of one connection that other connections' messages do not part.
        for (number, arrow, kind), run in itertools.groupby(self.messages, key=lambda message: message[:3]):
            contents = [content for _, _, _, content in run]
            prefix = ("" if number == 1 else str(number)) + arrow
            if kind == ROW and len(contents) > MOST_ROWS:
                lines.append(f"{prefix}* {len(contents)} {int.from_bytes(contents[0][:2], 'big')}")
                continue
            lines += [f"{prefix} {kind.decode() or '-'} {shown(content)}".rstrip() for content in contents]
        return "\n".join(lines) + "\n"


def record(server_port, client):
    """What the client and the server say, or None if the client is not installed."""
    listener = socket.create_server(("127.0.0.1", 0))
    recording, threads = Recording(), []

    def accept():
        for number in itertools.count(1):
            try:
                there, _ = listener.accept()
            except OSError:
                return
            here = socket.create_connection(("127.0.0.1", server_port))
            for parts in ((there, here, ">"), (here, there, "<")):
                thread = threading.Thread(target=recording.forward, args=(number, *parts))
                thread.start()
                threads.append(thread)

    accepting = threading.Thread(target=accept)
    accepting.start()
    done = subprocess.run([sys.executable, str(STEPS), client, str(listener.getsockname()[1])], capture_output=True, text=True)
    listener.shutdown(socket.SHUT_RDWR)
    listener.close()
    accepting.join()
    for thread in threads:
        thread.join()
    if done.returncode == 77:
        return None
    if done.returncode != 0:
        raise SystemExit(f"{client}: {done.stderr}{done.stdout}")
    return recording.text()


def main(program, folder, *clients):
    sys.path.insert(0, str(STEPS.parent))
    import short_steps

    for client in clients or short_steps.CLIENTS:
        command = [program, "serve", "--listen", "127.0.0.1:0", "--trust-loopback"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
            try:
                line = server.stdout.readline()
                found = record(int(line.split(" at 127.0.0.1:")[1].split()[0]), client)
            finally:
                server.kill()
        if found is None:
            print(f"{client} is not installed")
            continue
        (pathlib.Path(folder) / f"{client}.txt").write_text(found)
        print(f"{client}: {len(found):,} bytes")


if __name__ == "__main__":
    main(*sys.argv[1:])
