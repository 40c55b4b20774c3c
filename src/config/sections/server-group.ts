import { WEIGHT } from '../../core/limits.ts';
import {
  choice,
  destination,
  flag,
  integer,
  listOfAtLeastOne,
  map,
  name,
  number,
  port,
  reference,
  seconds,
  urlPath,
} from '../fields.ts';
import { discovery } from './discovery.ts';

export const server = map({
  Address: destination().describe('IP literal of the server, IPv6 without brackets.'),
  Port: port().describe('Port that requests go to.'),
  Weight: integer(WEIGHT.min, WEIGHT.max)
    .default(100)
    .describe('Share relative to the other servers; 0 is polled and shown and takes no traffic.')
    .meta({ examples: [50] }),
  Zone: name()
    .optional()
    .describe('Where it runs, as sidecars name their own zone. Default: not known.')
    .meta({ examples: ['eu-west-1a'] }),
}).describe('A backend.');

const healthCheck = map({
  Path: urlPath()
    .describe('Path that answers 200 while the backend is alive.')
    .meta({ examples: ['/health'] }),
  IntervalSeconds: number(0.1, 3600)
    .default(5)
    .describe('The time between checks of one sidecar, and up to a fifth more.')
    .meta({ examples: [10] }),
  TimeoutSeconds: number(0.1, 300)
    .default(2)
    .describe('A check that takes longer has failed.')
    .meta({ examples: [1] }),
  UnhealthyThreshold: integer(1, 100)
    .default(3)
    .describe('Failures in a row that put a backend out.')
    .meta({ examples: [2] }),
  HealthyThreshold: integer(1, 100)
    .default(1)
    .describe('Successes in a row that bring it back; a new backend needs one.')
    .meta({ examples: [2] }),
});

export const serverGroup = map({
  Name: name()
    .describe('Name of the group and of its EDS resource.')
    .meta({ examples: ['llama'] }),
  Scheduler: choice(['Wrr']).default('Wrr').describe('Weighted round robin.'),
  ServiceExtension: reference('a service extension')
    .optional()
    .describe(
      'The service extension that makes weights follow the load; without one the configured weights hold.',
    )
    .meta({ examples: ['load-aware'] }),
  EnvoyLbPolicy: choice(['LeastRequest', 'RoundRobin'])
    .optional()
    .describe(
      "Balancing of the sidecars within our weights; LeastRequest counts a sidecar's own requests in flight as well. " +
        'Default: LeastRequest with a service extension, RoundRobin without.',
    ),
  Mode: choice(['Active', 'Observe'])
    .default('Active')
    .describe(
      'Active: sidecars follow the load. Observe: all is computed and shown, but sidecars get the configured weights, all ' +
        'healthy, and refuse nothing; needs a ServiceExtension.',
    ),
  RetryAfterSeconds: seconds()
    .default(1)
    .describe(
      'What the 503 answer says in retry-after when no upstream is available, rounded up to whole seconds.',
    )
    .meta({ examples: [2] }),
  OutlierDetection: flag()
    .default(true)
    .describe(
      'Whether a sidecar leaves a backend out for 5 s, and longer each time, that fails five requests in a row; ' +
        'at most half of the backends. Goes into the clusters that we generate.',
    ),
  HealthCheck: healthCheck
    .optional()
    .describe(
      'Sidecars ask each backend by themselves whether it is alive, and leave out one that is not. Goes into the ' +
        'clusters that we generate. Default: they do not.',
    )
    .meta({ examples: [{ Path: '/health' }] }),
  Mesh: choice(['None', 'Istio'])
    .default('None')
    .describe(
      "Istio: endpoints carry the metadata by which Istio's sidecars speak mTLS to them; every backend needs a sidecar " +
        'of its own then.',
    )
    .meta({ examples: ['Istio'] }),
  Locality: choice(['None', 'Prefer'])
    .default('None')
    .describe(
      "Prefer: a sidecar keeps to the backends of its own zone, its node's locality.zone, until these are busier than " +
        'the others. Needs a ServiceExtension. None: all zones alike.',
    )
    .meta({ examples: ['Prefer'] }),
  AllowLinkLocal: flag()
    .default(false)
    .describe(
      'Whether addresses in 169.254.0.0/16 and fe80::/10 may be backends: in clouds, secrets can be had there.',
    ),
  DrainSeconds: seconds()
    .default(30)
    .describe(
      'How long a backend that left is still published as DRAINING: it ends what it has begun, and gets nothing new.',
    )
    .meta({ examples: [120] }),
  Servers: listOfAtLeastOne(server, 'server')
    .optional()
    .describe('The backends of the group; it or Discovery must be there.'),
  Discovery: discovery
    .optional()
    .describe(
      'Where the backends of the group are found, instead of Servers: one of Dns, File and Kubernetes.',
    )
    .meta({ examples: [{ Dns: { Name: 'vllm.example.com', Port: 8000 } }] }),
}).describe('A fleet of backends behind one name.');
