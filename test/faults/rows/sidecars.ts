import { Clients, type ClientBehaviour } from '../clients.ts';
import { HELD } from '../looks.ts';
import type { Fault, Look, Row, Stage } from '../model.ts';
import { labOf } from '../pick.ts';
import { BEHIND } from './one-plane.ts';

const MANY = 500;
/** What it costs to serve so many stays with the process for a while. */
const MANY_MIB = 96;
const HELD_AND_ANSWERING = {
  what: `${HELD.what}; the control plane answers`,
  holds: (look: Look): boolean => HELD.holds(look) && look.plane !== undefined,
};

export const SIDECARS: readonly Row[] = [
  {
    part: 'sidecars',
    name: '500 at once',
    happens: `${MANY} more sidecars connect at once, and go away at once 10 s later`,
    faultsOwn: 'none',
    fault: (stage) => crowd(stage, MANY, 'good'),
    holdSeconds: 10,
    notice: {
      what: 'all have a stream',
      // one address may open 200 new streams a second, who is refused comes again within 2 s, and to connect 500 times
      // takes the one process that they are in some seconds
      withinSeconds: 30,
      when: ({ plane }) => (plane?.streams ?? 0) >= MANY,
    },
    throughout: HELD,
    recover: { withinSeconds: 3 },
    growthMiB: MANY_MIB,
    needsLab: true,
  },
  {
    part: 'sidecars',
    name: 'frozen',
    happens:
      '50 more sidecars take their first assignment and are stopped (SIGSTOP) with their connections open',
    faultsOwn: 'none',
    fault: (stage) => {
      const clients = crowd(stage, 50, 'good');
      return { ...clients, apply: () => clients.applyAndFreeze() };
    },
    holdSeconds: 15,
    notice: { ...BEHIND, what: 'they are behind, by metric', withinSeconds: 15 },
    throughout: HELD_AND_ANSWERING,
    recover: { withinSeconds: 3 },
    needsLab: true,
  },
  {
    part: 'sidecars',
    name: 'refusing everything',
    happens: '50 more sidecars answer each response with a NACK, for 10 s',
    faultsOwn: 'none',
    fault: (stage) => crowd(stage, 50, 'refusing'),
    holdSeconds: 10,
    notice: {
      what: 'they are counted as refusing, by metric',
      withinSeconds: 10,
      when: ({ plane }) => (plane?.sidecarsRefusing ?? 0) >= 50,
    },
    throughout: HELD_AND_ANSWERING,
    recover: { withinSeconds: 3 },
    needsLab: true,
  },
  {
    part: 'sidecars',
    name: 'reconnecting in a loop',
    happens: '20 more sidecars connect, take one assignment, go away and come back at once, for 10 s',
    faultsOwn: 'none',
    fault: (stage) => crowd(stage, 20, 'restless'),
    holdSeconds: 10,
    throughout: HELD_AND_ANSWERING,
    recover: { withinSeconds: 3 },
    growthMiB: 64,
    needsLab: true,
  },
];

function crowd(
  stage: Stage,
  count: number,
  behaviour: ClientBehaviour,
): Fault & { applyAndFreeze(): Promise<void> } {
  const { authority } = labOf(stage);
  const port = Number(stage.plane.xds.split(':')[1]);
  const clients = new Clients();
  const apply = (): Promise<void> => clients.start({ count, behaviour, port, authority });
  return {
    targets: [],
    apply,
    applyAndFreeze: async () => {
      await apply();
      await clients.served(count);
      clients.freeze();
    },
    undo: () => clients.stop(),
  };
}
