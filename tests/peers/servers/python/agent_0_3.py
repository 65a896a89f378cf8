"""Agents on the Python a2a-sdk 0.3 that do what the text of a message says. One process, an agent for each profile.

    python agent_0_3.py full bare auth ext-missing

The first line on standard output is a JSON object: the ports of each profile.
"""
import asyncio
import sys

import grpc
import uvicorn
from starlette.authentication import AuthCredentials, AuthenticationBackend, AuthenticationError, SimpleUser
from starlette.middleware.authentication import AuthenticationMiddleware

from a2a.grpc import a2a_pb2_grpc
from a2a.server.agent_execution import AgentExecutor
from a2a.server.apps import A2ARESTFastAPIApplication, A2AStarletteApplication
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.request_handlers.grpc_handler import GrpcHandler
from a2a.server.tasks import InMemoryPushNotificationConfigStore, InMemoryTaskStore, TaskUpdater
from a2a.types import (
    AgentCapabilities, AgentCard, AgentInterface, AgentSkill, ContentTypeNotSupportedError, Message, Part, Role, Task,
    TaskState, TaskStatus, TaskStatusUpdateEvent, TextPart,
)
from a2a.utils.errors import ServerError

from listening import announce, end_with_parent, listener


def T(t):
    return Part(root=TextPart(text=t))


class Behaviours(AgentExecutor):
    async def cancel(self, context, event_queue):
        await TaskUpdater(event_queue, context.task_id, context.context_id).cancel()

    async def execute(self, context, event_queue):
        text = (context.get_user_input() or '').strip()
        verb, _, arg = text.partition(':')
        tid, cid = context.task_id, context.context_id
        up = TaskUpdater(event_queue, tid, cid)

        def say(t):
            return up.new_agent_message(parts=[T(t)])

        async def begin():
            if context.current_task is None:
                await event_queue.enqueue_event(Task(
                    id=tid, context_id=cid, status=TaskStatus(state=TaskState.submitted),
                    history=[context.message]))
            await up.start_work(message=say('working'))

        if context.current_task is not None and verb not in ('input', 'auth'):
            await up.start_work()
            await up.complete(message=say('resumed: ' + text))
            return
        if verb == 'message':
            await event_queue.enqueue_event(Message(
                role=Role.agent, message_id='agent-msg-1', context_id=cid, parts=[T('hello')]))
        elif verb == 'task':
            await begin()
            await asyncio.sleep(0.2)
            await up.add_artifact(parts=[T('result')], name='out', last_chunk=True)
            await up.complete(message=say('done'))
        elif verb == 'big':
            await begin()
            await up.add_artifact(parts=[T('x' * int(arg))], name='out')
            await up.complete()
        elif verb == 'slow':
            await begin()
            for i in range(int(arg or 3)):
                await asyncio.sleep(1)
                await up.start_work(message=say(f'tick {i + 1}'))
            await up.complete(message=say('done'))
        elif verb == 'quiet':
            await begin()
            await asyncio.sleep(float(arg or 20))
            await up.complete(message=say('done'))
        elif verb == 'fail':
            await begin()
            await up.failed(message=say('it failed'))
        elif verb == 'reject':
            await begin()
            await up.reject(message=say('refused'))
        elif verb == 'input':
            await begin()
            await up.requires_input(message=say('which one?'), final=True)
        elif verb == 'auth':
            await begin()
            await up.requires_auth(message=say('log in please'), final=True)
        elif verb == 'crash0':
            raise RuntimeError('boom before any event')
        elif verb == 'crash':
            await begin()
            # Whoever has not read an event by the time of an exception never gets it: the SDK raises first.
            await asyncio.sleep(2)
            raise RuntimeError('boom mid-stream')
        elif verb == 'typed0':
            raise ServerError(error=ContentTypeNotSupportedError(message='only text please'))
        elif verb == 'typed':
            await begin()
            raise ServerError(error=ContentTypeNotSupportedError(message='only text please'))
        elif verb == 'hang0':
            await asyncio.sleep(3600)
        elif verb == 'hang':
            await begin()
            await asyncio.sleep(3600)
        elif verb == 'empty':
            return
        elif verb == 'unfinished':
            await begin()
            return
        elif verb == 'badfirst':
            await up.start_work(message=say('status before task'))
            await up.complete()
        elif verb == 'after':
            await begin()
            await up.complete(message=say('done'))
            await event_queue.enqueue_event(TaskStatusUpdateEvent(
                task_id=tid, context_id=cid, status=TaskStatus(state=TaskState.working), final=False))
        else:
            await event_queue.enqueue_event(Message(
                role=Role.agent, message_id='agent-msg-2', context_id=cid, parts=[T('echo: ' + text)]))


class Bearer(AuthenticationBackend):
    async def authenticate(self, conn):
        if conn.url.path.startswith('/.well-known'):
            return None
        if conn.headers.get('authorization') != 'Bearer good':
            raise AuthenticationError('invalid token')
        return AuthCredentials(['authenticated']), SimpleUser('alice')


def card(profile, port, grpc_port):
    able = profile != 'bare'
    base = f'http://127.0.0.1:{port}'
    return AgentCard(
        name='scripted agent', description='does what the text of a message says', version='1.0.0',
        url=f'{base}/', preferred_transport='JSONRPC', protocol_version='0.3.0',
        additional_interfaces=[
            AgentInterface(transport='JSONRPC', url=f'{base}/'),
            AgentInterface(transport='HTTP+JSON', url=f'{base}/rest'),
            AgentInterface(transport='GRPC', url=f'http://127.0.0.1:{grpc_port}')],
        capabilities=AgentCapabilities(streaming=able, push_notifications=able),
        supports_authenticated_extended_card=able,
        default_input_modes=['text/plain'], default_output_modes=['text/plain'],
        skills=[AgentSkill(id='script', name='script', description='follows the verb in the text', tags=['test'])])


async def serve(profile):
    """Starts the agent of one profile; gives its ports, and what keeps it running."""
    bound, port = listener()
    server = grpc.aio.server()
    grpc_port = server.add_insecure_port('127.0.0.1:0')
    shown = card(profile, port, grpc_port)
    extended = None
    if profile in ('full', 'auth'):
        extended = shown.model_copy(update={'name': 'scripted agent (extended)'})
    handler = DefaultRequestHandler(
        agent_executor=Behaviours(), task_store=InMemoryTaskStore(),
        push_config_store=InMemoryPushNotificationConfigStore() if profile != 'bare' else None)
    parts = {'agent_card': shown, 'http_handler': handler, 'extended_agent_card': extended}
    app = A2AStarletteApplication(**parts).build()
    app.mount('/rest', A2ARESTFastAPIApplication(**parts).build())
    if profile == 'auth':
        app.add_middleware(AuthenticationMiddleware, backend=Bearer())
    a2a_pb2_grpc.add_A2AServiceServicer_to_server(GrpcHandler(shown, handler), server)
    await server.start()
    running = uvicorn.Server(uvicorn.Config(app, log_level='warning')).serve(sockets=[bound])
    return {'http': port, 'grpc': grpc_port}, running, server


async def main():
    end_with_parent()
    started = {profile: await serve(profile) for profile in sys.argv[1:]}
    announce({profile: ports for profile, (ports, _, _) in started.items()})
    await asyncio.gather(*(running for _, running, _ in started.values()))


asyncio.run(main())
