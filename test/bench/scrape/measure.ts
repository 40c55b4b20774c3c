import { setTimeout as delay } from 'node:timers/promises';
import { processorSeconds } from '../routing/processor-time.ts';
import { Child } from './child.ts';
import type { CollectorFigures } from './collector-figures.ts';
import { Prometheus } from './prometheus.ts';
import type { Variant } from './targets.ts';

/** How late the event loop is, is looked at for so long, after the processor time was taken. */
const WATCH_MS = 5000;

/** Who collects, and what. */
export const SUBJECTS = ['full', 'lean', 'prometheus'] as const;
export type Subject = (typeof SUBJECTS)[number];

export interface Effort {
  /** Seconds before those that count. */
  readonly warmUp: number;
  readonly seconds: number;
}

/** One subject in one round. */
export interface Measured {
  /** Processor time of a thousand scrapes, seconds, user and system. */
  readonly cpuSeconds: number;
  /** Bytes of an answer, on average. */
  readonly answerBytes: number;
  /** undefined: of Prometheus nothing else is known. */
  readonly collector: (CollectorFigures & { readonly residentBytes: number }) | undefined;
}

export interface BurstDelays {
  readonly joinMs: number;
  readonly leaveMs: number;
}

export class Bench {
  readonly #programs: string;
  readonly #targets: Child;
  readonly #port: number;

  private constructor(programs: string, targets: Child, port: number) {
    this.#programs = programs;
    this.#targets = targets;
    this.#port = port;
  }

  /** Starts the backends, as many as any cell needs. */
  static async start(programs: string, backends: number): Promise<Bench> {
    const targets = new Child(process.execPath, [`${programs}targets-program.js`, String(backends)]);
    const [, port] = (await targets.answer()).split(' ');
    return new Bench(programs, targets, Number(port));
  }

  measure(subject: Subject, backends: number, effort: Effort): Promise<Measured> {
    return subject === 'prometheus'
      ? this.#prometheus(backends, effort)
      : this.#collector(subject, backends, effort);
  }

  /** Milliseconds that the event loop is late at most, when so many backends come at once, and when they go. */
  async burst(backends: number): Promise<BurstDelays> {
    const collector = await this.#startCollector('lean');
    try {
      const joinMs = await this.#worstDelay(collector, backends);
      return { joinMs, leaveMs: await this.#worstDelay(collector, 0) };
    } finally {
      await collector.stop();
    }
  }

  async stop(): Promise<void> {
    await this.#targets.stop();
  }

  async #collector(variant: Variant, backends: number, effort: Effort): Promise<Measured> {
    const collector = await this.#startCollector(variant);
    try {
      await collector.ask('warm');
      await collector.ask(`backends ${backends}`);
      await delay(effort.warmUp * 1000);
      await collector.ask('begin');
      let residentBytes = 0;
      const measured = await this.#count(collector.pid, effort, () => {
        residentBytes = Math.max(residentBytes, collector.residentBytes);
      });
      await collector.ask('watch');
      await delay(WATCH_MS);
      const figures = await figuresOf(collector);
      if (figures.samples === 0) throw new Error('no collection came to a sample');
      return { ...measured, collector: { ...figures, residentBytes } };
    } finally {
      await collector.stop();
    }
  }

  async #prometheus(backends: number, effort: Effort): Promise<Measured> {
    const prometheus = await Prometheus.start(this.#port, backends);
    try {
      await delay(effort.warmUp * 1000);
      return { ...(await this.#count(prometheus.pid, effort, () => undefined)), collector: undefined };
    } finally {
      await prometheus.stop();
    }
  }

  /** @param look called each second */
  async #count(
    pid: number,
    { seconds }: Effort,
    look: () => void,
  ): Promise<{ readonly cpuSeconds: number; readonly answerBytes: number }> {
    const before = await this.#served();
    const cpuBefore = processorSeconds([pid]);
    for (let second = 0; second < seconds; second++) {
      await delay(1000);
      look();
    }
    const cpu = processorSeconds([pid]) - cpuBefore;
    const after = await this.#served();
    const requests = after.requests - before.requests;
    return {
      cpuSeconds: (cpu / requests) * 1000,
      answerBytes: (after.bytes - before.bytes) / requests,
    };
  }

  async #served(): Promise<{ readonly requests: number; readonly bytes: number }> {
    const [requests = 0, bytes = 0] = (await this.#targets.ask('served')).split(' ').slice(1).map(Number);
    return { requests, bytes };
  }

  /** With no backends yet. */
  async #startCollector(variant: Variant): Promise<Child> {
    const program = `${this.#programs}collector-program.js`;
    const collector = new Child(process.execPath, [program, String(this.#port), variant]);
    await collector.ask('begin');
    return collector;
  }

  async #worstDelay(collector: Child, backends: number): Promise<number> {
    await collector.ask('watch');
    await collector.ask(`backends ${backends}`);
    await delay(5000);
    return (await figuresOf(collector)).loopDelayMaxMs;
  }
}

async function figuresOf(collector: Child): Promise<CollectorFigures> {
  return JSON.parse(await collector.ask('figures')) as CollectorFigures;
}
