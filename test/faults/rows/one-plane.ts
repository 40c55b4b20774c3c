import { FOLLOWING } from '../looks.ts';
import type { Look, Row } from '../model.ts';

/** What the rows of the control plane, its configuration and its connections have in common. */

/** For `recover` of what costs sidecars their connections. */
export const RECONNECTED = { withinSeconds: 4, because: 'sidecars try again every 0.2 to 2 s' };

/** For `notice` of a sidecar that takes nothing: behind is what has not taken an assignment for 5 s. */
export const BEHIND = {
  what: 'the sidecar is behind, by metric',
  withinSeconds: 12,
  when: ({ plane }: Look): boolean => (plane?.sidecarsBehind ?? 0) > 0,
};

/** A configuration that is refused at a reload, until the good one is read again. */
export const REFUSED: Pick<Row, 'faultsOwn' | 'notice' | 'throughout' | 'recover'> = {
  faultsOwn: 'none',
  notice: {
    what: 'the reload is refused, by metric',
    withinSeconds: 3,
    when: ({ plane }) => plane?.reloaded === 0,
  },
  throughout: FOLLOWING,
  recover: {
    withinSeconds: 3,
    when: (look) => look.plane?.reloaded === 1 && FOLLOWING.holds(look),
  },
};
