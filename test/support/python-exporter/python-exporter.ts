import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { Backend } from '../../../src/core/model/backend.ts';

const cache = fileURLToPath(new URL('../../../.cache', import.meta.url));
const requirements = fileURLToPath(new URL('requirements.txt', import.meta.url));
const program = fileURLToPath(new URL('exporter.py', import.meta.url));

/** The load that the exporter shows. */
export interface Load {
  readonly queued: number;
  readonly running: number;
  readonly kv: number;
  /** So many more, 8 s each. */
  readonly finished: number;
}

/** A real exporter: Python's Prometheus client, wired as vLLM wires it. */
export class PythonExporter {
  readonly backend: Backend;
  readonly #child: ChildProcess;
  readonly #folder: string;

  private constructor(port: number, child: ChildProcess, folder: string) {
    this.backend = { id: `127.0.0.1:${port}`, address: '127.0.0.1', port, weight: 100 };
    this.#child = child;
    this.#folder = folder;
  }

  /**
   * Installs what it needs, where a run before this one has not done so.
   * @param processes that answer on its port
   */
  static async start(processes = 1): Promise<PythonExporter> {
    const packages = installed();
    const folder = mkdtempSync(join(tmpdir(), 'plimsoll-exporter-'));
    const child = spawn('python3', [program, String(processes)], {
      env: {
        ...process.env,
        PYTHONPATH: packages,
        ...(processes > 1 ? { PROMETHEUS_MULTIPROC_DIR: folder } : {}),
      },
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    const [line] = (await Promise.race([
      once(createInterface({ input: child.stdout }), 'line'),
      once(child, 'close').then(() => [undefined]),
    ])) as [string | undefined];
    if (line === undefined) throw new Error('the Python exporter ended before it listened');
    return new PythonExporter(Number(line), child, folder);
  }

  async show(load: Load): Promise<void> {
    await this.#ask('/load', { method: 'POST', body: JSON.stringify(load) });
  }

  /** CPU seconds of its process, of any of them where there are several. */
  async cpuSeconds(): Promise<number> {
    return Number(await this.#ask('/cpu'));
  }

  async stop(): Promise<void> {
    const closed = once(this.#child, 'close');
    this.#child.stdin?.end();
    await closed;
    rmSync(this.#folder, { recursive: true, force: true });
  }

  async #ask(path: string, init: RequestInit = {}): Promise<string> {
    const response = await fetch(`http://${this.backend.id}${path}`, init);
    if (!response.ok) throw new Error(`the Python exporter answered ${response.status} to ${path}`);
    return response.text();
  }
}

/** @returns the folder of the packages, made at the first call for these requirements and this Python */
function installed(): string {
  const version = python(['-c', 'import sys; print(sys.version)'], 'python3 is needed for the real exporter');
  const key = createHash('sha256').update(readFileSync(requirements)).update(version).digest('hex');
  const folder = join(cache, `python-exporter-${key.slice(0, 16)}`);
  if (existsSync(folder)) return folder;
  mkdirSync(cache, { recursive: true });
  const partial = mkdtempSync(join(cache, 'python-exporter-partial-'));
  try {
    const how = ['--no-deps', '--require-hashes', '--only-binary=:all:', '--no-input', '--no-warn-conflicts'];
    python(
      ['-m', 'pip', 'install', '--quiet', ...how, '--target', partial, '--requirement', requirements],
      'pip could not install what the real exporter needs (no pip, no network, or a Python that is not 3.10 to 3.14)',
    );
    // another run may have been faster
    if (!existsSync(folder)) renameSync(partial, folder);
  } finally {
    rmSync(partial, { recursive: true, force: true });
  }
  return folder;
}

function python(args: readonly string[], otherwise: string): string {
  const result = spawnSync('python3', args, { encoding: 'utf8' });
  if (result.status === 0) return result.stdout;
  throw new Error(
    `${otherwise}: ${result.error?.message ?? result.stderr.trim().split('\n').slice(-5).join('\n')}`,
  );
}
