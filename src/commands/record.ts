import { plural } from '../admin/words/figures.ts';
import { type Clock, sleep, unixMs } from '../runtime/clock.ts';
import { EXIT, PlimsollError } from '../runtime/errors.ts';
import { printable } from '../runtime/text.ts';
import { type AdminAccess, type AdminFlags, readAccess } from './admin-access.ts';
import { adminHint, withHint } from './admin-hint.ts';
import { reasonOf } from './ask-admin.ts';
import { clockFace } from './duration.ts';
import { readLine } from './recording-shape.ts';
import { RecordingWriter } from './recording-writer.ts';
import { sampleLines } from './sample-stream.ts';

export interface RecordOptions extends AdminFlags {
  readonly file: string;
  /** For how long. */
  readonly seconds: number;
}

export interface RecordIo {
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  readonly clock: Clock;
  /** Writes a line over the one before; undefined: there is no terminal. */
  readonly progress: ((text: string) => void) | undefined;
  /** Ends it before its time; what there is by then is a whole recording. */
  readonly signal: AbortSignal;
}

/** Between two attempts to connect. */
const RETRY_MS = 1_000;
const PROGRESS_MS = 1_000;

/**
 * Records what a running control plane collects and publishes.
 * @returns the exit code: `failed` when nothing was told by the end and so there is no file, or the file takes no more.
 */
export async function record(options: RecordOptions, io: RecordIo): Promise<number> {
  const read = await readAccess(options);
  if (read.kind === 'bad') {
    io.err(`plimsoll record: ${read.reason}\n`);
    return EXIT.usage;
  }
  const recorder = new Recorder(options, read.access, io);
  const timer = setInterval(() => io.progress?.(recorder.progress), PROGRESS_MS);
  try {
    await recorder.run();
    io.progress?.('');
    io.out(recorder.summary);
    return EXIT.ok;
  } catch (error) {
    if (!(error instanceof PlimsollError)) throw error;
    io.progress?.('');
    io.err(`plimsoll record: ${error.message}\n`);
    return error.code === 'usage' ? EXIT.usage : EXIT.failed;
  } finally {
    clearInterval(timer);
  }
}

class Recorder {
  readonly #options: RecordOptions;
  readonly #access: AdminAccess;
  readonly #io: RecordIo;
  readonly #startedAtMs: number;
  readonly #groups = new Set<string>();
  #writer: RecordingWriter | undefined;
  #evaluations = 0;
  #gaps = 0;
  #lost: { readonly atMs: number; readonly reason: string } | undefined;

  constructor(options: RecordOptions, access: AdminAccess, io: RecordIo) {
    this.#options = options;
    this.#access = access;
    this.#io = io;
    this.#startedAtMs = io.clock.now();
  }

  get progress(): string {
    const { seconds } = this.#options;
    const lost = this.#lost === undefined ? '' : `; lost: ${this.#lost.reason}`;
    return `${clockFace(this.#seconds)} of ${clockFace(seconds)}: ${this.#amount}${lost}`;
  }

  get summary(): string {
    return `recorded ${clockFace(this.#seconds)}: ${this.#amount} in ${printable(this.#options.file)}\n`;
  }

  /** @throws PlimsollError when it has not begun by the end, or the file takes no more. */
  async run(): Promise<void> {
    const { clock, signal } = this.#io;
    const time = new AbortController();
    const cancel = clock.schedule(1000 * this.#options.seconds, () => {
      time.abort();
    });
    const end = AbortSignal.any([signal, time.signal]);
    try {
      while (!end.aborted) {
        await this.#connection(end);
        await sleep(clock, RETRY_MS, end);
      }
      if (this.#writer === undefined) {
        const admin = printable(this.#options.admin);
        throw new PlimsollError('io', `${admin} told nothing by the end: nothing is recorded`);
      }
      await this.#writer.write({
        kind: 'end',
        at: unixMs(),
        because: signal.aborted ? 'interrupted' : 'time',
      });
      await this.#writer.end();
    } catch (error) {
      await this.#writer?.abandon();
      throw error;
    } finally {
      cancel();
    }
  }

  async #connection(end: AbortSignal): Promise<void> {
    let reason = 'the control plane ended the connection';
    let hint: string | undefined;
    try {
      for await (const line of sampleLines(this.#access, end)) await this.#take(line);
    } catch (error) {
      if (error instanceof PlimsollError && error.code !== 'protocol') throw error;
      reason = printable(reasonOf(error));
      hint = adminHint(error, this.#access.url);
    }
    if (end.aborted) return;
    if (this.#writer === undefined) {
      const admin = printable(this.#options.admin);
      throw new PlimsollError('io', `${admin} cannot be recorded: ${withHint(reason, hint)}`);
    }
    this.#lost ??= { atMs: this.#io.clock.now(), reason };
  }

  /** @throws PlimsollError `protocol` when it is no line of samples. */
  async #take(text: string): Promise<void> {
    const read = readLine(text);
    if (read.kind === 'bad') throw new PlimsollError('protocol', `it tells no samples: ${read.reason}`);
    if (read.kind === 'unknown') return;
    const { line } = read;
    if (line.kind === 'plimsoll samples') {
      if (this.#writer === undefined && line.groups.length === 0)
        throw new PlimsollError('io', 'no server group there follows the load');
      await this.#resume();
    }
    if (this.#writer === undefined) throw new PlimsollError('protocol', 'it does not begin with a header');
    await this.#writer.write(text);
    if (line.kind !== 'evaluation') return;
    this.#evaluations++;
    this.#groups.add(line.group);
  }

  async #resume(): Promise<void> {
    this.#writer ??= await RecordingWriter.create(this.#options.file);
    if (this.#lost === undefined) return;
    const { atMs, reason } = this.#lost;
    this.#lost = undefined;
    this.#gaps++;
    const seconds = (this.#io.clock.now() - atMs) / 1000;
    await this.#writer.write({ kind: 'gap', at: unixMs(), seconds, reason });
  }

  get #seconds(): number {
    return Math.min(this.#options.seconds, (this.#io.clock.now() - this.#startedAtMs) / 1000);
  }

  get #amount(): string {
    const gaps = this.#gaps === 0 ? '' : `, ${plural(this.#gaps, 'gap')}`;
    const groups = plural(this.#groups.size, 'server group');
    const kilobytes = Math.ceil((this.#writer?.bytes ?? 0) / 1000);
    return `${plural(this.#evaluations, 'evaluation')} of ${groups}${gaps}, ${kilobytes} kB`;
  }
}
