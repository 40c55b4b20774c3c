/** A cumulative histogram as Prometheus clients keep it. */
export class Histogram {
  readonly #bounds: readonly number[];
  readonly #counts: number[];
  #sum = 0;
  #count = 0;

  /** `bounds`: upper bounds in ascending order, without infinity. */
  constructor(bounds: readonly number[]) {
    this.#bounds = bounds;
    this.#counts = bounds.map(() => 0);
  }

  get sum(): number {
    return this.#sum;
  }

  get count(): number {
    return this.#count;
  }

  observe(value: number): void {
    this.#sum += value;
    this.#count++;
    const bucket = this.#bounds.findIndex((bound) => value <= bound);
    if (bucket >= 0) this.#counts[bucket] = (this.#counts[bucket] ?? 0) + 1;
  }

  /** The sample lines of family `name` with the labels `labels` (`a="b",c="d"`), buckets first. */
  lines(name: string, labels: string): string {
    let below = 0;
    let text = '';
    this.#bounds.forEach((bound, index) => {
      below += this.#counts[index] ?? 0;
      text += `${name}_bucket{${labels},le="${pythonNumber(bound)}"} ${pythonNumber(below)}\n`;
    });
    text += `${name}_bucket{${labels},le="+Inf"} ${pythonNumber(this.#count)}\n`;
    text += `${name}_count{${labels}} ${pythonNumber(this.#count)}\n`;
    text += `${name}_sum{${labels}} ${pythonNumber(this.#sum)}\n`;
    return text;
  }
}

/** A number as Python's Prometheus client prints it: `3.0`, `0.25`, `1e-05`. */
export function pythonNumber(value: number): string {
  if (Number.isInteger(value)) return value < 1e16 ? `${value}.0` : value.toExponential();
  return String(value);
}
