// The client of @a2a-js/sdk 1.3, unmodified: it makes the calls that it is told to, one after the other.
//
//     node client.mjs http://127.0.0.1:PORT '[["JSONRPC", "unary", "task"], …]'
//
// Prints one JSON array: for each call what came, in words, and the error that it ended with.
import { randomUUID } from 'node:crypto';
import { ClientFactory, ClientFactoryOptions } from '@a2a-js/sdk/client';
import { GrpcTransportFactory } from '@a2a-js/sdk/client/grpc';

const STATES = ['', 'SUBMITTED', 'WORKING', 'COMPLETED', 'FAILED', 'CANCELED', 'INPUT_REQUIRED', 'REJECTED', 'AUTH_REQUIRED'];
const texts = (parts) => (parts ?? []).map((part) => (part.content?.$case === 'text' ? part.content.value : '')).join('');

// What one event says, without what differs from call to call.
function words(kind, it) {
  const artifacts = [it.artifact, ...(it.artifacts ?? [])].map((artifact) => texts(artifact?.parts)).join('');
  return `${kind} ${STATES[it.status?.state ?? 0]} ${texts(it.parts)}${texts(it.status?.message?.parts)}${artifacts}`;
}

async function call(url, [binding, mode, text]) {
  const events = [];
  try {
    const options = ClientFactoryOptions.createFrom(ClientFactoryOptions.default, {
      transports: [new GrpcTransportFactory()],
      preferredTransports: [binding],
    });
    const client = await new ClientFactory(options).createFromUrl(url);
    const part = { content: { $case: 'text', value: text }, metadata: undefined, filename: '', mediaType: '' };
    const message = {
      messageId: randomUUID(), contextId: '', taskId: '', role: 1, parts: [part],
      metadata: undefined, extensions: [], referenceTaskIds: [],
    };
    const request = { tenant: '', message, configuration: undefined, metadata: undefined };
    if (mode === 'unary') {
      const answer = await client.sendMessage(request);
      events.push(words('messageId' in answer ? 'message' : 'task', answer));
    } else {
      for await (const { payload } of client.sendMessageStream(request)) events.push(words(payload.$case, payload.value));
    }
    return { events };
  } catch (error) {
    // In a stream over JSON-RPC the SDK has no type for an error, and says its code in the text.
    const code = error.name === 'Error' ? / \(Code: (-\d+)\)/.exec(error.message)?.[1] : undefined;
    return { events, error: code ? `Error ${code}` : error.name, message: String(error.message), outcome: error.metadata?.outcome, class: error.metadata?.class };
  }
}

const answers = [];
for (const one of JSON.parse(process.argv[3])) answers.push(await call(process.argv[2], one));
// A stream that the SDK left open must not keep the program up.
process.stdout.write(`${JSON.stringify(answers)}\n`, () => process.exit(0));
