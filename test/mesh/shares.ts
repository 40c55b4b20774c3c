import assert from 'node:assert/strict';

/** Of backends with weights 100 and 50 the first gets about two thirds, and nobody else gets anything. */
export function assertShares(
  counts: ReadonlyMap<string, number>,
  [first, second]: readonly { readonly id: string }[],
): void {
  const total = [...counts.values()].reduce((sum, count) => sum + count, 0);
  const [heavy = 0, light = 0] = [first, second].map((backend) => counts.get(backend?.id ?? '') ?? 0);
  assert.equal(heavy + light, total, JSON.stringify([...counts]));
  assert.ok(heavy > 1.5 * light && heavy < 2.7 * light, `${heavy} and ${light}`);
}
