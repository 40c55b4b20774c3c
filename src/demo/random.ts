/** A seeded source of random numbers: equal seeds give equal sequences on every machine. Not for secrets. */
export interface Random {
  /** Uniform in [0, 1). */
  uniform(): number;
  /** Exponential with mean 1. */
  exponential(): number;
  /** Standard normal. */
  normal(): number;
}

/** `seed`: any integer; its low 32 bits count. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  // splitmix32
  const uniform = (): number => {
    state = (state + 0x9e3779b9) >>> 0;
    let mixed = state;
    mixed = Math.imul(mixed ^ (mixed >>> 16), 0x21f0aaad);
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97);
    return ((mixed ^ (mixed >>> 15)) >>> 0) / 0x1_0000_0000;
  };
  const exponential = (): number => -Math.log(1 - uniform());
  // Box and Muller; the second value of each pair is left unused.
  const normal = (): number => Math.sqrt(2 * exponential()) * Math.cos(2 * Math.PI * uniform());
  return { uniform, exponential, normal };
}
