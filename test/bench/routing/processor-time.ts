import { readFileSync } from 'node:fs';

/** Of /proc: fixed on every Linux that Node runs on. */
const TICKS_PER_SECOND = 100;

/** Processor time that these processes have used so far, in seconds; one that has ended counts 0. Linux only. */
export function processorSeconds(pids: readonly number[]): number {
  return pids.reduce((sum, pid) => sum + ofProcess(pid), 0);
}

function ofProcess(pid: number): number {
  let stat: string;
  try {
    stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  } catch {
    return 0;
  }
  // the name, in parentheses, may hold anything; utime and stime are the 12th and 13th field after it
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
}

/** Since the machine started. */
export interface MachineTicks {
  readonly busy: number;
  readonly total: number;
}

/**
 * Watches over how much of the machine's processor time is used, by whomever but niced processes: those give way at
 * once. What they do in the kernel counts all the same, since Linux does not tell it apart.
 */
export class MachineLoad {
  readonly #samples: MachineTicks[] = [machineTicks()];
  readonly #window: number;

  /** @param window looks that a share is taken over */
  constructor(window: number) {
    this.#window = window;
  }

  /** Called once a second. */
  look(): void {
    this.#samples.push(machineTicks());
  }

  /** The most in any window, 0..1. */
  most(): number {
    const shares = this.#samples.map((sample, index) => {
      const before = this.#samples[index - Math.min(this.#window, this.#samples.length - 1)];
      if (before === undefined || sample.total === before.total) return 0;
      return (sample.busy - before.busy) / (sample.total - before.total);
    });
    return Math.max(...shares);
  }
}

function machineTicks(): MachineTicks {
  return ticksOf(readFileSync('/proc/stat', 'utf8'));
}

/** @param stat the contents of /proc/stat */
export function ticksOf(stat: string): MachineTicks {
  const [, ...fields] = stat.split('\n', 1)[0]!.split(/\s+/);
  // user nice system idle iowait irq softirq steal; time of guests is part of user and nice
  const ticks = fields.slice(0, 8).map(Number);
  const [, nice = 0, , idle = 0, iowait = 0] = ticks;
  const total = ticks.reduce((sum, value) => sum + value, 0);
  return { busy: total - nice - idle - iowait, total };
}
