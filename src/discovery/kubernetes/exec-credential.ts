import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, constants, openSync } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { devNull } from 'node:os';
import { delimiter, resolve } from 'node:path';
import { systemClock, unixMs, unixMsOf } from '../../runtime/clock.ts';
import { messageOf } from '../../runtime/errors.ts';
import { inTime } from '../../runtime/in-time.ts';
import { printable } from '../../runtime/text.ts';
import { filledTextOf, listOf, textOf } from './json.ts';
import { checkedToken } from './small-text.ts';

const TIMEOUT_MS = 60_000;
const OUTPUT_LENGTH_MAX = 1024 * 1024;
const COMPLAINT_LENGTH_MAX = 1000;
/** What starting a process opens: two for each of its streams, two to hear of its failure, and two to spare. */
const START_FILES = 8;
/** A credential that ends this soon is fetched anew. */
const MARGIN_MS = 30_000;

export interface Credential {
  readonly token: string | undefined;
  readonly cert: string | undefined;
  readonly key: string | undefined;
}

/**
 * The credential plugin of a kubeconfig (client.authentication.k8s.io), as clouds bring one. It runs without a terminal;
 * what it gives is kept until it expires.
 */
export class ExecCredential {
  readonly #timeoutMs: number;
  #kept: { readonly plugin: string; readonly credential: Credential; readonly untilMs: number } | undefined;

  /** @param timeoutMs how long it may take */
  constructor(timeoutMs = TIMEOUT_MS) {
    this.#timeoutMs = timeoutMs;
  }

  /** Lets go of what is kept. */
  forget(): void {
    this.#kept = undefined;
  }

  /**
   * @param exec of the kubeconfig's user
   * @param folder what a command with a slash is relative to
   * @throws Error with the reason in words.
   */
  async get(exec: unknown, folder: string, signal: AbortSignal): Promise<Credential> {
    const plugin = JSON.stringify(exec);
    if (this.#kept?.plugin === plugin && unixMs() < this.#kept.untilMs) return this.#kept.credential;
    const command = textOf(exec, 'command') ?? '';
    const name = `the credential plugin ${printable(command)}`;
    try {
      const program = await programOf(command, folder, environmentOf(exec)['PATH']);
      const answer = parsed(await run(exec, program, this.#timeoutMs, signal));
      const token = filledTextOf(answer, 'status', 'token');
      const credential = {
        token: token === undefined ? undefined : checkedToken(token, 'status.token'),
        cert: filledTextOf(answer, 'status', 'clientCertificateData'),
        key: filledTextOf(answer, 'status', 'clientKeyData'),
      };
      if (credential.token === undefined && credential.cert === undefined)
        throw new Error('it gave no credential');
      const expiresMs = unixMsOf(textOf(answer, 'status', 'expirationTimestamp') ?? '');
      this.#kept =
        expiresMs === undefined ? undefined : { plugin, credential, untilMs: expiresMs - MARGIN_MS };
      return credential;
    } catch (error) {
      throw new Error(`${name}: ${printable(messageOf(error))}`, { cause: error });
    }
  }
}

/** @throws Error without the words of the text, which may be a credential. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw new Error('what it wrote is no JSON');
  }
}

/**
 * Where the command is, as a shell would find it. A start waits within the event loop until the program is read: on a
 * file system that hangs it would not come back, so it is asked for before.
 * @throws Error when nothing comes of it.
 */
async function programOf(command: string, folder: string, searched = ''): Promise<string> {
  const candidates = command.includes('/')
    ? [resolve(folder, command)]
    : searched.split(delimiter).map((part) => resolve(part, command));
  for (const path of candidates) {
    if (await inTime(path, () => isProgram(path))) return path;
  }
  return command.includes('/') ? resolve(folder, command) : command;
}

async function isProgram(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK);
    return (await stat(path)).isFile();
  } catch {
    return false;
  }
}

function run(exec: unknown, command: string, timeoutMs: number, signal: AbortSignal): Promise<string> {
  if (signal.aborted) throw new Error('stopped');
  checkRoom();
  const args = listOf(exec, 'args').filter((arg) => typeof arg === 'string');
  // its own `signal` leaves a listener there when there is no such command
  const child: ChildProcess = spawn(command, args, {
    env: environmentOf(exec),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let cancelLimit = (): void => undefined;
  let onAbort = (): void => undefined;
  return new Promise<string>((fulfil, reject) => {
    // first of all: what has not begun, as when too many files are open, has no streams and fails a moment later
    child.on('error', reject);
    onAbort = () => {
      reject(new Error('stopped'));
    };
    signal.addEventListener('abort', onAbort, { once: true });
    cancelLimit = systemClock.schedule(timeoutMs, () => {
      reject(new Error(`it did not end within ${timeoutMs / 1000} s`));
    });
    let output = '';
    let complaint = '';
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      output += text;
      if (output.length > OUTPUT_LENGTH_MAX)
        reject(new Error(`it wrote more than ${OUTPUT_LENGTH_MAX} characters`));
    });
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      complaint = (complaint + text).slice(-COMPLAINT_LENGTH_MAX);
    });
    child.once('close', (code, killedBy) => {
      if (code === 0) fulfil(output);
      else reject(new Error(`it ended with ${code ?? killedBy ?? ''}: ${complaint.trim()}`));
    });
  }).finally(() => {
    cancelLimit();
    signal.removeEventListener('abort', onAbort);
    child.kill('SIGKILL');
    // what it has started may hold on to them
    child.stdout?.destroy();
    child.stderr?.destroy();
  });
}

/**
 * A start that fails half way never closes the files that it has opened by then: it is made with room for all of them.
 * @throws Error when there is none.
 */
function checkRoom(): void {
  const files: number[] = [];
  try {
    while (files.length < START_FILES) files.push(openSync(devNull, 'r'));
  } finally {
    for (const file of files) closeSync(file);
  }
}

function environmentOf(exec: unknown): NodeJS.ProcessEnv {
  const apiVersion = textOf(exec, 'apiVersion') ?? 'client.authentication.k8s.io/v1';
  const info = JSON.stringify({ apiVersion, kind: 'ExecCredential', spec: { interactive: false } });
  const own = listOf(exec, 'env').map((entry): [string, string] => [
    textOf(entry, 'name') ?? '',
    textOf(entry, 'value') ?? '',
  ]);
  return { ...process.env, KUBERNETES_EXEC_INFO: info, ...Object.fromEntries<string>(own) };
}
