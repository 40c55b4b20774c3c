import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { findEnvoy } from '../../src/demo/envoy-binary.ts';
import { goTool } from '../support/go-tool.ts';
import { Program } from '../support/program.ts';
import type { Client } from './client.ts';
import type { Manifest } from './manifests.ts';
import { ENVOY_GATEWAY } from './tools.ts';

const ENVOY_VERSION = '1.40.0';
/** Where it serves xDS; it cannot be told another one. */
const XDS_PORT = 18_000;
const START_MS = 60_000;
const PASS_MS = 30_000;

/** A real Envoy Gateway in standalone mode: it reads manifests from a folder and starts an Envoy of its own. */
export class EnvoyGateway {
  readonly #program: Program;
  readonly #folder: string;
  /** `HOST:PORT` of its Envoy. */
  readonly envoyAdmin: string;

  /**
   * @param folder an empty one
   * @param manifests what it shall do
   * @param settings its configuration, but for where it runs
   */
  static async start(
    folder: string,
    manifests: readonly Manifest[],
    settings: object,
  ): Promise<EnvoyGateway> {
    const program = await goTool(ENVOY_GATEWAY);
    if (await isOpen(XDS_PORT)) throw new Error(`port ${XDS_PORT}, which Envoy Gateway needs, is in use`);
    const home = (name: string) => join(folder, name);
    const bin = home(`data/envoy-versions/${ENVOY_VERSION}/bin`);
    for (const path of [bin, home('manifests')]) mkdirSync(path, { recursive: true });
    // else it would fetch one
    symlinkSync(findEnvoy(), join(bin, 'envoy'));
    writeManifests(folder, manifests);
    const config = {
      ...settings,
      provider: {
        type: 'Custom',
        custom: {
          resource: { type: 'File', file: { paths: [home('manifests')] } },
          infrastructure: {
            type: 'Host',
            host: {
              configHome: home('config'),
              dataHome: home('data'),
              stateHome: home('state'),
              runtimeDir: home('run'),
            },
          },
        },
      },
    };
    writeFileSync(home('envoy-gateway.yaml'), stringify(config));
    execFileSync(program, ['certgen', '--local', '--config-home', home('config')], { stdio: 'pipe' });
    const server = new Program(program, ['server', '--config-path', home('envoy-gateway.yaml')], {
      cwd: folder,
      env: { HOME: folder },
    });
    try {
      const look = (): string | undefined => adminAddressIn(home('run'));
      const admin = await server.until('the Envoy of Envoy Gateway', look, START_MS);
      return new EnvoyGateway(server, folder, admin);
    } catch (error) {
      await server.stop();
      throw error;
    }
  }

  private constructor(program: Program, folder: string, envoyAdmin: string) {
    this.#program = program;
    this.#folder = folder;
    this.envoyAdmin = envoyAdmin;
  }

  get log(): string {
    return this.#program.log;
  }

  /** Waits for a request to pass, as long as it runs. */
  async passes(client: Client): Promise<void> {
    const isPassed = async (): Promise<boolean> => (await client.send()).status === 200;
    await this.#program.until('a request to pass', isPassed, PASS_MS);
  }

  /** Puts other manifests in place of those there are. */
  change(manifests: readonly Manifest[]): void {
    writeManifests(this.#folder, manifests);
  }

  async stop(): Promise<void> {
    await this.#program.stop();
  }
}

/** At once: from half a file it would take it that the rest is deleted. */
function writeManifests(folder: string, manifests: readonly Manifest[]): void {
  const text = manifests.map((manifest) => stringify(manifest)).join('---\n');
  writeFileSync(join(folder, 'all.yaml'), text);
  renameSync(join(folder, 'all.yaml'), join(folder, 'manifests', 'all.yaml'));
}

function adminAddressIn(folder: string): string | undefined {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  const file = names.find((name) => name.endsWith('admin-address.txt'));
  const address = file === undefined ? '' : readFileSync(join(folder, file), 'utf8').trim();
  return address === '' ? undefined : address;
}

function isOpen(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port });
    const done = (open: boolean) => {
      socket.destroy();
      resolve(open);
    };
    socket.once('connect', () => done(true)).once('error', () => done(false));
  });
}
