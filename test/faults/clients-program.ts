/** Sidecars that only speak xDS, in a process of their own: asked by messages, see {@link ClientsQuestion}. */
import { credentials } from '@grpc/grpc-js';
import { TYPE_URLS } from '../../src/xds/resources/type-urls.ts';
import { answerParent } from '../bench/routing/child.ts';
import { XdsClient } from '../support/xds-client.ts';
import type { ClientsAnswer, ClientsQuestion } from './clients.ts';
import { GROUP } from './configuration.ts';

/** As sidecars wait before they try again. */
const AGAIN_MS = [200, 2_000] as const;

// that the name of the server is an IP address is what is wanted
process.noDeprecation = true;

type Start = ClientsQuestion & { readonly kind: 'start' };

let responses = 0;

await answerParent(async (question: ClientsQuestion): Promise<ClientsAnswer> => {
  if (question.kind === 'start')
    for (let number = 0; number < question.count; number++) connect(question, number, AGAIN_MS[0]);
  return { responses };
});

function connect(start: Start, number: number, againMs: number): void {
  const { port, authority, behaviour } = start;
  const client = new XdsClient({ host: '127.0.0.1', port }, credentials.createSsl(Buffer.from(authority)));
  const stream = client.open('eds', 'delta');
  let answered = false;
  stream.onResponse = (response) => {
    responses++;
    answered = true;
    if (behaviour === 'refusing') stream.reject(response, 'refused on purpose');
    else stream.acknowledge(response);
    if (behaviour === 'restless') stream.cancel();
  };
  stream.send({
    node: { id: `client-${number}`, cluster: 'clients' },
    typeUrl: TYPE_URLS.endpoint,
    resourceNamesSubscribe: [GROUP],
  });
  void over(stream).then(() => {
    client.close();
    const next = behaviour === 'restless' && answered ? 0 : againMs;
    setTimeout(() => {
      connect(start, number, answered ? AGAIN_MS[0] : Math.min(2 * againMs, AGAIN_MS[1]));
    }, next);
  });
}

async function over(stream: ReturnType<XdsClient['open']>): Promise<void> {
  while (stream.status === undefined) await stream.ended().catch(() => undefined);
}
