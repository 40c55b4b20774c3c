import { formatHostPort } from '../../runtime/host-port.ts';
import type { ApiAccess, AccessSource } from './access.ts';
import { readText, readToken } from './small-text.ts';

const FOLDER = '/var/run/secrets/kubernetes.io/serviceaccount';

/**
 * The service account of the pod that this process runs in.
 * @returns undefined: it runs in none.
 */
export function inClusterAccess(
  environment: Readonly<Record<string, string | undefined>>,
  folder = FOLDER,
): AccessSource | undefined {
  const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port } = environment;
  if (!host || !port) return undefined;
  return async (): Promise<ApiAccess> => {
    const [token, ca] = await Promise.all([readToken(`${folder}/token`), readText(`${folder}/ca.crt`)]);
    return {
      url: new URL(`https://${formatHostPort(host, Number(port))}`),
      ca,
      cert: undefined,
      key: undefined,
      serverName: undefined,
      insecure: false,
      token,
    };
  };
}
