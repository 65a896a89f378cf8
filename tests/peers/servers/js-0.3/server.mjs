// Agents on @a2a-js/sdk 0.3 that do what the text of a message says. One process, an agent for each profile.
//
//     node server.mjs full bare auth ext-missing
//
// The first line on standard output is a JSON object: the ports of each profile.
import { createServer } from 'node:http';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import express from 'express';
import grpc from '@grpc/grpc-js';
import * as S from '@a2a-js/sdk/server';
import { UserBuilder, agentCardHandler, jsonRpcHandler, restHandler } from '@a2a-js/sdk/server/express';
import { grpcService, A2AService } from '@a2a-js/sdk/server/grpc';

const part = (t) => ({ kind: 'text', text: t });
const msg = (t, tid, cid) => ({ kind: 'message', messageId: randomUUID(), contextId: cid, ...(tid ? { taskId: tid } : {}), role: 'agent', parts: [part(t)] });
const FINAL = new Set(['completed', 'failed', 'canceled', 'rejected', 'input-required', 'auth-required']);

class Behaviours {
  ctx = new Map();
  cancelTask = async (tid, bus) => {
    bus.publish({ kind: 'status-update', taskId: tid, contextId: this.ctx.get(tid) ?? '', status: { state: 'canceled', timestamp: new Date().toISOString() }, final: true });
    bus.finished();
  };
  execute = async (rc, bus) => {
    const p = rc.userMessage.parts[0];
    const text = (p?.kind === 'text' ? p.text : '').trim();
    const [verb, arg] = text.split(':');
    const tid = rc.taskId, cid = rc.contextId;
    this.ctx.set(tid, cid);
    const status = (s, t) => bus.publish({ kind: 'status-update', taskId: tid, contextId: cid, status: { state: s, ...(t ? { message: msg(t, tid, cid) } : {}), timestamp: new Date().toISOString() }, final: FINAL.has(s) });
    const begin = () => { bus.publish({ kind: 'task', id: tid, contextId: cid, status: { state: 'submitted', timestamp: new Date().toISOString() }, history: [rc.userMessage], artifacts: [] }); status('working', 'working'); };
    const artifact = (t) => bus.publish({ kind: 'artifact-update', taskId: tid, contextId: cid, artifact: { artifactId: 'a1', name: 'out', parts: [part(t)] }, append: false, lastChunk: true });
    if (rc.task && verb !== 'input' && verb !== 'auth') {
      status('working'); status('completed', 'resumed: ' + text); bus.finished(); return;
    }
    switch (verb) {
      case 'message': bus.publish(msg('hello', '', cid)); break;
      case 'task': begin(); await sleep(200); artifact('result'); status('completed', 'done'); break;
      case 'big': begin(); artifact('x'.repeat(+arg)); status('completed', 'done'); break;
      case 'slow': begin(); for (let i = 0; i < (+arg || 3); i++) { await sleep(1000); status('working', `tick ${i + 1}`); } status('completed', 'done'); break;
      case 'quiet': begin(); await sleep((+arg || 20) * 1000); status('completed', 'done'); break;
      case 'fail': begin(); status('failed', 'it failed'); break;
      case 'reject': begin(); status('rejected', 'refused'); break;
      case 'input': begin(); status('input-required', 'which one?'); break;
      case 'auth': begin(); status('auth-required', 'log in please'); break;
      case 'crash0': throw new Error('boom before any event');
      case 'crash': begin(); await sleep(300); throw new Error('boom mid-stream');
      case 'typed0': throw S.A2AError.unsupportedOperation('only text please');
      case 'typed': begin(); throw S.A2AError.unsupportedOperation('only text please');
      case 'hang0': await sleep(3600000); break;
      case 'hang': begin(); await sleep(3600000); break;
      case 'empty': break;
      case 'unfinished': begin(); break;
      case 'badfirst': status('working', 'status before task'); status('completed'); break;
      case 'after': begin(); status('completed', 'done'); status('working', 'late'); break;
      default: bus.publish(msg('echo: ' + text, '', cid));
    }
    bus.finished();
  };
}


// The parent ends this process by closing its standard input, and is told on standard output which profile listens where.
function endWithParent() {
  process.stdin.resume();
  process.stdin.on('end', () => process.exit(0));
}
const listen = (server) => new Promise((done, failed) => {
  server.on('error', failed);
  server.listen(0, '127.0.0.1', () => done(server.address().port));
});
const bind = (server) => new Promise((done, failed) => {
  server.bindAsync('127.0.0.1:0', grpc.ServerCredentials.createInsecure(), (error, port) => (error ? failed(error) : done(port)));
});

function card(profile, port, grpcPort) {
  const able = profile !== 'bare';
  const base = `http://127.0.0.1:${port}`;
  return {
    name: 'scripted agent', description: 'does what the text of a message says', protocolVersion: '0.3.0', version: '1.0.0',
    url: `${base}/rpc`, preferredTransport: 'JSONRPC',
    additionalInterfaces: [
      { url: `${base}/rpc`, transport: 'JSONRPC' },
      { url: `${base}/rest`, transport: 'HTTP+JSON' },
      { url: `http://127.0.0.1:${grpcPort}`, transport: 'GRPC' },
    ],
    capabilities: { streaming: able, pushNotifications: able }, supportsAuthenticatedExtendedCard: able,
    defaultInputModes: ['text/plain'], defaultOutputModes: ['text/plain'],
    skills: [{ id: 'script', name: 'script', description: 'follows the verb in the text', tags: ['test'] }],
  };
}

async function serve(profile) {
  const app = express();
  const http = createServer(app);
  const server = new grpc.Server();
  const [port, grpcPort] = [await listen(http), await bind(server)];
  const shown = card(profile, port, grpcPort);
  const push = profile !== 'bare' ? new S.InMemoryPushNotificationStore() : undefined;
  const extended = ['full', 'auth'].includes(profile) ? { ...shown, name: 'scripted agent (extended)' } : undefined;
  const requestHandler = new S.DefaultRequestHandler(shown, new S.InMemoryTaskStore(), new Behaviours(), undefined, push,
    push ? new S.DefaultPushNotificationSender(push) : undefined, extended);
  // A builder that throws is the SDK's own hook for authentication.
  const userBuilder = profile !== 'auth' ? UserBuilder.noAuthentication : async (request) => {
    const given = request.headers?.authorization ?? request.metadata?.get?.('authorization')?.[0];
    if (given !== 'Bearer good') throw new Error('invalid token');
    return { isAuthenticated: true, userName: 'alice' };
  };
  app.use('/.well-known/agent-card.json', agentCardHandler({ agentCardProvider: requestHandler }));
  app.use('/rpc', jsonRpcHandler({ requestHandler, userBuilder }));
  app.use('/rest', restHandler({ requestHandler, userBuilder }));
  server.addService(A2AService, grpcService({ requestHandler, userBuilder }));
  return { http: port, grpc: grpcPort };
}

endWithParent();
const ports = {};
for (const profile of process.argv.slice(2)) ports[profile] = await serve(profile);
console.log(JSON.stringify(ports));
