import { ALL_HEALTHY } from '../looks.ts';
import type { Failure, Row } from '../model.ts';

const SHEDDING = {
  what: 'a share of the requests is refused',
  // the queue must be longer than what can be served in time first
  withinSeconds: 20,
  when: ({ plane }: { readonly plane: { readonly shed: number } | undefined }): boolean =>
    (plane?.shed ?? 0) > 0,
};
/** With the queues gone the share falls by 1/e in 10 s. */
const CALM = {
  withinSeconds: 45,
  because: 'the refused share falls by 1/e each 10 s once the queues are gone',
};

function isOverload({ kind }: Failure): boolean {
  return kind === 'shed' || kind === 'timeout';
}

export const LOAD: readonly Row[] = [
  {
    part: 'load',
    name: 'overload',
    happens: 'twice what the fleet can do for a minute, then the usual load again',
    faultsOwn: 'requests refused with `no available upstream`, and those that waited 8 s in a queue',
    isFaultsOwn: isOverload,
    fault: ({ load }) => ({
      targets: [],
      apply: async () => {
        load.rate = 4 * load.usualRate;
      },
      undo: async () => {
        load.rate = load.usualRate;
      },
    }),
    holdSeconds: 60,
    notice: SHEDDING,
    recover: CALM,
  },
  {
    part: 'load',
    name: 'all requests aborted',
    happens: 'the caller of all requests in flight goes away at once',
    faultsOwn: 'none: nobody waits for the aborted ones',
    fault: ({ load }) => ({
      targets: [],
      apply: async () => {
        load.abortAll();
      },
      undo: () => Promise.resolve(),
    }),
    holdSeconds: 2,
    throughout: ALL_HEALTHY,
    recover: { withinSeconds: 3 },
  },
  {
    part: 'load',
    name: 'retries',
    happens:
      '1.5 times what the fleet can do for 40 s, and each client sends a refused request again at once, up to five times',
    faultsOwn:
      'requests refused with `no available upstream` six times, and those that waited 8 s in a queue',
    isFaultsOwn: isOverload,
    fault: ({ load }) => ({
      targets: [],
      apply: async () => {
        load.retries = 5;
        load.rate = 3 * load.usualRate;
      },
      undo: async () => {
        load.retries = 0;
        load.rate = load.usualRate;
      },
    }),
    holdSeconds: 40,
    notice: SHEDDING,
    recover: CALM,
  },
];
