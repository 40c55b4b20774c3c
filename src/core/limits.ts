/** Numbers that more than one stage must agree on. Units are in the names. */

/** `Timeout`, the longest one collection may take. */
export const TIMEOUT_SECONDS = { min: 1, max: 300 } as const;
/** `Interval`, the time between collections. */
export const INTERVAL_SECONDS = { min: 1, max: 50 } as const;
/** `IntervalMilliseconds`, the same below a second. */
export const INTERVAL_MS = { min: 100, max: 999 } as const;
/** Configured weight of a server, and weight of a scorer. */
export const WEIGHT = { min: 0, max: 100 } as const;
export const PORT = { min: 1, max: 65535 } as const;
export const NAME_LENGTH = { min: 1, max: 256 } as const;
/** A metrics page beyond this is a missing sample. */
export const PAGE_BYTES_MAX = 8 * 1024 * 1024;
