import { setTimeout as delay } from 'node:timers/promises';
import { HELD } from '../looks.ts';
import type { Fault, Row, SecondPlane, Stage, WireHandle, WireState } from '../model.ts';
import { metric } from '../observer.ts';
import { labOf } from '../pick.ts';
import { BEHIND, RECONNECTED } from './one-plane.ts';

/** Of the certificate that expires. */
const VALID_SECONDS = 3;

export const XDS_NETWORK: readonly Row[] = [
  {
    part: 'xds-network',
    name: 'connections reset',
    happens: 'the connections of both sidecars are reset every 0.35 s for 2 s, some in the middle of a push',
    faultsOwn: 'none',
    fault: ({ wires }) => {
      let timer: NodeJS.Timeout | undefined;
      return {
        targets: [],
        apply: async () => {
          timer = setInterval(() => {
            for (const wire of wires) wire.cut();
          }, 350);
        },
        undo: async () => {
          clearInterval(timer);
        },
      };
    },
    holdSeconds: 2,
    throughout: HELD,
    recover: RECONNECTED,
    short: true,
  },
  {
    part: 'xds-network',
    name: 'half-open',
    happens: 'nothing passes between one sidecar and the control plane for 20 s, and neither side is told',
    faultsOwn: 'none',
    fault: (stage) => impaired(stage, 'silent', (wire) => wire.cut()),
    holdSeconds: 20,
    notice: BEHIND,
    throughout: HELD,
    recover: RECONNECTED,
  },
  {
    part: 'xds-network',
    name: 'one byte a second',
    happens: 'what the control plane sends to one sidecar passes at one byte a second, for 15 s',
    faultsOwn: 'none',
    fault: (stage) => impaired(stage, 'slow'),
    holdSeconds: 15,
    notice: BEHIND,
    throughout: HELD,
    recover: { withinSeconds: 4 },
  },
  {
    part: 'xds-network',
    name: 'two control planes',
    happens:
      'a second control plane that can read no metrics stands beside the first; both sidecars change over between them every 2 s for 12 s',
    faultsOwn: 'none',
    fault: changingOver,
    holdSeconds: 12,
    throughout: HELD,
    recover: RECONNECTED,
    needsLab: true,
  },
  {
    part: 'xds-network',
    name: 'certificate expired',
    happens:
      'the certificate of the control plane expires, sidecars lose their connections and come back to no avail; 8 s later it is renewed',
    faultsOwn: 'none',
    fault: expired,
    holdSeconds: 8,
    notice: {
      what: 'the certificate in force has expired, by metric, and no sidecar has a stream',
      withinSeconds: 10,
      when: ({ plane }) =>
        plane !== undefined &&
        metric(plane.page, 'plimsoll_xds_certificate_not_after_seconds') < Date.now() / 1000 &&
        plane.streams === 0,
    },
    throughout: HELD,
    recover: {
      withinSeconds: 6,
      because: 'new files are read within 2 s, and sidecars try again every 0.2 to 2 s',
    },
    needsLab: true,
  },
];

/** The wire to one sidecar is in that state. @param end what else is done to it when it is open again */
function impaired({ wires }: Stage, state: WireState, end?: (wire: WireHandle) => void): Fault {
  const [wire] = wires;
  if (wire === undefined) throw new Error('no wire to a sidecar');
  return {
    targets: [],
    apply: async () => {
      wire.state = state;
    },
    undo: async () => {
      wire.state = 'open';
      end?.(wire);
    },
  };
}

function changingOver(stage: Stage): Fault {
  const { plane, wires } = stage;
  const own = Number(plane.xds.split(':')[1]);
  let second: SecondPlane | undefined;
  let timer: NodeJS.Timeout | undefined;
  return {
    targets: [],
    apply: async () => {
      // a port where nobody is
      const other = await labOf(stage).second({ collect: 'Port: 1' });
      second = other;
      const change = (): void => {
        for (const wire of wires) {
          wire.to = wire.to === own ? other.xdsPort : own;
          wire.cut();
        }
      };
      change();
      timer = setInterval(change, 2_000);
    },
    undo: async () => {
      clearInterval(timer);
      for (const wire of wires) {
        wire.to = own;
        wire.cut();
      }
      await second?.stop();
    },
  };
}

function expired(stage: Stage): Fault {
  const { wires } = stage;
  const lab = labOf(stage);
  let timer: NodeJS.Timeout | undefined;
  return {
    targets: [],
    apply: async () => {
      await lab.certify(VALID_SECONDS);
      // until then it is in force, and then it has expired
      await delay(1000 * VALID_SECONDS + 1_500);
      timer = setInterval(() => {
        for (const wire of wires) wire.cut();
      }, 1_000);
    },
    undo: async () => {
      clearInterval(timer);
      await lab.certify(86_400);
    },
  };
}
