/**
 * Whether a version of the API is not before another one. They are whole numbers, which Kubernetes promises since 1.35; of
 * anything else nothing is known.
 */
export function isAtLeast(version: string, other: string): boolean {
  if (!/^\d{1,20}$/.test(version) || !/^\d{1,20}$/.test(other)) return false;
  return BigInt(version) >= BigInt(other);
}
