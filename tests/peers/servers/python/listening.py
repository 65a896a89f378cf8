"""What both programs share: sockets of their own, one line that says where they are, and an end with the parent's."""
import json
import os
import socket
import sys
import threading


def listener():
    """A listening socket on a free loopback port, and the port."""
    bound = socket.create_server(('127.0.0.1', 0), backlog=256)
    return bound, bound.getsockname()[1]


def announce(ports):
    """Tells the parent, on standard output, which profile listens where."""
    print(json.dumps(ports), flush=True)


def end_with_parent():
    """Ends the process when its standard input does: SIGTERM would leave it up for as long as a request hangs."""

    def watch():
        sys.stdin.buffer.read()
        os._exit(0)

    threading.Thread(target=watch, daemon=True).start()
