import type { DiscoveryStatus } from '../core/model/discovery.ts';
import type { Warning } from './state-shape.ts';
import { duration } from './words/figures.ts';

const LOOK = 'Look at the source itself, and whether this machine may read it.';

/** What an operator should look at where backends are found. */
export function discoveryWarnings(status: DiscoveryStatus | undefined, nowMs: number): readonly Warning[] {
  if (status?.source === undefined) return [];
  const { source, failure, waiting, doubted, leftOut } = status;
  const warnings: Warning[] = [];
  if (waiting !== undefined) {
    warnings.push({
      text: `waiting for discovery: ${source}: ${waiting}`,
      remedy: `${LOOK} Nothing is published for this group until it has told a complete list; sidecars keep what they have.`,
    });
  } else if (failure !== undefined) {
    const span = duration(Math.round((nowMs - failure.sinceMs) / 1000));
    warnings.push({
      text: `${source} cannot be used for ${span}: ${failure.reason}`,
      remedy: `${LOOK} What was known last stays in force until it can be read again.`,
    });
  }
  if (doubted.length > 0) {
    warnings.push({
      text: `${source} lacks most of the backends that it had: ${doubted.length} of them stay until that has stood for a minute`,
      remedy:
        'An outage of the source looks like this. If they are really gone, it is believed soon; if not, mend the source.',
    });
  }
  if (leftOut.length > 0) {
    const more = leftOut.length > 1 ? ` and ${leftOut.length - 1} more` : '';
    warnings.push({
      text: `${source} has what cannot be used: ${leftOut[0] ?? ''}${more}`,
      remedy: 'Backends are IP addresses with a port. The others are in use.',
    });
  }
  return warnings;
}
