import { formatDuration } from '../bench/routing/progress.ts';
import type { Sample } from './sampler.ts';

/** Without a terminal a line comes this often. */
const SELDOM_SECONDS = 60;

/** What the soak says while it runs, on the standard error. */
export class Progress {
  readonly #stream: NodeJS.WriteStream;
  readonly #endSeconds: number;
  #saidSeconds = -SELDOM_SECONDS;

  constructor(stream: NodeJS.WriteStream, endSeconds: number) {
    this.#stream = stream;
    this.#endSeconds = endSeconds;
  }

  /** A line that stays. */
  say(line: string): void {
    this.#stream.write(`${this.#stream.isTTY ? '\r\u001B[K' : ''}${line}\n`);
  }

  /** A line that the next one takes the place of; where there is no terminal, only now and then. */
  show(sample: Sample, faults: number): void {
    const { seconds, requests, own, ours, rss, heapAfter, files, fault } = sample;
    if (!this.#stream.isTTY && seconds - this.#saidSeconds < SELDOM_SECONDS) return;
    this.#saidSeconds = seconds;
    const parts = [
      `${formatDuration(Math.max(0, this.#endSeconds - seconds))} left`,
      `${requests} requests, failed ${own} by faults, ${ours} by us`,
      `${faults} faults`,
      `${mebibytes(rss)} MiB resident, heap ${mebibytes(heapAfter)}`,
      `${files ?? '–'} files`,
      ...(fault === '' ? [] : [fault]),
    ];
    const line = parts.join('; ');
    if (this.#stream.isTTY) this.#stream.write(`\r\u001B[K${line.slice(0, this.#stream.columns - 1)}`);
    else this.#stream.write(`${line}\n`);
  }
}

function mebibytes(bytes: number | null): string {
  return bytes === null ? '–' : (bytes / 1024 / 1024).toFixed(1);
}
