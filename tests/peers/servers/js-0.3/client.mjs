// The client of @a2a-js/sdk 0.3, unmodified: it makes the calls that it is told to, one after the other.
//
//     node client.mjs http://127.0.0.1:PORT '[["JSONRPC", "unary", "task"], …]'
//
// Prints one JSON array: for each call what came, in words, and the error that it ended with.
import { randomUUID } from 'node:crypto';
import { ClientFactory, ClientFactoryOptions } from '@a2a-js/sdk/client';
import { GrpcTransportFactory } from '@a2a-js/sdk/client/grpc';

const texts = (parts) => (parts ?? []).map((part) => part.text ?? '').join('');

// What one event says, without what differs from call to call.
function words(it) {
  const artifacts = [it.artifact, ...(it.artifacts ?? [])].map((artifact) => texts(artifact?.parts)).join('');
  return `${it.kind} ${it.status?.state ?? ''} ${texts(it.parts)}${texts(it.status?.message?.parts)}${artifacts}`;
}

// The error in the SDK's words. In a stream over JSON-RPC its type is that of the cause; where there is no type, its text
// has the code.
function told(error) {
  const typed = error.cause?.errorResponse ? error.cause : error;
  const code = / \(Code: (-\d+)\)/.exec(error.message) ?? /^GRPC error for \w+! (\d+) /.exec(error.message);
  const metadata = typed.errorResponse?.error.data?.details?.[0]?.metadata;
  return {
    error: typed.name === 'Error' && code ? `Error ${code[1]}` : typed.name,
    message: String(error.message), outcome: metadata?.outcome, class: metadata?.class,
  };
}

async function call(url, [binding, mode, text]) {
  const events = [];
  try {
    const options = ClientFactoryOptions.createFrom(ClientFactoryOptions.default, {
      transports: [new GrpcTransportFactory()],
      preferredTransports: [binding],
    });
    const client = await new ClientFactory(options).createFromUrl(url);
    const message = { kind: 'message', messageId: randomUUID(), role: 'user', parts: [{ kind: 'text', text }] };
    if (mode === 'unary') {
      events.push(words(await client.sendMessage({ message })));
    } else {
      for await (const event of client.sendMessageStream({ message })) events.push(words(event));
    }
    return { events };
  } catch (error) {
    return { events, ...told(error) };
  }
}

const answers = [];
for (const one of JSON.parse(process.argv[3])) answers.push(await call(process.argv[2], one));
// A stream that the SDK left open must not keep the program up.
process.stdout.write(`${JSON.stringify(answers)}\n`, () => process.exit(0));
