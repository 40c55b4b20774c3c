import { writeFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { HELD, healthy } from '../looks.ts';
import type { Look, PlaneHandle, Row } from '../model.ts';
import { metric } from '../observer.ts';
import { REFUSED } from './one-plane.ts';

export const OPERATOR: readonly Row[] = [
  refused('no servers', 'a reload with an empty list of servers', (yaml) =>
    yaml.replace(/ {4}Servers:\n( {6}- .*\n)+/, '    Servers: []\n'),
  ),
  refused('all weights 0', 'a reload with weight 0 for every server', (yaml) =>
    yaml.replaceAll('Weight: 100}', 'Weight: 0}'),
  ),
  refused('typo on reload', 'a reload with a misspelt field', (yaml) => yaml.replace('Scorers:', 'Scorer:')),
  {
    part: 'operator',
    name: 'all but one removed',
    happens: 'all servers but one are removed, and added back 8 s later; the load is as one can do it',
    faultsOwn: 'none: requests in flight end where they are',
    fault: ({ plane, load, backends }) => {
      const removed = backends.slice(0, -1);
      return {
        targets: removed.map(({ id }) => id),
        apply: async () => {
          load.rate = load.usualRate / 8;
          await plane.configure({ without: removed.map((_, index) => index) });
        },
        undo: async () => {
          await plane.configure({});
          load.rate = load.usualRate;
        },
      };
    },
    holdSeconds: 8,
    notice: {
      what: 'sidecars have one backend that is not draining',
      withinSeconds: 3,
      when: ({ sidecars }) => sidecars.every((held) => healthy(held).length === 1),
    },
    targetsGetAtMost: 0,
    recover: { withinSeconds: 5, because: 'who comes back within a minute is what it was, once it is read' },
    extraPushes: 2,
  },
  {
    part: 'operator',
    name: 'weights 0',
    happens: 'three servers get weight 0, and 100 again 8 s later',
    faultsOwn: 'none: requests in flight end where they are',
    fault: ({ plane, backends }) => {
      const indexes = [0, 1, 2];
      return {
        targets: indexes.flatMap((index) => backends[index]?.id ?? []),
        apply: () => plane.configure({ weights: new Map(indexes.map((index) => [index, 0])) }),
        undo: () => plane.configure({}),
      };
    },
    holdSeconds: 8,
    notice: {
      what: 'sidecars do not have them',
      withinSeconds: 3,
      when: ({ sidecars }) => sidecars.every((held) => held.length === 7),
    },
    targetsGetAtMost: 0,
    // they were read all the time
    recover: { withinSeconds: 3 },
    extraPushes: 2,
  },
  {
    part: 'operator',
    name: 'group renamed',
    happens: 'the server group gets another name, and its old one 10 s later',
    faultsOwn: 'none',
    fault: ({ plane }) => ({
      targets: [],
      apply: () => plane.configure({ group: 'renamed' }),
      undo: async () => {
        await plane.configure({});
        // until the listener has followed
        await delay(5_000);
      },
    }),
    holdSeconds: 10,
    notice: {
      what: 'the sidecar that has all from here sends to the new one',
      // the new cluster goes out first, its listener 3 s later
      withinSeconds: 6,
      when: ({ plane, sidecars: [all] }) =>
        all?.length === 10 &&
        metric(plane?.page ?? '', 'plimsoll_server_group_backends', 'server_group="renamed"') === 10,
    },
    recover: { withinSeconds: 3 },
    extraPushes: 2,
  },
  {
    part: 'operator',
    name: 'interval 50',
    happens: 'the interval becomes 50 s, and 1 s again 10 s later',
    faultsOwn: 'none',
    fault: ({ plane }) => ({
      targets: [],
      apply: () => plane.configure({ interval: 50 }),
      undo: () => plane.configure({}),
    }),
    holdSeconds: 10,
    throughout: HELD,
    recover: { withinSeconds: 3, when: collectedAgain() },
    extraPushes: 2,
  },
];

/** Whether samples are no older than an interval of 1 s and a half. */
function collectedAgain(): (look: Look) => boolean {
  return ({ plane }) =>
    plane?.mode === 'balanced' &&
    plane.backends.every(
      ({ id }) => metric(plane.page, 'plimsoll_backend_sample_age_seconds', `backend="${id}"`) < 1.5,
    );
}

function refused(name: string, happens: string, spoil: (yaml: string) => string): Row {
  return {
    ...REFUSED,
    part: 'operator',
    name,
    happens: `${happens}; the good file is back 4 s later`,
    fault: ({ plane }) => ({
      targets: [],
      apply: () => writeAndReload(plane, spoil(plane.yaml())),
      undo: () => plane.configure({}),
    }),
    holdSeconds: 4,
  };
}

async function writeAndReload(plane: PlaneHandle, yaml: string): Promise<void> {
  if (yaml === plane.yaml()) throw new Error('the configuration is not spoilt');
  await writeFile(plane.file, yaml);
  process.kill(plane.pid, 'SIGHUP');
}
