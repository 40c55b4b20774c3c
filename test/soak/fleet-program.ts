/** The backends of the soak in one process: asked by messages, see {@link FleetQuestion}. */
import { answerParent } from '../bench/routing/child.ts';
import type { FleetAnswer, FleetQuestion } from './fleet.ts';
import { FleetBackend } from './fleet-backend.ts';

let backends: readonly FleetBackend[] = [];

await answerParent(async (question: FleetQuestion): Promise<FleetAnswer> => {
  switch (question.kind) {
    case 'start':
      backends = question.addresses.map((address, index) => new FleetBackend(address, index));
      await Promise.all(backends.map((backend) => backend.open()));
      break;
    case 'change':
      await backends[question.backend]?.change(question.change);
      break;
    case 'close':
      await Promise.all(chosen(question).map((backend) => backend.close(question.by, question.closed)));
      break;
    case 'share': {
      const { shares } = question;
      for (const backend of backends) backend.share = shares.get(backend.id) ?? 0;
      break;
    }
    case 'hang':
      for (const backend of chosen(question)) backend.hang(question.hung);
      break;
    case 'move':
      for (const backend of chosen(question)) backend.move(question.elsewhere);
  }
  return backends.map(({ port }) => port);
});

function chosen({ backends: indexes }: { readonly backends: readonly number[] }): readonly FleetBackend[] {
  return backends.filter((_, index) => indexes.includes(index));
}
