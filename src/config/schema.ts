import { z } from 'zod';
import { INTERVAL_MS, INTERVAL_SECONDS, NAME_LENGTH, TIMEOUT_SECONDS, WEIGHT } from '../core/limits.ts';
import {
  choice,
  destination,
  domainName,
  filePath,
  flag,
  identity,
  integer,
  list,
  listen,
  listenIp,
  listOfAtLeastOne,
  map,
  name,
  number,
  port,
  reference,
  seconds,
  urlPath,
} from './fields.ts';

/*
 * The one source of the fields of a configuration file: their names, ranges, defaults and what they mean. Rules that
 * need more than one field stand in check.ts, defaults that depend on other fields in resolve.ts.
 */

export const COMPONENT_TYPE = 'LoadAwareRouting';
export const XDS_LISTEN = '127.0.0.1:18000';
export const ADMIN_LISTEN = '127.0.0.1:9090';

/** From this Interval on, in seconds, a mark keeps a backend out longer than its queue lasts: the marks are wider. */
const LONG_INTERVAL_SECONDS = 10;

/** Default marks of TotalQueuedRequests. */
export function defaultQueueMarks(intervalSeconds: number): {
  readonly Mark: number;
  readonly Clear: number;
} {
  return intervalSeconds < LONG_INTERVAL_SECONDS ? { Mark: 10, Clear: 3 } : { Mark: 40, Clear: 10 };
}

const mark = integer(1, 1_000_000);
const clear = integer(0, 999_999);

const limits = map({
  Streams: integer(1, 1_000_000)
    .default(20_000)
    .describe('Open streams of all clients together, and connections.'),
  StreamsPerIdentity: integer(1, 1_000_000)
    .default(1000)
    .describe(
      'Open streams of one client, its connections, and the most it may open at once. ' +
        'A client is who its certificate says; without one, an IP address.',
    ),
  StreamsPerConnection: integer(1, 100_000)
    .default(100)
    .describe('Open streams of one connection. Clients are told and open another connection.'),
  Names: integer(1, 1_000_000)
    .default(1000)
    .describe(
      'Names that do not exist which one stream may ask for, per type; those that exist are not counted.',
    ),
  NameLength: integer(NAME_LENGTH.max, 65_536)
    .default(512)
    .describe("Characters of a resource's name, a node's id or a version in a request."),
  MessageBytes: integer(131_072, 67_108_864)
    .default(1_048_576)
    .describe('Size of a request. The first one of an Envoy is about 61 kB.'),
  RequestsPerSecond: integer(10, 1_000_000)
    .default(100)
    .describe(
      'Requests of one stream in a second; each acknowledgement is one. ' +
        'All streams of a client together: 20 times StreamsPerIdentity.',
    ),
  NewStreamsPerSecond: integer(1, 1_000_000)
    .default(2000)
    .describe(
      'New streams of all clients in a second, and of one a tenth; ' +
        'the others come back after a while of their own.',
    ),
  ReadSeconds: seconds()
    .default(30)
    .describe(
      'A client that takes nothing of a response, or leaves a request unfinished, for this long loses its connection.',
    ),
  AckSeconds: seconds()
    .default(60)
    .describe('A client that leaves a response unanswered for this long gets the next one regardless.'),
});

const keepalive = map({
  IntervalSeconds: seconds().default(30).describe('The time between pings.'),
  TimeoutSeconds: seconds()
    .default(10)
    .describe('A client that has not answered a ping by then loses its connection.'),
});

const tls = map({
  CertFile: filePath().describe("PEM file with the server's certificate, followed by the intermediate ones."),
  KeyFile: filePath().describe('PEM file with the private key of the certificate, not encrypted.'),
  ClientCaFile: filePath()
    .optional()
    .describe(
      'PEM file with the authorities that client certificates must come from; with it every client needs one.',
    ),
});

const authorizationRule = map({
  Identity: identity().describe(
    "A URI or DNS name in the client's certificate. A URI may end in /*: whatever follows; * is every client.",
  ),
  ServerGroups: listOfAtLeastOne(reference('a server group, or *'), 'server group, or *').describe(
    'The server groups that it may see; * is all.',
  ),
});

const xds = map({
  Listen: listen()
    .prefault(XDS_LISTEN)
    .describe('IP literal and port that sidecars connect to; port 0 leaves the choice to the kernel.'),
  DrainSeconds: seconds()
    .default(10)
    .describe('On stop, how long streams are still served before they are closed.'),
  Tls: tls
    .optional()
    .describe('Certificates of the server; they are read again when they change. Default: no TLS.'),
  Authorization: listOfAtLeastOne(authorizationRule, 'rule')
    .optional()
    .describe(
      'Which client may see which server groups; what it may not see does not exist for it. Needs ClientCaFile. ' +
        'Default: every client may see all.',
    ),
  Limits: limits.prefault({}).describe('What one client, and all together, may ask of the server.'),
  Keepalive: keepalive.prefault({}).describe('Finds clients that are gone without a word.'),
  MaxConnectionAgeSeconds: seconds()
    .optional()
    .describe(
      'Connections are closed at about this age, give or take a tenth, so that clients spread over new replicas. ' +
        'Default: never.',
    ),
});

const admin = map({
  Listen: listen()
    .prefault(ADMIN_LISTEN)
    .describe(
      'IP literal and port of page, health, readiness and metrics; port 0 leaves the choice to the kernel.',
    ),
  Tls: map({
    CertFile: filePath().describe(
      "PEM file with the server's certificate, followed by the intermediate ones.",
    ),
    KeyFile: filePath().describe('PEM file with the private key of the certificate, not encrypted.'),
  })
    .optional()
    .describe('Certificate of the server; it is read again when it changes. Default: no TLS.'),
  BearerTokenFile: filePath()
    .optional()
    .describe(
      'File with a token of 16..4096 visible ASCII characters, read again when it changes. Everything but /healthz and ' +
        '/readyz asks for it: as a bearer token, or as the password of any user, which browsers ask for. Default: none.',
    ),
  Hosts: listOfAtLeastOne(domainName(), 'domain name')
    .optional()
    .describe(
      'Names that requests may come in under, as in the URL, besides localhost and IP addresses: those of a Service or an ' +
        'ingress. Under another name only /healthz and /readyz answer. Default: none.',
    ),
});

const log = map({
  Level: choice(['trace', 'debug', 'info', 'warn', 'error', 'fatal'])
    .default('info')
    .describe('Lines below this level are not written.'),
  Format: choice(['auto', 'json', 'pretty'])
    .default('auto')
    .describe('auto: pretty on a terminal, JSON elsewhere.'),
});

const server = map({
  Address: destination().describe('IP literal of the server, IPv6 without brackets.'),
  Port: port().describe('Port that requests go to.'),
  Weight: integer(WEIGHT.min, WEIGHT.max)
    .default(100)
    .describe('Share relative to the other servers; 0 is polled and shown and takes no traffic.'),
});

const serverGroup = map({
  Name: name().describe('Name of the group and of its EDS resource.'),
  Scheduler: choice(['Wrr']).default('Wrr').describe('Weighted round robin.'),
  ServiceExtension: reference('a service extension')
    .optional()
    .describe(
      'The service extension that makes weights follow the load; without one the configured weights hold.',
    ),
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
    ),
  OutlierDetection: flag()
    .default(true)
    .describe(
      'Whether a sidecar leaves a backend out for 5 s, and longer each time, that fails five requests in a row; ' +
        'at most half of the backends. Goes into the clusters that we generate.',
    ),
  Servers: listOfAtLeastOne(server, 'server').describe('The backends of the group.'),
});

const httpMetricCollect = map({
  Host: domainName().optional().describe("The Host header. Default: the backend's address and port."),
  Path: urlPath().describe('Path of the metrics page.'),
  Method: choice(['GET', 'POST']).default('GET').describe('HTTP method of a collection.'),
});

const metricCollector = map({
  Timeout: integer(TIMEOUT_SECONDS.min, TIMEOUT_SECONDS.max).describe(
    'The longest one collection may take, in seconds.',
  ),
  Interval: integer(INTERVAL_SECONDS.min, INTERVAL_SECONDS.max)
    .optional()
    .describe('The time between collections, in seconds. It or IntervalMilliseconds must be there.'),
  IntervalMilliseconds: integer(INTERVAL_MS.min, INTERVAL_MS.max)
    .optional()
    .describe('The time between collections where it is below a second, instead of Interval.'),
  HttpMetricCollect: httpMetricCollect.describe('How a metrics page is fetched.'),
});

const scorer = map({
  Name: choice(['TotalQueuedRequests', 'KVCacheUtilization', 'RunningRequests']).describe(
    'The metric that is scored.',
  ),
  Weight: integer(WEIGHT.min, WEIGHT.max).describe("The scorer's share after linear normalisation."),
});

const saturation = map(
  {
    TotalQueuedRequests: map({
      Mark: mark
        .optional()
        .describe('Saturated above this many queued requests. Default: 10, from Interval 10 on 40.'),
      Clear: clear
        .optional()
        .describe('No longer saturated at or below this many. Default: 3, from Interval 10 on 10.'),
    })
      .prefault({})
      .describe('Marks by queued requests.'),
    KVCacheUtilization: map({
      Mark: number(0, 1)
        .default(0.98)
        .describe('Saturated from this utilisation on while more than Clear requests are queued.'),
    })
      .prefault({})
      .describe('Mark by utilisation of the KV cache.'),
    RunningRequests: map({
      Mark: mark.describe('Saturated above this many running requests.'),
      Clear: clear.describe('No longer saturated at or below this many.'),
    })
      .optional()
      .describe('Marks by running requests. Default: none.'),
    Admission: choice(['Proportional', 'None'])
      .default('Proportional')
      .describe(
        'Proportional: when requests queue everywhere, sidecars refuse a share of them beforehand, so that those that ' +
          'are accepted get their first token in time. None: marks only.',
      ),
  },
  'false or a map',
);

const scheduler = map({
  Scorers: listOfAtLeastOne(scorer, 'scorer').describe('The metrics that make the weights.'),
  Policy: choice(['Adaptive', 'Linear'])
    .default('Adaptive')
    .describe('Adaptive: feedback towards fair shares. Linear: the normalised score itself.'),
  Saturation: z
    .union([z.literal(false), saturation], { error: 'false or a map' })
    .prefault({})
    .describe('When a backend takes no more requests; false: never.'),
  OnCollectFailure: choice(['Keep', 'Remove'])
    .default('Keep')
    .describe(
      'A backend whose collection fails is kept near the lowest weight, or removed until it answers.',
    ),
});

/** A component of a service extension. */
export const component = map({
  Type: choice([COMPONENT_TYPE]).describe('The kind of component.'),
  Config: map({
    MetricCollector: metricCollector.describe('How the load of the backends is collected.'),
    Scheduler: scheduler.describe('How the load becomes weights.'),
  }).describe('The settings of the component.'),
});

const serviceExtension = map({
  Name: name().describe('Name that server groups refer to.'),
  Components: listOfAtLeastOne(component, `component of type ${COMPONENT_TYPE}`).describe(
    `One component of type ${COMPONENT_TYPE}.`,
  ),
});

const listener = map({
  Name: name().describe('Name of the listener.'),
  Address: listenIp().describe('IP literal that Envoy listens on; 0.0.0.0 and :: are all.'),
  Port: port().describe('Port that Envoy listens on.'),
  ServerGroup: reference('a server group').describe('The server group that requests go to.'),
});

/** A whole configuration file; parsing one fills in the defaults that depend on no other field. */
export const configurationFile = map(
  {
    Xds: xds.prefault({}).describe('The server that sidecars connect to.'),
    Admin: admin.prefault({}).describe('The server for operators.'),
    Log: log.prefault({}).describe('The log, written to standard error.'),
    ServerGroups: listOfAtLeastOne(serverGroup, 'server group').describe('The fleets to balance.'),
    ServiceExtensions: list(serviceExtension, 'a list of service extensions')
      .prefault([])
      .describe('Settings of load-aware routing; several groups may share one.'),
    Listeners: list(listener, 'a list of listeners')
      .prefault([])
      .describe(
        'Listeners of the sidecars; with one, sidecars need no listener, route or cluster of their own.',
      ),
  },
  'a map with at least ServerGroups',
);

/** A valid file with its independent defaults filled in. */
export type ConfigurationFile = z.output<typeof configurationFile>;
/** A file as an operator writes it. */
export type ConfigurationInput = z.input<typeof configurationFile>;
export type ServerGroupFields = ConfigurationFile['ServerGroups'][number];
export type ServiceExtensionFields = ConfigurationFile['ServiceExtensions'][number];
export type ComponentFields = ServiceExtensionFields['Components'][number];
