import { type Finding, Judge } from '../finding.ts';
import type { PlimsollView } from '../plimsoll-view.ts';
import type { ClusterView, EnvoyView } from '../view.ts';

const NAMES_SHOWN = 5;

/** Whether this Envoy is in one of the zones of a group whose sidecars keep to their own: only where there are any. */
export function checkZone(
  { name, serviceName }: ClusterView,
  { zone }: Pick<EnvoyView, 'zone'>,
  plimsoll: PlimsollView | undefined,
): readonly Finding[] {
  const zones = plimsoll?.groups.get(serviceName)?.zones ?? [];
  if (zones.length === 0) return [];
  const judge = new Judge('locality.zone', { cluster: name });
  if (zone !== undefined && zones.includes(zone)) return [judge.ok(zone)];
  const more = zones.length > NAMES_SHOWN ? ', …' : '';
  return [
    judge.warning({
      is: zone === undefined ? 'the node has none' : `${zone}, in which the group has no backend`,
      shouldBe: `the zone that this Envoy runs in: ${zones.slice(0, NAMES_SHOWN).join(', ')}${more}`,
      why: 'With Locality: Prefer its requests then go to all zones alike. A node says it in node.locality.zone, or by --service-zone.',
    }),
  ];
}
