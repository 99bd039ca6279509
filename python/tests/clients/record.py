"""Records what a client and the server say to each other, for `crates/server/tests/wire/recordings`.

Usage: python record.py SERVER_PORT CLIENT FILE, with one of the clients of `short_steps.py`. A line of the file is a message: `>` of
the client or `<` of the server, its type, and its content with bytes that are not printable as `\\xNN`."""

import pathlib
import socket
import subprocess
import sys
import threading

STEPS = pathlib.Path(__file__).parent / "short_steps.py"


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


def forward(source, target, arrow, lines, lock, is_packet):
    """Forwards messages. The first of a client has no type."""
    while True:
        kind = b"" if is_packet else exactly(source, 1)
        length = exactly(source, 4) if kind is not None else None
        content = exactly(source, int.from_bytes(length, "big") - 4) if length else None
        if content is None:
            break
        with lock:
            lines.append(f"{arrow} {kind.decode() or '-'} {shown(content)}".rstrip())
        target.sendall(kind + length + content)
        is_packet = False
    try:
        target.shutdown(socket.SHUT_WR)
    except OSError:
        pass


def main(server_port, client, file):
    listener = socket.create_server(("127.0.0.1", 0))
    lines, lock = [], threading.Lock()

    def accept():
        there, _ = listener.accept()
        here = socket.create_connection(("127.0.0.1", int(server_port)))
        asks = threading.Thread(target=forward, args=(there, here, ">", lines, lock, True))
        asks.start()
        forward(here, there, "<", lines, lock, False)
        asks.join()

    accepting = threading.Thread(target=accept)
    accepting.start()
    subprocess.run([sys.executable, str(STEPS), client, str(listener.getsockname()[1])], check=True)
    accepting.join()
    pathlib.Path(file).write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
