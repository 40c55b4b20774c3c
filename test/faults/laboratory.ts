import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ControlPlane } from '../../src/demo/control-plane.ts';
import { TestCa } from '../support/pki.ts';
import { freePorts } from '../support/ports.ts';
import { configurationOf, type ConfigurationChange } from './configuration.ts';
import type { Lab, SecondPlane } from './model.ts';
import type { PlaneOptions } from './plane.ts';

const DAY_SECONDS = 86_400;

/** The certificates of the control plane, and more control planes beside it. */
export class Laboratory implements Lab {
  readonly program: string;
  readonly authorityFile: string;
  readonly #options: PlaneOptions;
  readonly #authority: TestCa;

  /** Its certificates are in place then. */
  static async open(options: PlaneOptions): Promise<Laboratory> {
    const laboratory = new Laboratory(options, await TestCa.create());
    await writeFile(laboratory.authorityFile, laboratory.authority);
    await laboratory.certify(DAY_SECONDS);
    return laboratory;
  }

  private constructor(options: PlaneOptions, authority: TestCa) {
    this.#options = options;
    this.#authority = authority;
    this.program = options.program;
    this.authorityFile = join(options.folder, 'ca.crt');
  }

  get authority(): string {
    return this.#authority.cert;
  }

  async certify(seconds = DAY_SECONDS): Promise<void> {
    const { folder } = this.#options;
    const validHours = [-1, seconds / 3600] as const;
    const { cert, key } = await this.#authority.issue({ ip: ['127.0.0.1'], validHours });
    await writeFile(join(folder, 'tls.key'), key);
    await writeFile(join(folder, 'tls.crt'), cert);
  }

  async second(change: ConfigurationChange): Promise<SecondPlane> {
    const { folder, places, program, signal } = this.#options;
    const [xdsPort, adminPort] = (await freePorts(2)) as [number, number];
    const config = join(folder, 'second.yaml');
    const fixed = { ...this.#options, xds: `127.0.0.1:${xdsPort}`, admin: `127.0.0.1:${adminPort}` };
    await writeFile(config, configurationOf(places(), fixed, change));
    const plane = await ControlPlane.start({ config, program, signal });
    return { xdsPort, stop: () => plane.kill() };
  }
}
