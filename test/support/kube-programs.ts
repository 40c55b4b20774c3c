import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type GoTool, goTool } from './go-tool.ts';

const GO = fileURLToPath(new URL('go', import.meta.url));
const VERSION = 'v1.35.4';

const ETCD: GoTool = { name: 'etcd', source: { kind: 'folder', folder: join(GO, 'etcd') } };

const API_SERVER: GoTool = {
  name: 'kube-apiserver',
  source: { kind: 'folder', folder: join(GO, 'kube-apiserver') },
  linkerFlags: [
    `-X k8s.io/component-base/version.gitVersion=${VERSION}`,
    '-X k8s.io/component-base/version.gitMajor=1',
    '-X k8s.io/component-base/version.gitMinor=35',
  ],
};

export interface KubePrograms {
  readonly etcd: string;
  readonly apiServer: string;
}

/**
 * The paths of etcd and of the Kubernetes API server: of the folder that `KUBE_BIN_DIR` names, else built, which takes
 * ten minutes the first time.
 * @throws Error without Go 1.25 or newer.
 */
export async function kubePrograms(): Promise<KubePrograms> {
  const folder = process.env['KUBE_BIN_DIR'];
  if (folder) return { etcd: join(folder, 'etcd'), apiServer: join(folder, 'kube-apiserver') };
  return { etcd: await goTool(ETCD), apiServer: await goTool(API_SERVER) };
}
