import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Child } from './child.ts';
import { hostPortOf } from './targets.ts';

/** @returns its version; undefined: there is none on the PATH. */
export async function prometheusVersion(): Promise<string | undefined> {
  try {
    const { stdout, stderr } = await promisify(execFile)('prometheus', ['--version']);
    return /version (\S+)/.exec(stdout + stderr)?.[1];
  } catch {
    return undefined;
  }
}

/** A Prometheus that scrapes so many targets each second and keeps their samples in a temporary folder. */
export class Prometheus {
  readonly #child: Child;
  readonly #folder: string;

  private constructor(child: Child, folder: string) {
    this.#child = child;
    this.#folder = folder;
  }

  static async start(port: number, count: number): Promise<Prometheus> {
    const folder = await mkdtemp(join(tmpdir(), 'plimsoll-bench-'));
    const config = join(folder, 'prometheus.json');
    await writeFile(config, JSON.stringify(configOf(port, count)));
    const child = new Child('prometheus', [
      `--config.file=${config}`,
      `--storage.tsdb.path=${join(folder, 'data')}`,
      '--web.listen-address=127.0.0.1:0',
      '--log.level=error',
    ]);
    return new Prometheus(child, folder);
  }

  get pid(): number {
    return this.#child.pid;
  }

  async stop(): Promise<void> {
    await this.#child.stop();
    await rm(this.#folder, { recursive: true, force: true });
  }
}

/** JSON is YAML. */
function configOf(port: number, count: number): unknown {
  const targets = Array.from({ length: count }, (_, target) => hostPortOf(target, port));
  return {
    global: { scrape_interval: '1s', scrape_timeout: '1s' },
    scrape_configs: [{ job_name: 'bench', metrics_path: '/metrics', static_configs: [{ targets }] }],
  };
}
