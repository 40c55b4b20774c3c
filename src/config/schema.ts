import { z } from 'zod';
import { ENGINES } from '../collect/engines/catalogue.ts';
import { INTERVAL_MS, INTERVAL_SECONDS, NAME_LENGTH, TIMEOUT_SECONDS, WEIGHT } from '../core/limits.ts';
import {
  choice,
  destination,
  dnsName,
  domainName,
  filePath,
  flag,
  headerName,
  headers,
  identity,
  integer,
  kubernetesName,
  list,
  listen,
  listenIp,
  listOfAtLeastOne,
  map,
  metric,
  metricLabels,
  name,
  number,
  podSelector,
  port,
  reference,
  resolver,
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
    .describe('Open streams of all clients together, and connections.')
    .meta({ examples: [50_000] }),
  StreamsPerIdentity: integer(1, 1_000_000)
    .default(1000)
    .describe(
      'Open streams of one client, its connections, and the most it may open at once. ' +
        'A client is who its certificate says; without one, an IP address.',
    )
    .meta({ examples: [5000] }),
  StreamsPerConnection: integer(1, 100_000)
    .default(100)
    .describe('Open streams of one connection. Clients are told and open another connection.')
    .meta({ examples: [200] }),
  Names: integer(1, 1_000_000)
    .default(1000)
    .describe(
      'Names that do not exist which one stream may ask for, per type; those that exist are not counted.',
    )
    .meta({ examples: [5000] }),
  NameLength: integer(NAME_LENGTH.max, 65_536)
    .default(512)
    .describe("Characters of a resource's name, a node's id or a version in a request.")
    .meta({ examples: [1024] }),
  MessageBytes: integer(131_072, 67_108_864)
    .default(1_048_576)
    .describe('Size of a request. The first one of an Envoy is about 61 kB.')
    .meta({ examples: [4_194_304] }),
  RequestsPerSecond: integer(10, 1_000_000)
    .default(100)
    .describe(
      'Requests of one stream in a second; each acknowledgement is one. ' +
        'All streams of a client together: 20 times StreamsPerIdentity.',
    )
    .meta({ examples: [200] }),
  NewStreamsPerSecond: integer(1, 1_000_000)
    .default(2000)
    .describe(
      'New streams of all clients in a second, and of one a tenth; ' +
        'the others come back after a while of their own.',
    )
    .meta({ examples: [500] }),
  ReadSeconds: seconds()
    .default(30)
    .describe(
      'A client that takes nothing of a response, or leaves a request unfinished, for this long loses its connection.',
    )
    .meta({ examples: [15] }),
  AckSeconds: seconds()
    .default(60)
    .describe('A client that leaves a response unanswered for this long gets the next one regardless.')
    .meta({ examples: [120] }),
});

const keepalive = map({
  IntervalSeconds: seconds()
    .default(30)
    .describe('The time between pings.')
    .meta({ examples: [15] }),
  TimeoutSeconds: seconds()
    .default(10)
    .describe('A client that has not answered a ping by then loses its connection.')
    .meta({ examples: [5] }),
});

const tls = map({
  CertFile: filePath()
    .describe("PEM file with the server's certificate, followed by the intermediate ones.")
    .meta({ examples: ['tls/server.crt'] }),
  KeyFile: filePath()
    .describe('PEM file with the private key of the certificate, not encrypted.')
    .meta({ examples: ['tls/server.key'] }),
  ClientCaFile: filePath()
    .optional()
    .describe(
      'PEM file with the authorities that client certificates must come from; with it every client needs one.',
    )
    .meta({ examples: ['tls/ca.crt'] }),
});

const visibleGroup = reference('a server group, or *')
  .describe('A server group, or * for all.')
  .meta({ examples: ['llama'] });

const authorizationRule = map({
  Identity: identity().describe(
    "A URI or DNS name in the client's certificate. A URI may end in /*: whatever follows; * is every client.",
  ),
  ServerGroups: listOfAtLeastOne(visibleGroup, 'server group, or *').describe(
    'The server groups that it may see; * is all.',
  ),
}).describe('What one client may see.');

const xds = map({
  Listen: listen()
    .prefault(XDS_LISTEN)
    .describe('IP literal and port that sidecars connect to; port 0 leaves the choice to the kernel.')
    .meta({ examples: ['0.0.0.0:18000'] }),
  DrainSeconds: seconds()
    .default(10)
    .describe('On stop, how long streams are still served before they are closed.')
    .meta({ examples: [30] }),
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
    )
    .meta({ examples: [3600] }),
});

const admin = map({
  Listen: listen()
    .prefault(ADMIN_LISTEN)
    .describe(
      'IP literal and port of page, health, readiness and metrics; port 0 leaves the choice to the kernel.',
    ),
  Tls: map({
    CertFile: filePath()
      .describe("PEM file with the server's certificate, followed by the intermediate ones.")
      .meta({ examples: ['tls/admin.crt'] }),
    KeyFile: filePath()
      .describe('PEM file with the private key of the certificate, not encrypted.')
      .meta({ examples: ['tls/admin.key'] }),
  })
    .optional()
    .describe('Certificate of the server; it is read again when it changes. Default: no TLS.'),
  BearerTokenFile: filePath()
    .optional()
    .describe(
      'File with a token of 16..4096 visible ASCII characters, read again when it changes. Everything but /healthz and ' +
        '/readyz asks for it: as a bearer token, or as the password of any user, which browsers ask for. Default: none.',
    )
    .meta({ examples: ['tls/admin.token'] }),
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
    .describe('Lines below this level are not written.')
    .meta({ examples: ['debug'] }),
  Format: choice(['auto', 'json', 'pretty'])
    .default('auto')
    .describe('auto: pretty on a terminal, JSON elsewhere.')
    .meta({ examples: ['json'] }),
});

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

const dns = map({
  Name: dnsName()
    .describe('The name that is asked for, whole: search domains, ndots and /etc/hosts play no part.')
    .meta({ examples: ['vllm.example.com'] }),
  Type: choice(['A', 'SRV'])
    .default('A')
    .describe(
      'A: its A and AAAA records are the addresses of the backends. ' +
        'SRV: its SRV records of the lowest priority name hosts, ports and weights.',
    )
    .meta({ examples: ['SRV'] }),
  Port: port()
    .optional()
    .describe('Port that requests go to; needed with Type A, and not to be there with SRV.'),
  Resolvers: listOfAtLeastOne(resolver(), 'resolver, an IP literal and a port')
    .optional()
    .describe('The servers to ask; when one does not answer, the next. Default: those of the system.'),
});

const discoveryFile = map({
  Path: filePath()
    .describe('The file, YAML or JSON; it is read again when it changes.')
    .meta({ examples: ['/etc/plimsoll/backends.yaml'] }),
  Format: choice(['Plimsoll', 'PrometheusSd'])
    .default('Plimsoll')
    .describe(
      "Plimsoll: a list in the words of Servers. PrometheusSd: a list of Prometheus' file_sd_configs, " +
        'whose targets are ADDRESS:PORT; the labels weight and zone are read.',
    )
    .meta({ examples: ['PrometheusSd'] }),
});

const kubernetes = map({
  Namespace: kubernetesName()
    .describe('The namespace that the backends are in.')
    .meta({ examples: ['inference'] }),
  KubeconfigFile: filePath()
    .optional()
    .describe(
      'How the API server is reached. Default: the service account of the pod; outside a cluster what kubectl uses.',
    )
    .meta({ examples: ['/etc/plimsoll/kubeconfig'] }),
  Service: kubernetesName()
    .optional()
    .describe('A Service, whose endpoints are the backends.')
    .meta({ examples: ['vllm'] }),
  PortName: kubernetesName()
    .optional()
    .describe("Name of the Service's port. Default: its only port.")
    .meta({ examples: ['http'] }),
  PodSelector: podSelector()
    .optional()
    .describe('Labels of the pods that are the backends, as kubectl has them; needs Port.'),
  Port: port().optional().describe('Port of the pods of PodSelector that requests go to.'),
  InferencePool: kubernetesName()
    .optional()
    .describe(
      'An InferencePool of the Gateway API inference extension: a backend for each of its pods and target ports.',
    )
    .meta({ examples: ['vllm-llama3'] }),
});

const discovery = map(
  {
    Dns: dns
      .optional()
      .describe(
        'Records of DNS, asked for again when their TTL is over, after 1 s at the earliest and 60 s at the latest.',
      ),
    File: discoveryFile.optional().describe('A file that something else writes.'),
    Kubernetes: kubernetes
      .optional()
      .describe('What runs in a cluster: exactly one of Service, PodSelector and InferencePool.'),
  },
  'a map with exactly one of Dns, File and Kubernetes',
);

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

const serverGroup = map({
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

const collectTls = map({
  CaFile: filePath()
    .optional()
    .describe(
      'PEM file with the authorities that the certificates of backends come from. Default: those that Node brings along.',
    )
    .meta({ examples: ['tls/backends-ca.crt'] }),
  ServerName: domainName()
    .optional()
    .describe(
      "The name that is asked for (SNI) and that the certificate must have. Default: Host, else the backend's address.",
    ),
  CertFile: filePath()
    .optional()
    .describe('PEM file with our certificate, for backends that ask for one, and the intermediate ones.')
    .meta({ examples: ['tls/plimsoll.crt'] }),
  KeyFile: filePath()
    .optional()
    .describe('PEM file with the private key of our certificate, not encrypted.')
    .meta({ examples: ['tls/plimsoll.key'] }),
  InsecureSkipVerify: flag()
    .default(false)
    .describe('Whether any certificate is taken; then anyone on the way can read and forge what is sent.'),
});

const anyMetric = metric();

const metrics = map({
  TotalQueuedRequests: anyMetric
    .optional()
    .describe('Gauge of queued requests, NAME or {Name, Labels}.')
    .meta({ examples: [{ Name: 'my_queued_requests', Labels: { tier: 'gpu' } }] }),
  KVCacheUtilization: anyMetric
    .optional()
    .describe('Gauge of the utilisation of the KV cache, 0..1 or 0..100.')
    .meta({ examples: ['my_cache_usage'] }),
  RunningRequests: anyMetric
    .optional()
    .describe('Gauge of running requests.')
    .meta({ examples: ['my_running_requests'] }),
  Finished: anyMetric
    .optional()
    .describe('Counter of finished requests.')
    .meta({ examples: ['my_finished_requests_total'] }),
  Labels: metricLabels()
    .optional()
    .describe(
      'Of every metric only the series with these labels count, as of one model where a page has several.',
    ),
});

const httpMetricCollect = map({
  Host: domainName().optional().describe("The Host header. Default: the backend's address and port."),
  Path: urlPath()
    .optional()
    .describe(
      'Path of the metrics page. Default: that of a named engine; with Engine Auto it must be there.',
    ),
  Method: choice(['GET', 'POST']).default('GET').describe('HTTP method of a collection.'),
  Port: port()
    .optional()
    .describe(
      "Port of the metrics page. Default: that of a named engine which has one of its own, else the server's.",
    )
    .meta({ examples: [9400] }),
  Scheme: choice(['http', 'https'])
    .optional()
    .describe(
      'Whether the page is fetched over TLS. Default: http; with an engine that has its page there, https.',
    ),
  Headers: headers()
    .optional()
    .describe(
      'More headers of a collection, {NAME: VALUE} or {NAME: {File: PATH}}; files are read again when they change.',
    ),
  BearerTokenFile: filePath()
    .optional()
    .describe('File with a token that is sent as Authorization: Bearer …; it is read again when it changes.')
    .meta({ examples: ['/var/run/secrets/metrics/token'] }),
  Tls: collectTls
    .optional()
    .describe('Certificates of https; they are read again when they change. Only with Scheme https.'),
  Engine: choice(['Auto', ...ENGINES.map(({ name: engine }) => engine)])
    .default('Auto')
    .describe(
      'The inference engine, which says what the metrics are called. Auto: found by the page of each backend.',
    )
    .meta({ examples: ['SgLang'] }),
  Metrics: metrics.optional().describe("Metrics to read instead of the engine's own."),
  LeanScrape: flag()
    .optional()
    .describe(
      'Whether only the metrics that are needed are asked for, where the exporter can do that. ' +
        'Default: true with Method GET and a Path without a query.',
    )
    .meta({ examples: [false] }),
});

const metricCollector = map({
  Timeout: integer(TIMEOUT_SECONDS.min, TIMEOUT_SECONDS.max)
    .describe('The longest one collection may take, in seconds.')
    .meta({ examples: [1] }),
  Interval: integer(INTERVAL_SECONDS.min, INTERVAL_SECONDS.max)
    .optional()
    .describe('The time between collections, in seconds. It or IntervalMilliseconds must be there.')
    .meta({ examples: [1] }),
  IntervalMilliseconds: integer(INTERVAL_MS.min, INTERVAL_MS.max)
    .optional()
    .describe('The time between collections where it is below a second, instead of Interval.')
    .meta({ examples: [250] }),
  HttpMetricCollect: httpMetricCollect
    .describe('How a metrics page is fetched.')
    .meta({ examples: [{ Path: '/metrics' }] }),
});

const scorer = map({
  Name: choice(['TotalQueuedRequests', 'KVCacheUtilization', 'RunningRequests'])
    .describe('The metric that is scored.')
    .meta({ examples: ['TotalQueuedRequests'] }),
  Weight: integer(WEIGHT.min, WEIGHT.max)
    .describe("The scorer's share after linear normalisation.")
    .meta({ examples: [50] }),
}).describe('A metric that makes the weights.');

const saturation = map(
  {
    TotalQueuedRequests: map({
      Mark: mark
        .optional()
        .describe('Saturated above this many queued requests. Default: 10, from Interval 10 on 40.')
        .meta({ examples: [20] }),
      Clear: clear
        .optional()
        .describe('No longer saturated at or below this many. Default: 3, from Interval 10 on 10.')
        .meta({ examples: [5] }),
    })
      .prefault({})
      .describe('Marks by queued requests.'),
    KVCacheUtilization: map({
      Mark: number(0, 1)
        .default(0.98)
        .describe('Saturated from this utilisation on while more than Clear requests are queued.')
        .meta({ examples: [0.95] }),
    })
      .prefault({})
      .describe('Mark by utilisation of the KV cache.'),
    RunningRequests: map({
      Mark: mark.describe('Saturated above this many running requests.').meta({ examples: [256] }),
      Clear: clear.describe('No longer saturated at or below this many.').meta({ examples: [200] }),
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
    MetricCollector: metricCollector
      .describe('How the load of the backends is collected.')
      .meta({ examples: [{ Timeout: 1, Interval: 1, HttpMetricCollect: { Path: '/metrics' } }] }),
    Scheduler: scheduler.describe('How the load becomes weights.'),
  }).describe('The settings of the component.'),
}).describe('The component that makes weights follow the load.');

const serviceExtension = map({
  Name: name()
    .describe('Name that server groups refer to.')
    .meta({ examples: ['load-aware'] }),
  Components: listOfAtLeastOne(component, `component of type ${COMPONENT_TYPE}`).describe(
    `One component of type ${COMPONENT_TYPE}.`,
  ),
}).describe('Settings of load-aware routing.');

const listener = map({
  Name: name()
    .describe('Name of the listener.')
    .meta({ examples: ['inference'] }),
  Address: listenIp().describe('IP literal that Envoy listens on; 0.0.0.0 and :: are all.'),
  Port: port()
    .describe('Port that Envoy listens on.')
    .meta({ examples: [10_000] }),
  ServerGroup: reference('a server group')
    .describe('The server group that requests go to.')
    .meta({ examples: ['llama'] }),
  Affinity: map({
    Header: headerName()
      .describe('The header that holds the backend, in answers and in requests.')
      .meta({ examples: ['x-plimsoll-backend'] }),
  })
    .optional()
    .describe(
      'Answers say in a header which backend they are from, and a request that brings it back goes there while that ' +
        'backend takes requests. Default: every request goes by weight.',
    ),
}).describe('A listener of the sidecars.');

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
export type DiscoveryFields = NonNullable<ServerGroupFields['Discovery']>;
export type ServiceExtensionFields = ConfigurationFile['ServiceExtensions'][number];
export type ComponentFields = ServiceExtensionFields['Components'][number];
export type MetricFields = NonNullable<NonNullable<HttpMetricCollectFields['Metrics']>['Finished']>;
export type HttpMetricCollectFields = ComponentFields['Config']['MetricCollector']['HttpMetricCollect'];
