import { setTimeout as delay } from 'node:timers/promises';
import { Fleet } from './fleet.ts';
import type { Variant } from './requests.ts';
import { type ServerCommand, ServerProcess } from './server-process.ts';

/** One point of the bench. */
export interface Cell {
  readonly streams: number;
  readonly backends: number;
  readonly variant: Variant;
}

/** How much of it is done. */
export interface Effort {
  /** In each, both servers start anew and take turns. */
  readonly rounds: number;
  /** Counted pushes to each server in a round. */
  readonly pushes: number;
  /** Pushes to each before those, which nothing is measured in. */
  readonly warmUp: number;
  /** From one push to the next to the same server. */
  readonly intervalMs: number;
}

/** What one round measured of one server. */
export interface Measured {
  /** Processor time from the first connection until all is quiet, and the time until the last first response. */
  readonly storm: { readonly cpuMs: number; readonly lastMs: number };
  /** By push: processor time with its acknowledgements and everything else until the next push. */
  readonly cpuMs: readonly number[];
  /** Bytes of each stream. */
  readonly memory: { readonly idle: number; readonly push: number };
  /** By push: when each stream had it, milliseconds from its being published, ascending. */
  readonly arrivalsMs: readonly (readonly number[])[];
}

/** Both servers in one round; without a rival the second is undefined. */
export interface Round {
  readonly ours: Measured;
  readonly theirs: Measured | undefined;
}

/** Lets what a storm or a push leaves behind end. */
const QUIET_MS = 500;

/** One round: both servers side by side, in turns, so that other work on the machine meets both alike. */
export async function measureRound(options: {
  readonly cell: Cell;
  readonly ours: ServerCommand;
  readonly theirs: ServerCommand | undefined;
  readonly effort: Effort;
  readonly oursFirst: boolean;
}): Promise<Round> {
  const { cell, effort } = options;
  const subjects: Subject[] = [];
  try {
    const ours = await Subject.start(cell, options.ours, effort);
    subjects.push(ours);
    const theirs = options.theirs && (await Subject.start(cell, options.theirs, effort));
    if (theirs !== undefined) subjects.push(theirs);
    if (!options.oursFirst) subjects.reverse();
    for (const subject of subjects) await subject.storm();
    await pushes(subjects, effort.warmUp, effort.intervalMs);
    for (const subject of subjects) subject.begin();
    await pushes(subjects, effort.pushes, effort.intervalMs);
    return { ours: ours.end(), theirs: theirs?.end() };
  } finally {
    for (const subject of subjects) await subject.stop();
  }
}

async function pushes(subjects: readonly Subject[], count: number, intervalMs: number): Promise<void> {
  for (let push = 0; push < count; push++) {
    for (const subject of subjects) {
      const next = performance.now() + intervalMs / subjects.length;
      await subject.push(() => delay(Math.max(0, next - performance.now())));
    }
  }
}

/** One server and its fleet in one round. */
class Subject {
  readonly #server: ServerProcess;
  readonly #fleet: Fleet;
  readonly #streams: number;
  #emptyBytes = 0;
  #idleBytes = 0;
  #cpuMs: number[] = [];
  #number = 0;
  #storm = { cpuMs: 0, lastMs: 0 };
  #arrivalsMs: (readonly number[])[] = [];

  private constructor(server: ServerProcess, cell: Cell) {
    this.#server = server;
    this.#streams = cell.streams;
    this.#fleet = new Fleet({ variant: cell.variant, size: cell.streams, port: server.port });
  }

  static async start(cell: Cell, command: ServerCommand, effort: Effort): Promise<Subject> {
    const server = await ServerProcess.start(command);
    await server.prepare(1, effort.warmUp + effort.pushes);
    return new Subject(server, cell);
  }

  async storm(): Promise<void> {
    this.#emptyBytes = this.#server.memory().resident;
    const cpuMs = await this.#server.cpuMs();
    const arrivals = await this.#fleet.connect();
    await delay(QUIET_MS);
    this.#idleBytes = this.#server.memory().resident;
    this.#storm = { cpuMs: (await this.#server.cpuMs()) - cpuMs, lastMs: arrivals.at(-1) ?? 0 };
  }

  /** @param rest waits until the turn is over. */
  async push(rest: () => Promise<void>): Promise<void> {
    this.#number++;
    const cpuMs = await this.#server.cpuMs();
    const pushed: Promise<void>[] = [];
    const arrivals = await this.#fleet.round(() => {
      pushed.push(this.#server.push(this.#number));
    });
    await Promise.all(pushed);
    await rest();
    this.#arrivalsMs.push(arrivals);
    this.#cpuMs.push((await this.#server.cpuMs()) - cpuMs);
  }

  /** What comes from here on counts. */
  begin(): void {
    this.#arrivalsMs = [];
    this.#cpuMs = [];
    this.#server.resetPeak();
  }

  end(): Measured {
    this.#fleet.check();
    const perStream = (bytes: number): number => (bytes - this.#emptyBytes) / this.#streams;
    return {
      storm: this.#storm,
      cpuMs: this.#cpuMs,
      memory: { idle: perStream(this.#idleBytes), push: perStream(this.#server.memory().peak) },
      arrivalsMs: this.#arrivalsMs,
    };
  }

  async stop(): Promise<void> {
    this.#fleet.close();
    await this.#server.stop();
  }
}
