"""The client of the Python a2a-sdk 1.3, unmodified: it makes the calls that it is told to, one after the other.

    python client_1_3.py http://127.0.0.1:PORT '[["JSONRPC", "unary", "task"], …]'

Prints one JSON array: for each call what came, in words, and the error that it ended with.
"""
import asyncio
import json
import sys
import uuid

import grpc
from google.protobuf.json_format import MessageToDict

from a2a.client import ClientConfig, ClientFactory
from a2a.types import Message, Part, Role, SendMessageRequest


def texts(parts):
    return ''.join(part.get('text', '') for part in parts or [])


def words(event):
    """What one event says, without what differs from call to call."""
    event = MessageToDict(event)
    for kind, it in event.items():
        status = it.get('status', {})
        said = texts(it.get('parts')) + texts(it.get('artifact', {}).get('parts'))
        said += texts(status.get('message', {}).get('parts'))
        said += ''.join(texts(artifact.get('parts')) for artifact in it.get('artifacts', []))
        return f"{kind} {status.get('state', '')} {said}"


async def call(url, binding, mode, text):
    config = ClientConfig(
        streaming=mode == 'stream', supported_protocol_bindings=[binding], grpc_channel_factory=grpc.aio.insecure_channel)
    events = []
    try:
        client = await ClientFactory(config).create_from_url(url)
        message = Message(message_id=str(uuid.uuid4()), role=Role.ROLE_USER, parts=[Part(text=text)])
        async for event in client.send_message(SendMessageRequest(message=message)):
            events.append(words(event))
    except Exception as error:
        data = getattr(error, 'data', None) or {}
        return {
            'events': events,
            'error': type(error).__name__,
            'message': str(error),
            'outcome': data.get('outcome'),
            'class': data.get('class'),
        }
    return {'events': events}


async def main():
    answers = [await call(sys.argv[1], *words) for words in json.loads(sys.argv[2])]
    print(json.dumps(answers), flush=True)


asyncio.run(main())
