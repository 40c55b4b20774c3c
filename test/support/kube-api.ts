import { type ChildProcess, spawn } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { closeSync, openSync } from 'node:fs';
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { request } from 'undici';
import { endChild, keepFromOutliving } from '../../src/demo/children.ts';
import { Cleanups } from './cleanups.ts';
import { KubeClient } from './kube-client.ts';
import { type KubePrograms, kubePrograms } from './kube-programs.ts';
import { TestCa } from './pki.ts';
import { freePorts } from './ports.ts';
import { waitFor } from './wait-for.ts';

const ADMIN_TOKEN = 'admin-token';
const READY_MS = 120_000;

interface Ports {
  readonly api: number;
  readonly etcd: number;
  readonly peer: number;
}

/**
 * A real Kubernetes API server and its etcd on 127.0.0.1, with RBAC, and without controllers, kubelets or nodes: tests
 * write Services, EndpointSlices and pods themselves. `stop` it; whatever happens, it does not outlive this process.
 */
export class KubeApi {
  readonly url: string;
  readonly port: number;
  /** In PEM; the server's certificate comes from it. */
  readonly ca: string;
  /** May do everything. */
  readonly admin: KubeClient;
  readonly #programs: KubePrograms;
  readonly #ports: Ports;
  readonly #folder: string;
  #etcd: ChildProcess | undefined;
  #server: ChildProcess | undefined;

  static async start(): Promise<KubeApi> {
    const programs = await kubePrograms();
    const [api = 0, etcd = 0, peer = 0] = await freePorts(3);
    const folder = await mkdtemp(join(tmpdir(), 'plimsoll-kube-'));
    const cleanups = new Cleanups();
    cleanups.add(() => rm(folder, { recursive: true, force: true }));
    try {
      const cluster = new KubeApi(programs, { api, etcd, peer }, folder, await writeCredentials(folder));
      cleanups.add(() => cluster.stop());
      await cluster.startEtcd();
      await cluster.startServer();
      return cluster;
    } catch (error) {
      await cleanups.run();
      throw error;
    }
  }

  private constructor(programs: KubePrograms, ports: Ports, folder: string, ca: string) {
    this.#programs = programs;
    this.#ports = ports;
    this.#folder = folder;
    this.port = ports.api;
    this.url = `https://127.0.0.1:${ports.api}`;
    this.ca = ca;
    this.admin = new KubeClient(this.url, ca, ADMIN_TOKEN);
  }

  async stop(): Promise<void> {
    await this.admin.close();
    await this.stopServer();
    await this.stopEtcd();
    await rm(this.#folder, { recursive: true, force: true });
  }

  // ---------------------------------------------------------------- processes

  async startEtcd(): Promise<void> {
    const [client, peer] = [this.#ports.etcd, this.#ports.peer].map((port) => `http://127.0.0.1:${port}`);
    this.#etcd = this.#run('etcd', this.#programs.etcd, [
      '--data-dir=etcd',
      '--unsafe-no-fsync',
      `--listen-client-urls=${client ?? ''}`,
      `--advertise-client-urls=${client ?? ''}`,
      `--listen-peer-urls=${peer ?? ''}`,
      `--initial-advertise-peer-urls=${peer ?? ''}`,
      `--initial-cluster=default=${peer ?? ''}`,
    ]);
    await this.#ready('etcd', this.#etcd, async () => {
      const { statusCode, body } = await request(`${client ?? ''}/health`);
      await body.dump();
      return statusCode === 200;
    });
  }

  async startServer(): Promise<void> {
    this.#server = this.#run('api-server', this.#programs.apiServer, [
      `--etcd-servers=http://127.0.0.1:${this.#ports.etcd}`,
      '--bind-address=127.0.0.1',
      '--advertise-address=127.0.0.1',
      `--secure-port=${this.#ports.api}`,
      '--tls-cert-file=server.crt',
      '--tls-private-key-file=server.key',
      '--service-account-issuer=https://kubernetes.default.svc',
      '--service-account-key-file=accounts.pub',
      '--service-account-signing-key-file=accounts.key',
      '--token-auth-file=tokens.csv',
      '--authorization-mode=RBAC',
      '--service-cluster-ip-range=10.96.0.0/16,fd00:10:96::/112',
      '--endpoint-reconciler-type=none',
      '--disable-admission-plugins=ServiceAccount',
    ]);
    await this.#ready('api-server', this.#server, async () => {
      if ((await this.admin.ask('GET', '/readyz')).status !== 200) return false;
      return (await this.admin.ask('GET', '/api/v1/namespaces/default')).status === 200;
    });
  }

  /** Kills it, without a word to its clients. */
  async stopServer(): Promise<void> {
    await killed(this.#server);
  }

  async stopEtcd(): Promise<void> {
    await killed(this.#etcd);
  }

  /** Copies what etcd holds. Etcd must be stopped. */
  async saveState(): Promise<void> {
    await rm(join(this.#folder, 'saved'), { recursive: true, force: true });
    await cp(join(this.#folder, 'etcd'), join(this.#folder, 'saved'), { recursive: true });
  }

  /** Goes back to the state that was saved. Etcd must be stopped. */
  async restoreState(): Promise<void> {
    await rm(join(this.#folder, 'etcd'), { recursive: true });
    await cp(join(this.#folder, 'saved'), join(this.#folder, 'etcd'), { recursive: true });
  }

  #run(name: string, program: string, args: readonly string[]): ChildProcess {
    const log = openSync(join(this.#folder, `${name}.log`), 'a');
    const child = spawn(program, args, { cwd: this.#folder, stdio: ['ignore', log, log] });
    closeSync(log);
    keepFromOutliving(child);
    return child;
  }

  async #ready(name: string, child: ChildProcess, probe: () => Promise<boolean>): Promise<void> {
    let failure: Error | undefined;
    child.once('error', (error) => {
      failure = error;
    });
    try {
      await waitFor(
        name,
        () => {
          if (failure !== undefined || child.exitCode !== null) return true;
          return probe();
        },
        READY_MS,
      );
      if (failure !== undefined) throw failure;
      if (child.exitCode !== null) throw new Error(`${name} ended with ${child.exitCode}`);
    } catch (error) {
      const log = await readFile(join(this.#folder, `${name}.log`), 'utf8').catch(() => '');
      throw new Error(
        `${name} is not ready; its log ends\n${log.trimEnd().split('\n').slice(-5).join('\n')}`,
        {
          cause: error,
        },
      );
    }
  }

  // ---------------------------------------------------------------- accounts

  /** A service account, and a token of its. */
  async serviceAccount(namespace: string, name: string): Promise<string> {
    const accounts = `/api/v1/namespaces/${namespace}/serviceaccounts`;
    await this.admin.call('POST', accounts, { metadata: { name } });
    return this.newToken(namespace, name);
  }

  async newToken(namespace: string, name: string): Promise<string> {
    const path = `/api/v1/namespaces/${namespace}/serviceaccounts/${name}/token`;
    const { status } = await this.admin.call('POST', path, { spec: { expirationSeconds: 600 } });
    return (status as { readonly token: string }).token;
  }

  /** The text of a kubeconfig file. @param user its credentials, as a kubeconfig has them */
  kubeconfig(user: Readonly<Record<string, unknown>>, server = this.url): string {
    const data = Buffer.from(this.ca).toString('base64');
    return JSON.stringify({
      'current-context': 'test',
      contexts: [{ name: 'test', context: { cluster: 'test', user: 'test' } }],
      clusters: [{ name: 'test', cluster: { server, 'certificate-authority-data': data } }],
      users: [{ name: 'test', user }],
    });
  }

  // ---------------------------------------------------------------- etcd

  /** Forgets every revision before the current one. */
  async compact(): Promise<void> {
    const url = `http://127.0.0.1:${this.#ports.etcd}/v3/kv`;
    const ask = async (path: string, body: unknown): Promise<{ header: { revision: string } }> => {
      const { statusCode, body: answer } = await request(`${url}/${path}`, {
        method: 'POST',
        body: JSON.stringify(body),
      });
      const text = await answer.text();
      if (statusCode !== 200) throw new Error(`etcd ${path}: ${statusCode} ${text}`);
      return JSON.parse(text) as { header: { revision: string } };
    };
    const { header } = await ask('range', { key: 'AA==' });
    await ask('compaction', { revision: header.revision, physical: true });
  }
}

/** @returns the authority of the server's certificate, in PEM */
async function writeCredentials(folder: string): Promise<string> {
  const ca = await TestCa.create('CN=test cluster');
  const server = await ca.issue({ ip: ['127.0.0.1'], dns: ['kubernetes.default.svc'] });
  const accounts = generateKeyPairSync('ec', {
    namedCurve: 'P-256',
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'sec1', format: 'pem' },
  });
  await Promise.all([
    writeFile(join(folder, 'server.crt'), server.cert),
    writeFile(join(folder, 'server.key'), server.key),
    writeFile(join(folder, 'accounts.key'), accounts.privateKey),
    writeFile(join(folder, 'accounts.pub'), accounts.publicKey),
    writeFile(join(folder, 'tokens.csv'), `${ADMIN_TOKEN},admin,1,"system:masters"\n`),
  ]);
  return ca.cert;
}

async function killed(child: ChildProcess | undefined): Promise<void> {
  child?.kill('SIGKILL');
  if (child !== undefined) await endChild(child, 0);
}
