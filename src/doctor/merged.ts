import type { Finding, Place } from './finding.ts';

/** The same finding at one place or at several. */
export interface MergedFinding extends Omit<Finding, 'place'> {
  /** All of one cluster, or all of none; at most 20. */
  readonly places: readonly Place[];
  /** How many more there are. */
  readonly morePlaces: number;
}

const PLACES_MAX = 20;

/** A cluster may have a thousand routes with the same fault: that is one finding. The order of the first ones is kept. */
export function merged(findings: readonly Finding[]): readonly MergedFinding[] {
  const alike = new Map<string, Finding[]>();
  for (const finding of findings) {
    const { place, ...rest } = finding;
    const key = JSON.stringify([place.cluster, rest]);
    const known = alike.get(key);
    if (known === undefined) alike.set(key, [finding]);
    else known.push(finding);
  }
  return [...alike.values()].flatMap((group) => {
    const [first] = group;
    if (first === undefined) return [];
    const { place: _, ...rest } = first;
    const places = group.map(({ place }) => place);
    return [
      { ...rest, places: places.slice(0, PLACES_MAX), morePlaces: Math.max(0, places.length - PLACES_MAX) },
    ];
  });
}
