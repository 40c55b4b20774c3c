/** The simulated sidecars of the soak in one process: asked by messages, see {@link SidecarsQuestion}. */
import { answerParent } from '../bench/routing/child.ts';
import type { SidecarsAnswer, SidecarsQuestion } from './sidecars.ts';
import { SimulatedSidecar } from './simulated-sidecar.ts';

let sidecars: readonly SimulatedSidecar[] = [];

await answerParent((question: SidecarsQuestion): Promise<SidecarsAnswer> => {
  switch (question.kind) {
    case 'start': {
      const { count, port, serverGroup } = question;
      sidecars = Array.from({ length: count }, (_, index) => {
        const variant = index % 2 === 0 ? 'delta' : 'sotw';
        return new SimulatedSidecar({ port, serverGroup, id: `simulated-${index + 1}`, variant });
      });
      for (const sidecar of sidecars) sidecar.connect();
      break;
    }
    case 'reconnect':
      for (const sidecar of sidecars.slice(question.first, question.first + question.count))
        sidecar.reconnect();
      break;
    case 'refuse':
      for (const [index, sidecar] of sidecars.entries()) sidecar.refuses = index < question.count;
      break;
    case 'look':
  }
  return Promise.resolve({
    served: sidecars.filter(({ served }) => served).length,
    streams: sidecars.reduce((sum, { streams }) => sum + streams, 0),
    responses: sidecars.reduce((sum, { responses }) => sum + responses, 0),
    shares: sidecars[0]?.shares ?? new Map<string, number>(),
  });
});
