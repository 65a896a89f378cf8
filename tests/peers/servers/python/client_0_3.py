"""The client of the Python a2a-sdk 0.3, unmodified: it makes the calls that it is told to, one after the other.

    python client_0_3.py http://127.0.0.1:PORT '[["JSONRPC", "unary", "task"], …]'

Prints one JSON array: for each call what came, in words, and the error that it ended with.
"""
import asyncio
import json
import sys
import uuid

import grpc
import httpx

from a2a.client import A2ACardResolver, ClientConfig, ClientFactory
from a2a.client.errors import A2AClientHTTPError, A2AClientJSONRPCError
from a2a.types import Message, Part, Role, TextPart


def texts(parts):
    return ''.join(getattr(part.root, 'text', '') for part in parts or [])


def words(event):
    """What one event says, without what differs from call to call."""
    if isinstance(event, Message):
        return f'message {texts(event.parts)}'
    task, update = event
    it = update or task
    status, artifact = getattr(it, 'status', None), getattr(it, 'artifact', None)
    said = texts(status.message.parts) if status and status.message else ''
    said += texts(artifact.parts) if artifact else ''
    if not update:
        said += ''.join(texts(artifact.parts) for artifact in task.artifacts or [])
    return f"{it.kind} {status.state.value if status else ''} {said}"


def told(error):
    """The error in the SDK's words, and what is behind it; over gRPC the SDK leaves it as it is."""
    name, message, metadata = type(error).__name__, str(error), {}
    if isinstance(error, A2AClientJSONRPCError):
        name = f'{name} {error.error.code}'
        if isinstance(error.error.data, dict):
            metadata = error.error.data['details'][0]['metadata']
    elif isinstance(error, A2AClientHTTPError):
        name = f'{name} {error.status_code}'
    elif isinstance(error, grpc.aio.AioRpcError):
        name, message = f'{name} {error.code().name}', error.details()
    return {'error': name, 'message': message, 'outcome': metadata.get('outcome'), 'class': metadata.get('class')}


async def call(url, binding, mode, text):
    events = []
    async with httpx.AsyncClient(timeout=60) as http:
        config = ClientConfig(
            streaming=mode == 'stream', httpx_client=http, supported_transports=[binding],
            grpc_channel_factory=grpc.aio.insecure_channel)
        try:
            card = await A2ACardResolver(http, url).get_agent_card()
            client = ClientFactory(config).create(card)
            message = Message(message_id=str(uuid.uuid4()), role=Role.user, parts=[Part(root=TextPart(text=text))])
            async for event in client.send_message(message):
                events.append(words(event))
        except Exception as error:
            return {'events': events, **told(error)}
    return {'events': events}


async def main():
    answers = [await call(sys.argv[1], *words) for words in json.loads(sys.argv[2])]
    print(json.dumps(answers), flush=True)


asyncio.run(main())
