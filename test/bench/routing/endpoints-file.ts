import { rename, writeFile } from 'node:fs/promises';
import type { BackendState } from './backends.ts';
import { SERVER_GROUP } from './plimsoll-config.ts';

/** Writes the file that sidecars without a control plane read their endpoints from. They see a new one at once. */
export async function writeEndpoints(
  file: string,
  members: readonly Omit<BackendState, 'inside'>[],
): Promise<void> {
  const assignment = {
    '@type': 'type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment',
    cluster_name: SERVER_GROUP,
    endpoints: [
      {
        lb_endpoints: members.map(({ address, port }) => ({
          endpoint: { address: { socket_address: { address, port_value: port } } },
        })),
      },
    ],
  };
  await writeFile(`${file}.new`, JSON.stringify({ resources: [assignment] }));
  // Envoy looks for files that are moved to the name
  await rename(`${file}.new`, file);
}
