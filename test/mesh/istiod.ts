import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { request } from 'undici';
import { goTool } from '../support/go-tool.ts';
import { Program } from '../support/program.ts';
import { steadyPorts } from './steady-ports.ts';
import { PILOT } from './tools.ts';

const START_MS = 60_000;

/** A real istiod, on the API server that a kubeconfig names. */
export class Istiod {
  /** Where it serves xDS to sidecars, on 127.0.0.1 and without TLS. */
  readonly xdsPort: number;
  readonly #program: Program;

  /** @param folder an empty one; @param kubeconfig its path */
  static async start(folder: string, kubeconfig: string): Promise<Istiod> {
    const program = await goTool(PILOT);
    const [http = 0, xds = 0, monitoring = 0, debug = 0] = await steadyPorts(4);
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'mesh.yaml'), 'defaultConfig: {}\n');
    const local = (port: number) => `127.0.0.1:${port}`;
    const args = ['discovery', '--kubeconfig', kubeconfig, '--meshConfig', 'mesh.yaml', '--httpAddr'];
    args.push(local(http), '--grpcAddr', local(xds), '--secureGRPCAddr', '', '--httpsAddr', '');
    args.push('--monitoringAddr', local(monitoring), '--ctrlz_port', String(debug));
    const env = {
      POD_NAMESPACE: 'istio-system',
      POD_NAME: 'istiod',
      ENABLE_CA_SERVER: 'false',
      // filters that only Istio's own build of Envoy has
      PILOT_ENABLE_METADATA_EXCHANGE: 'false',
      PILOT_ENABLE_ALPN_FILTER: 'false',
    };
    const server = new Program(program, args, { cwd: folder, env });
    const isReady = async () => (await request(`http://${local(http)}/ready`)).statusCode === 200;
    try {
      await server.until('istiod', isReady, START_MS);
    } catch (error) {
      await server.stop();
      throw error;
    }
    return new Istiod(server, xds);
  }

  private constructor(program: Program, xdsPort: number) {
    this.#program = program;
    this.xdsPort = xdsPort;
  }

  get log(): string {
    return this.#program.log;
  }

  async stop(): Promise<void> {
    await this.#program.stop();
  }
}
