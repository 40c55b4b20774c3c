/** The backends of a cell in one process: asked by messages, see {@link BackendsQuestion}. */
import { SimulatedBackend } from '../../../src/demo/backend.ts';
import type { BackendChange, BackendsAnswer, BackendsQuestion, BackendsSettings } from './backends.ts';
import { answerParent } from './child.ts';

let backends: readonly SimulatedBackend[] = [];

await answerParent(async (question: BackendsQuestion): Promise<BackendsAnswer> => {
  switch (question.kind) {
    case 'start':
      backends = await start(question.settings);
      return backends.map(({ id, address, port }) => ({ id, address, port, inside: 0 }));
    case 'change':
      change(backends[question.backend], question.change);
      break;
    case 'look':
  }
  return backends.map(({ id, address, port, inside }) => ({ id, address, port, inside }));
});

function start({ subnet, engine, slowness, seed, ...settings }: BackendsSettings) {
  const { loadReports, reportAgeMs, failedFetchShare } = settings;
  return Promise.all(
    slowness.map((factor, index) =>
      SimulatedBackend.start({
        address: `${subnet}.${index + 1}`,
        engine,
        slowness: factor,
        page: 'lean',
        loadReports,
        reportAgeMs,
        ...(failedFetchShare > 0 && {
          failingFetches: { share: failedFetchShare, seed: seed * 1000 + index },
        }),
      }),
    ),
  );
}

function change(backend: SimulatedBackend | undefined, to: BackendChange): void {
  if (backend === undefined) return;
  switch (to.kind) {
    case 'slowness':
      backend.slowness = to.factor;
      return;
    case 'failing':
      backend.failing = to.on;
      return;
    case 'metrics-gone':
      backend.metrics = to.gone ? { kind: 'status', status: 500 } : { kind: 'live' };
  }
}
