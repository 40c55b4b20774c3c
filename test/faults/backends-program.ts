/** Simulated backends in a process of their own: asked by messages, see {@link HostQuestion}. */
import type { IncomingMessage } from 'node:http';
import { SimulatedBackend } from '../../src/demo/backend.ts';
import { answerParent } from '../bench/routing/child.ts';
import type { BackendChange } from './backend-change.ts';
import { ECHO_HEADER, type HostAnswer, type HostQuestion, MODEL, MODEL_HEADER } from './hosts.ts';
import { metricsOf } from './told-metrics.ts';

interface Hosted {
  readonly backend: SimulatedBackend;
  model: string;
  closed: boolean;
}

let hosted: readonly Hosted[] = [];

await answerParent(async (question: HostQuestion): Promise<HostAnswer> => {
  if (question.kind === 'start') hosted = await Promise.all(question.places.map((at) => host(question, at)));
  else await change(hosted[question.index], question.change);
  return hosted.map(({ backend: { address, port } }) => ({ address, port }));
});

async function host(
  { engine }: HostQuestion & { readonly kind: 'start' },
  place: { readonly address: string; readonly port: number },
): Promise<Hosted> {
  const of = { model: MODEL, closed: false };
  const answerHeaders = ({ headers }: IncomingMessage) => ({
    [ECHO_HEADER]: String(headers[ECHO_HEADER] ?? ''),
    [MODEL_HEADER]: of.model,
  });
  const backend = await SimulatedBackend.start({ ...place, engine, answerHeaders });
  return Object.assign(of, { backend });
}

async function change(of: Hosted | undefined, to: BackendChange): Promise<void> {
  if (of === undefined) return;
  const { backend } = of;
  if (to.metrics !== undefined) backend.metrics = metricsOf(backend, to.metrics);
  if (to.slowness !== undefined) backend.slowness = to.slowness;
  if (to.failing !== undefined) backend.failing = to.failing;
  if (to.model !== undefined) of.model = to.model;
  if (to.abortAll === true) backend.abortAll();
  if (to.closed !== undefined && to.closed !== of.closed) {
    of.closed = to.closed;
    await (to.closed ? backend.closePort() : backend.openPort());
  }
}
