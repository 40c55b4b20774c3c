import { type BadFile, edit } from './bad-file.ts';

const affinity = (header: string): string =>
  edit(['ServerGroup: llama}', `ServerGroup: llama, Affinity: {Header: ${header}}}`]);
const at = '25:93: Listeners[0].Affinity.Header';

/** What sidecars are to do beside following weights. */
export const sidecars: readonly BadFile[] = [
  ...(
    [
      ['Authorization', 'it holds credentials'],
      ['cookie', 'it holds credentials'],
      ['Host', 'it says something else already'],
      ['X-Envoy-Attempt-Count', 'Envoy takes and writes it'],
      ['x-forwarded-for', 'Envoy and other proxies write it'],
      ['Connection', 'it is for a single connection'],
    ] as const
  ).map(([header, reason]) => ({
    name: `Affinity in ${header}`,
    text: affinity(header),
    mistakes: [`${at}: is "${header}", which cannot hold a backend: ${reason}`],
  })),
  {
    name: 'Affinity in a pseudo header',
    text: affinity('":path"'),
    mistakes: [
      `${at}: is ":path", but must be the name of a header: 1..256 letters, digits, hyphens and a few other signs, no space`,
    ],
  },
  {
    name: 'Affinity without a header',
    text: edit(['ServerGroup: llama}', 'ServerGroup: llama, Affinity: {}}']),
    mistakes: [
      '25:84: Listeners[0].Affinity.Header: is missing; it must be the name of a header: 1..256 letters, digits, hyphens and a few other signs, no space',
    ],
  },
  {
    name: 'a group that prefers zones without a service extension',
    text: 'ServerGroups:\n  - {Name: llama, Locality: Prefer, Servers: [{Address: 10.0.3.11, Port: 8000, Zone: a}]}\n',
    mistakes: [
      '2:29: ServerGroups[0].Locality: is "Prefer", which needs a ServiceExtension: without one nobody knows when a zone is busier than the others',
    ],
  },
  {
    name: 'a group that prefers zones and has none',
    text: edit(['    Scheduler: Wrr\n    Serv', '    Locality: Prefer\n    Serv']),
    mistakes: [
      '5:15: ServerGroups[0].Locality: is "Prefer", but no server says its Zone: write it into Servers[].Zone',
    ],
  },
  {
    name: 'health checks without end',
    text: edit([
      '    Scheduler: Wrr\n    Serv',
      '    HealthCheck: {Path: health, IntervalSeconds: 0.01, TimeoutSeconds: 301, UnhealthyThreshold: 0}\n    Serv',
    ]),
    mistakes: [
      '5:25: ServerGroups[0].HealthCheck.Path: is "health", but must be a path that starts with / and has only visible ASCII characters, no space',
      '5:50: ServerGroups[0].HealthCheck.IntervalSeconds: is 0.01, but must be a number 0.1..3600',
      '5:72: ServerGroups[0].HealthCheck.TimeoutSeconds: is 301, but must be a number 0.1..300',
      '5:97: ServerGroups[0].HealthCheck.UnhealthyThreshold: is 0, but must be an integer 1..100',
    ],
  },
  {
    name: 'a mesh that is not known',
    text: edit(['    Scheduler: Wrr\n    Serv', '    Mesh: Linkerd\n    Serv']),
    mistakes: ['5:11: ServerGroups[0].Mesh: is "Linkerd", but must be None or Istio'],
  },
];
