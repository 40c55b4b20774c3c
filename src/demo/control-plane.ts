import { type ChildProcess, execFile, type ExecFileException, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { request } from 'undici';
import { sleep, systemClock } from '../runtime/clock.ts';
import { messageOf, PlimsollError } from '../runtime/errors.ts';
import { endChild, keepFromOutliving, tooSlow } from './children.ts';

/** How this same Plimsoll is started: from `dist`, or from its sources under tsx. */
const FROM_SOURCE = import.meta.url.endsWith('.ts');
const MAIN = fileURLToPath(new URL(FROM_SOURCE ? '../main.ts' : '../main.js', import.meta.url));
const LOG_LINES = 200;

export interface ControlPlaneOptions {
  /** The configuration file; its `Log.Format` must be json, or auto. */
  readonly config: string;
  /** Plimsoll's main.js, to run another one than this. */
  readonly program?: string;
  /** More of its environment. */
  readonly env?: Readonly<Record<string, string>>;
  /** Seconds until it must be ready, default 30. */
  readonly readySeconds?: number;
  /** Gives up the start; afterwards it has no effect. */
  readonly signal?: AbortSignal;
}

/** `plimsoll serve` as a process of its own. `stop` or `kill` it; whatever happens, it does not outlive this one. */
export class ControlPlane {
  readonly #child: ChildProcess;
  readonly #log: string[] = [];
  #xds = '';
  #admin = '';

  /**
   * Starts it and waits until it is ready.
   * @throws PlimsollError `io` when it ends before or is not ready in time; the message has the end of its log. What
   * the signal aborts throws its reason.
   */
  static async start(options: ControlPlaneOptions): Promise<ControlPlane> {
    const plane = new ControlPlane(options);
    try {
      await plane.#becomeReady(options);
      return plane;
    } catch (error) {
      await plane.kill();
      throw error;
    }
  }

  private constructor({ config, program, env }: ControlPlaneOptions) {
    const [command, ...args] = plimsollCommand(['serve', '--config', config], program);
    this.#child = spawn(command, args, {
      stdio: ['ignore', 'ignore', 'pipe'],
      env: { ...process.env, ...env },
      detached: true,
    });
    keepFromOutliving(this.#child);
    this.#child.once('error', (error) => {
      this.#log.push(error.message);
    });
    const { stderr } = this.#child;
    if (stderr === null) throw new PlimsollError('internal', 'the control plane has no standard error');
    createInterface({ input: stderr }).on('line', (line) => {
      this.#read(line);
    });
  }

  /** `HOST:PORT` where sidecars reach it, as bound. */
  get xds(): string {
    return this.#xds;
  }

  /** `HOST:PORT` of `/healthz`, `/readyz` and `/metrics`, as bound. */
  get admin(): string {
    return this.#admin;
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  get running(): boolean {
    return this.#child.pid !== undefined && this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** undefined: it runs, or a signal ended it. */
  get exitCode(): number | undefined {
    return this.#child.exitCode ?? undefined;
  }

  /** The last lines that it logged. */
  get log(): readonly string[] {
    return this.#log;
  }

  /**
   * Its metrics page.
   * @throws when it does not answer.
   */
  metrics(): Promise<string> {
    return this.#get('/metrics');
  }

  /** Makes it read its configuration file again. */
  reload(): void {
    this.#child.kill('SIGHUP');
  }

  /** Lets it drain and end; kills it when that takes more than 15 s. */
  stop(): Promise<void> {
    return endChild(this.#child, 15_000);
  }

  /** SIGKILL: it has no chance to say anything to anyone. */
  async kill(): Promise<void> {
    this.#child.kill('SIGKILL');
    await endChild(this.#child, 0);
  }

  #read(line: string): void {
    this.#log.push(line);
    if (this.#log.length > LOG_LINES) this.#log.shift();
    const ready = /^\{.*"msg":"ready"/.test(line) ? (JSON.parse(line) as Record<string, unknown>) : undefined;
    if (typeof ready?.['xds'] !== 'string' || typeof ready['admin'] !== 'string') return;
    this.#xds = ready['xds'];
    this.#admin = ready['admin'];
  }

  async #becomeReady({ readySeconds = 30, signal }: ControlPlaneOptions): Promise<void> {
    const deadline = systemClock.now() + readySeconds * 1000;
    while (systemClock.now() < deadline) {
      signal?.throwIfAborted();
      if (!this.running) throw this.#failure('ended before it was ready');
      if (this.#admin !== '' && (await this.#get('/readyz').catch(() => undefined)) !== undefined) return;
      await sleep(systemClock, 20, signal);
    }
    throw this.#failure(tooSlow('ready', readySeconds));
  }

  async #get(path: string): Promise<string> {
    const timeouts = { headersTimeout: 2000, bodyTimeout: 2000 };
    const { statusCode, body } = await request(`http://${this.#admin}${path}`, timeouts);
    const text = await body.text();
    if (statusCode === 200) return text;
    throw new PlimsollError('io', `http://${this.#admin}${path}: must answer 200, answered ${statusCode}`);
  }

  #failure(what: string): PlimsollError {
    return new PlimsollError(
      'io',
      `plimsoll serve: ${what}; its log ends\n${this.#log.slice(-20).join('\n')}`,
    );
  }
}

/**
 * What a Plimsoll command prints on standard output.
 * @param signal kills it
 * @throws PlimsollError `io` when it does not end with 0, or not within the time; the message has what it said. What the
 * signal aborts throws its reason.
 */
export async function plimsollOutput(
  args: readonly string[],
  signal: AbortSignal,
  { program, seconds = 30 }: Pick<ControlPlaneOptions, 'program'> & { readonly seconds?: number } = {},
): Promise<string> {
  const [command, ...rest] = plimsollCommand(args, program);
  try {
    return (await promisify(execFile)(command, rest, { timeout: seconds * 1000, signal })).stdout;
  } catch (cause) {
    signal.throwIfAborted();
    const { stderr = '', killed, code } = cause as Partial<ExecFileException & { readonly stderr: string }>;
    const end = killed === true ? tooSlow('done', seconds) : `ended with ${code ?? messageOf(cause)}`;
    const said = stderr.trim() === '' ? `${end}, and said nothing` : `${end}, and said\n${stderr.trimEnd()}`;
    throw new PlimsollError('io', `plimsoll ${args.join(' ')}: ${said}`, { cause });
  }
}

function plimsollCommand(args: readonly string[], program = MAIN): readonly [string, ...string[]] {
  const loader = program.endsWith('.ts') ? ['--import', import.meta.resolve('tsx')] : [];
  return [process.execPath, ...loader, program, ...args];
}
