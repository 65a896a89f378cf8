"""Agents on the Python a2a-sdk 1.3 that do what the text of a message says. One process, an agent for each profile.

    python agent_1_3.py full bare auth ext-missing compat

The first line on standard output is a JSON object: the ports of each profile.
"""
import asyncio
import sys

import grpc
import uvicorn
from starlette.applications import Starlette
from starlette.authentication import AuthCredentials, AuthenticationBackend, AuthenticationError, SimpleUser
from starlette.middleware import Middleware
from starlette.middleware.authentication import AuthenticationMiddleware

from a2a.compat.v0_3 import a2a_v0_3_pb2_grpc
from a2a.compat.v0_3.grpc_handler import CompatGrpcHandler
from a2a.server.agent_execution import AgentExecutor
from a2a.server.request_handlers import DefaultRequestHandler, GrpcHandler
from a2a.server.routes import create_agent_card_routes, create_jsonrpc_routes, create_rest_routes
from a2a.server.tasks import InMemoryPushNotificationConfigStore, InMemoryTaskStore, TaskUpdater
from a2a.types import (
    AgentCapabilities, AgentCard, AgentInterface, AgentSkill, Message, Part, Role, Task, TaskState, TaskStatus,
    TaskStatusUpdateEvent, a2a_pb2_grpc,
)
from a2a.utils.errors import ContentTypeNotSupportedError

from listening import announce, end_with_parent, listener


class Behaviours(AgentExecutor):
    async def cancel(self, context, event_queue):
        await TaskUpdater(event_queue, context.task_id, context.context_id).cancel()

    async def execute(self, context, event_queue):
        text = (context.get_user_input() or '').strip()
        verb, _, arg = text.partition(':')
        tid, cid = context.task_id, context.context_id
        up = TaskUpdater(event_queue, tid, cid)

        def say(t):
            return up.new_agent_message(parts=[Part(text=t)])

        async def begin():
            if context.current_task is None:
                await event_queue.enqueue_event(Task(
                    id=tid, context_id=cid,
                    status=TaskStatus(state=TaskState.TASK_STATE_SUBMITTED),
                    history=[context.message]))
            await up.start_work(message=say('working'))

        if context.current_task is not None and verb not in ('input', 'auth'):
            await up.start_work()
            await up.complete(message=say('resumed: ' + text))
            return
        if verb == 'message':
            await event_queue.enqueue_event(Message(
                role=Role.ROLE_AGENT, message_id='agent-msg-1', context_id=cid,
                parts=[Part(text='hello')]))
        elif verb == 'task':
            await begin()
            await asyncio.sleep(0.2)
            await up.add_artifact(parts=[Part(text='result')], name='out', last_chunk=True)
            await up.complete(message=say('done'))
        elif verb == 'big':
            await begin()
            await up.add_artifact(parts=[Part(text='x' * int(arg))], name='out')
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
            await up.requires_input(message=say('which one?'))
        elif verb == 'auth':
            await begin()
            await up.requires_auth(message=say('log in please'))
        elif verb == 'crash0':
            raise RuntimeError('boom before any event')
        elif verb == 'crash':
            await begin()
            await asyncio.sleep(0.3)
            raise RuntimeError('boom mid-stream')
        elif verb == 'typed0':
            raise ContentTypeNotSupportedError(message='only text please')
        elif verb == 'typed':
            await begin()
            raise ContentTypeNotSupportedError(message='only text please')
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
                task_id=tid, context_id=cid,
                status=TaskStatus(state=TaskState.TASK_STATE_WORKING)))
        else:
            await event_queue.enqueue_event(Message(
                role=Role.ROLE_AGENT, message_id='agent-msg-2', context_id=cid,
                parts=[Part(text='echo: ' + text)]))


class Bearer(AuthenticationBackend):
    async def authenticate(self, conn):
        if conn.url.path.startswith('/.well-known'):
            return None
        if conn.headers.get('authorization') != 'Bearer good':
            raise AuthenticationError('invalid token')
        return AuthCredentials(['authenticated']), SimpleUser('alice')


def card(profile, port, grpc_port, old_grpc_port):
    able = profile != 'bare'
    interfaces = []
    for version in ['1.0', '0.3'] if profile == 'compat' else ['1.0']:
        at = grpc_port if version == '1.0' else old_grpc_port
        interfaces += [
            AgentInterface(protocol_binding='JSONRPC', protocol_version=version, url=f'http://127.0.0.1:{port}/rpc'),
            AgentInterface(protocol_binding='HTTP+JSON', protocol_version=version, url=f'http://127.0.0.1:{port}/rest'),
            AgentInterface(protocol_binding='GRPC', protocol_version=version, url=f'http://127.0.0.1:{at}'),
        ]
    return AgentCard(
        name='scripted agent', description='does what the text of a message says', version='1.0.0',
        supported_interfaces=interfaces,
        capabilities=AgentCapabilities(streaming=able, push_notifications=able, extended_agent_card=able),
        default_input_modes=['text/plain'], default_output_modes=['text/plain'],
        skills=[AgentSkill(id='script', name='script', description='follows the verb in the text', tags=['test'])])


async def serve(profile):
    """Starts the agent of one profile; gives its ports, and what keeps it running."""
    bound, port = listener()
    server, old_server = grpc.aio.server(), grpc.aio.server()
    grpc_port = server.add_insecure_port('127.0.0.1:0')
    ports = {'http': port, 'grpc': grpc_port}
    compat = profile == 'compat'
    if compat:
        ports['old_grpc'] = old_server.add_insecure_port('127.0.0.1:0')
    shown = card(profile, port, grpc_port, ports.get('old_grpc'))
    extended = None
    if profile in ('full', 'auth', 'compat'):
        extended = AgentCard()
        extended.CopyFrom(shown)
        extended.name = 'scripted agent (extended)'
    handler = DefaultRequestHandler(
        agent_executor=Behaviours(), task_store=InMemoryTaskStore(), agent_card=shown,
        push_config_store=InMemoryPushNotificationConfigStore() if profile != 'bare' else None,
        extended_agent_card=extended)
    app = Starlette(
        routes=[
            *create_agent_card_routes(shown),
            *create_jsonrpc_routes(handler, '/rpc', enable_v0_3_compat=compat),
            *create_rest_routes(handler, path_prefix='/rest', enable_v0_3_compat=compat),
        ],
        middleware=[Middleware(AuthenticationMiddleware, backend=Bearer())] if profile == 'auth' else [])
    a2a_pb2_grpc.add_A2AServiceServicer_to_server(GrpcHandler(handler), server)
    await server.start()
    if compat:
        a2a_v0_3_pb2_grpc.add_A2AServiceServicer_to_server(CompatGrpcHandler(handler), old_server)
        await old_server.start()
    running = uvicorn.Server(uvicorn.Config(app, log_level='warning')).serve(sockets=[bound])
    return ports, running, (server, old_server)


async def main():
    end_with_parent()
    started = {profile: await serve(profile) for profile in sys.argv[1:]}
    announce({profile: ports for profile, (ports, _, _) in started.items()})
    await asyncio.gather(*(running for _, running, _ in started.values()))


asyncio.run(main())
