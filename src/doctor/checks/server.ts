import { type Finding, Judge } from '../finding.ts';
import type { EnvoyView } from '../view.ts';

/** Minor release of Envoy 1 that everything here was tried on. */
const TRIED = 40;

export function checkVersion({ version }: Pick<EnvoyView, 'version'>): Finding {
  const judge = new Judge('version', {});
  const [, major, minor] = /^(\d+)\.(\d+)\./.exec(version ?? '') ?? [];
  if (version === undefined || minor === undefined) return judge.unknown('/server_info does not say it');
  const isOlder = Number(major) < 1 || (Number(major) === 1 && Number(minor) < TRIED);
  if (!isOlder) return judge.ok(version);
  return judge.warning({
    is: version,
    shouldBe: `1.${TRIED} or newer`,
    why: `Plimsoll is tested with Envoy 1.${TRIED}; what an older one makes of these settings was not tried.`,
  });
}

export function checkState({ state }: Pick<EnvoyView, 'state'>): Finding {
  const judge = new Judge('state', {});
  switch (state) {
    case undefined:
      return judge.unknown('/server_info does not say it');
    case 'LIVE':
      return judge.ok('LIVE');
    case 'DRAINING':
      return judge.warning({
        is: state,
        shouldBe: 'LIVE',
        why: 'It is about to end, or its health check was failed.',
      });
    default:
      return judge.warning({
        is: state,
        shouldBe: 'LIVE',
        why: 'It still waits for clusters, listeners or endpoints, and its listeners are closed until they are there.',
      });
  }
}
