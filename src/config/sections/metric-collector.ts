import { ENGINES } from '../../collect/engines/catalogue.ts';
import { INTERVAL_MS, INTERVAL_SECONDS, TIMEOUT_SECONDS } from '../../core/limits.ts';
import {
  choice,
  domainName,
  filePath,
  flag,
  headers,
  integer,
  map,
  metric,
  metricLabels,
  port,
  urlPath,
} from '../fields.ts';

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

export const metricCollector = map({
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
