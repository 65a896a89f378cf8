// Agents on @a2a-js/sdk 1.3 that do what the text of a message says. One process, an agent for each profile.
//
//     node server.mjs full bare auth ext-missing compat
//
// The first line on standard output is a JSON object: the ports of each profile.
import { createServer } from 'node:http';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import express from 'express';
import grpc from '@grpc/grpc-js';
import * as S from '@a2a-js/sdk/server';
import * as E from '@a2a-js/sdk/errors';
import { UserBuilder, agentCardHandler, jsonRpcHandler, restHandler } from '@a2a-js/sdk/server/express';
import { grpcService, A2AService } from '@a2a-js/sdk/server/grpc';
import { legacyGrpcService, LegacyA2AService } from '@a2a-js/sdk/compat/v0_3/server/grpc';

const ST = { submitted: 1, working: 2, completed: 3, failed: 4, canceled: 5, input: 6, rejected: 7, auth: 8 };
const part = (t) => ({ content: { $case: 'text', value: t }, metadata: undefined, filename: '', mediaType: 'text/plain' });
const msg = (t, tid, cid) => ({ messageId: randomUUID(), contextId: cid, taskId: tid ?? '', role: 2, parts: [part(t)], metadata: undefined, extensions: [], referenceTaskIds: [] });

const ContentType = E.ContentTypeNotSupportedError;

class Behaviours {
  async cancelTask(tid, bus) {
    bus.publish(S.AgentEvent.statusUpdate({ taskId: tid, contextId: this.ctx?.get(tid) ?? '', status: { state: ST.canceled, message: undefined, timestamp: new Date().toISOString() }, metadata: undefined }));
    bus.finished();
  }
  ctx = new Map();
  async execute(rc, bus) {
    const p = rc.userMessage.parts[0];
    const text = (p?.content?.$case === 'text' ? p.content.value : '').trim();
    const [verb, arg] = text.split(':');
    const tid = rc.taskId, cid = rc.contextId;
    this.ctx.set(tid, cid);
    const status = (s, t) => bus.publish(S.AgentEvent.statusUpdate({ taskId: tid, contextId: cid, status: { state: ST[s], message: t ? msg(t, tid, cid) : undefined, timestamp: new Date().toISOString() }, metadata: undefined }));
    const task = (s) => bus.publish(S.AgentEvent.task({ id: tid, contextId: cid, status: { state: ST[s], message: undefined, timestamp: new Date().toISOString() }, artifacts: [], history: [rc.userMessage], metadata: undefined }));
    const begin = () => { task('submitted'); status('working', 'working'); };
    const artifact = (t) => bus.publish(S.AgentEvent.artifactUpdate({ taskId: tid, contextId: cid, artifact: { artifactId: 'a1', name: 'out', description: '', parts: [part(t)], metadata: undefined, extensions: [] }, append: false, lastChunk: true, metadata: undefined }));
    if (rc.task && verb !== 'input' && verb !== 'auth') {
      task('working');
      status('completed', 'resumed: ' + text);
      bus.finished();
      return;
    }
    switch (verb) {
      case 'message': bus.publish(S.AgentEvent.message(msg('hello', '', cid))); break;
      case 'task': begin(); await sleep(200); artifact('result'); status('completed', 'done'); break;
      case 'big': begin(); artifact('x'.repeat(+arg)); status('completed', 'done'); break;
      case 'slow': begin(); for (let i = 0; i < (+arg || 3); i++) { await sleep(1000); status('working', `tick ${i + 1}`); } status('completed', 'done'); break;
      case 'quiet': begin(); await sleep((+arg || 20) * 1000); status('completed', 'done'); break;
      case 'fail': begin(); status('failed', 'it failed'); break;
      case 'reject': begin(); status('rejected', 'refused'); break;
      case 'input': begin(); status('input', 'which one?'); break;
      case 'auth': begin(); status('auth', 'log in please'); break;
      case 'crash0': throw new Error('boom before any event');
      case 'crash': begin(); await sleep(300); throw new Error('boom mid-stream');
      case 'typed0': throw new ContentType('only text please');
      case 'typed': begin(); throw new ContentType('only text please');
      case 'hang0': await sleep(3600000); break;
      case 'hang': begin(); await sleep(3600000); break;
      case 'empty': break;
      case 'unfinished': begin(); break;
      case 'badfirst': status('working', 'status before task'); status('completed'); break;
      case 'after': begin(); status('completed', 'done'); status('working', 'late'); break;
      default: bus.publish(S.AgentEvent.message(msg('echo: ' + text, '', cid)));
    }
    bus.finished();
  }
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
  const supportedInterfaces = (profile === 'compat' ? ['1.0', '0.3'] : ['1.0']).flatMap((protocolVersion) => [
    { url: `http://127.0.0.1:${port}/rpc`, protocolBinding: 'JSONRPC', tenant: '', protocolVersion },
    { url: `http://127.0.0.1:${port}/rest`, protocolBinding: 'HTTP+JSON', tenant: '', protocolVersion },
    { url: `http://127.0.0.1:${grpcPort}`, protocolBinding: 'GRPC', tenant: '', protocolVersion },
  ]);
  return {
    name: 'scripted agent', description: 'does what the text of a message says', version: '1.0.0', supportedInterfaces, provider: undefined,
    capabilities: { streaming: able, pushNotifications: able, extensions: [], extendedAgentCard: able },
    securitySchemes: {}, securityRequirements: [], defaultInputModes: ['text/plain'], defaultOutputModes: ['text/plain'], signatures: [],
    skills: [{ id: 'script', name: 'script', description: 'follows the verb in the text', tags: ['test'], examples: [], inputModes: [], outputModes: [], securityRequirements: [] }],
  };
}

async function serve(profile) {
  const app = express();
  const http = createServer(app);
  const server = new grpc.Server();
  const [port, grpcPort] = [await listen(http), await bind(server)];
  const shown = card(profile, port, grpcPort);
  const push = profile !== 'bare' ? new S.InMemoryPushNotificationStore() : undefined;
  const extended = ['full', 'auth', 'compat'].includes(profile) ? { ...shown, name: 'scripted agent (extended)' } : undefined;
  const requestHandler = new S.DefaultRequestHandler(shown, new S.InMemoryTaskStore(), new Behaviours(), undefined, push,
    push ? new S.DefaultPushNotificationSender(push) : undefined, extended);
  // A builder that throws is the SDK's own hook for authentication.
  const userBuilder = profile !== 'auth' ? UserBuilder.noAuthentication : async (request) => {
    const given = request.headers?.authorization ?? request.metadata?.get?.('authorization')?.[0];
    if (given !== 'Bearer good') throw new Error('invalid token');
    return { isAuthenticated: true, userName: 'alice' };
  };
  const legacy = profile === 'compat' ? { legacyCompat: { enabled: true } } : {};
  app.use('/.well-known/agent-card.json', agentCardHandler({ agentCardProvider: requestHandler, ...legacy }));
  app.use('/rpc', jsonRpcHandler({ requestHandler, userBuilder, ...legacy }));
  app.use('/rest', restHandler({ requestHandler, userBuilder, ...legacy }));
  server.addService(A2AService, grpcService({ requestHandler, userBuilder }));
  if (profile === 'compat') server.addService(LegacyA2AService, legacyGrpcService({ requestHandler, userBuilder }));
  return { http: port, grpc: grpcPort };
}

endWithParent();
const ports = {};
for (const profile of process.argv.slice(2)) ports[profile] = await serve(profile);
console.log(JSON.stringify(ports));
