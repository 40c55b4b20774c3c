import type { DecisionExplanation, ZoneExplanation } from '../explanation.ts';
import { figure, operand, percent, plural } from './figures.ts';

/** What is to be said of the zones that sidecars keep to; nothing where they keep to none. */
export function zoneLines({ zones, envoyLbPolicy }: DecisionExplanation): readonly string[] {
  if (zones.length === 0) return [];
  return [
    'Zones: sidecars of a zone keep to its backends until these are more than 0.1 busier than the group. For them the weights of all other zones count by a factor; the weights below are those of all other sidecars.',
    ...zones.flatMap((zone) => [`  ${stays(zone)}`, `    ${arithmetic(zone, envoyLbPolicy)}`]),
  ];
}

function stays({ zone, backends, homeShareRatio, awayFactor, excess }: ZoneExplanation): string {
  const load =
    excess === null
      ? 'its load is not known'
      : `it is ${figure(Math.abs(excess))} ${excess < 0 ? 'less busy' : 'busier'} than the group`;
  return `${zone}: ${percent(homeShareRatio)} of the requests stay, other zones × ${figure(awayFactor)}; ${plural(backends, 'backend')}, ${load}.`;
}

function arithmetic(zone: ZoneExplanation, envoyLbPolicy: DecisionExplanation['envoyLbPolicy']): string {
  if (zone.plain) return 'Balanced without regard to zones: no load is compared, or a share is refused.';
  const { availableRatio, integralRatio, gain, excess, overflowRatio } = zone;
  const answer = excess === null ? '' : ` + ${figure(gain)} × ${operand(excess - 0.1)}`;
  const asked = `${figure(integralRatio)}${answer}`;
  const square =
    envoyLbPolicy === 'LeastRequest' ? ', squared, since sidecars weigh in their own requests' : '';
  return `Of what plain balancing would send elsewhere, 1 - ${figure(availableRatio)} × (1 - (${asked})) = ${percent(overflowRatio)} goes there, at least 1 %; the factor follows from that and the weights of both sides${square}.`;
}
