import type { MetricsChange } from '../backend-change.ts';
import { ALL_HEALTHY, areHealthy, everyTarget, HELD } from '../looks.ts';
import type { Row, Stage } from '../model.ts';
import { lone, share } from '../pick.ts';

const BLIND = {
  what: 'configured weights, all healthy',
  // nobody fresh: what is published stands for 30 s first
  withinSeconds: 33,
  when: ({ plane }: Parameters<NonNullable<Row['notice']>['when']>[0]): boolean =>
    plane?.mode === 'configured' && areHealthy(plane),
};
const NOT_SATURATED = { ...ALL_HEALTHY, what: 'all healthy: blind is not saturated' };

export const METRICS_NETWORK: readonly Row[] = [
  {
    ...pages('metrics 500 of all', 'every metrics page answers 500 for 35 s', 1, {
      kind: 'status',
      status: 500,
    }),
    holdSeconds: 35,
    notice: BLIND,
    throughout: NOT_SATURATED,
  },
  {
    ...pages('all scrapes lost', 'no metrics page answers for 35 s', 1, { kind: 'hang' }),
    holdSeconds: 35,
    notice: BLIND,
    throughout: NOT_SATURATED,
  },
  pages('10 % of scrapes lost', 'each tenth scrape gets no answer for 15 s', 1, { kind: 'loss', share: 0.1 }),
  pages('half of scrapes lost', 'each second scrape gets no answer for 15 s', 1, {
    kind: 'loss',
    share: 0.5,
  }),
  {
    ...pages('late metrics', 'the metrics pages of half take 2 s for 12 s, longer than Timeout', 0.5, {
      kind: 'late',
      milliseconds: 2000,
    }),
    notice: {
      what: 'they count as the mean of the others, as so many of them are missing',
      withinSeconds: 6,
      when: everyTarget(({ missed }) => missed >= 2),
    },
  },
  {
    part: 'metrics-network',
    name: 'address reused',
    happens: 'at the address of one of ten another model answers for 10 s, with a page like the others',
    faultsOwn: 'its answers: an address and a page are all that is known here',
    isFaultsOwn: ({ kind, backend }, { targets }) =>
      kind === 'wrong' && (backend === undefined || targets.includes(backend)),
    fault: (stage) => {
      const { backend } = lone(stage);
      return {
        targets: [backend.id],
        apply: () => backend.change({ model: 'another' }),
        undo: () => backend.change({ model: 'llama' }),
      };
    },
    holdSeconds: 10,
    throughout: HELD,
    recover: { withinSeconds: 3 },
  },
];

/** The metrics pages of so many; requests are served as before. */
function pages(name: string, happens: string, of: number, metrics: MetricsChange): Row {
  return {
    part: 'metrics-network',
    name,
    happens: `${happens}; requests are served as before`,
    faultsOwn: 'none',
    fault: (stage) => changing(stage, of, metrics),
    holdSeconds: of === 1 ? 15 : 12,
    throughout: HELD,
    recover: { withinSeconds: 3 },
  };
}

function changing(stage: Stage, of: number, metrics: MetricsChange): ReturnType<Row['fault']> {
  const backends = share(stage, of);
  const change = async (to: MetricsChange): Promise<void> => {
    await Promise.all(backends.map((backend) => backend.change({ metrics: to })));
  };
  return {
    targets: backends.map(({ id }) => id),
    apply: () => change(metrics),
    undo: () => change({ kind: 'live' }),
  };
}
