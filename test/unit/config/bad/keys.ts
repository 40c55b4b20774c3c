import { type BadFile, edit } from './bad-file.ts';

/** Keys that are unknown or missing. */
export const keys: readonly BadFile[] = [
  {
    name: 'a typo in a key',
    text: edit(['            Interval: 1\n', '            Intervall: 1\n']),
    mistakes: [
      '17:13: ServiceExtensions[0].Components[0].Config.MetricCollector.Intervall: is an unknown key; did you mean Interval?',
    ],
  },
  {
    name: 'a key in lower case',
    text: edit(['Admin:', 'admin:']),
    mistakes: ['2:1: admin: is an unknown key; did you mean Admin?'],
  },
  {
    name: 'swapped letters',
    text: edit(['Scorers', 'Scroers']),
    mistakes: [
      '20:13: ServiceExtensions[0].Components[0].Config.Scheduler.Scroers: is an unknown key; did you mean Scorers?',
    ],
  },
  {
    name: 'a key that is like none',
    text: edit(['Scheduler: Wrr', 'Color: blue']),
    mistakes: [
      '5:5: ServerGroups[0].Color: is an unknown key; known here: Name, Scheduler, ServiceExtension, EnvoyLbPolicy, Mode, RetryAfterSeconds, OutlierDetection, HealthCheck, Mesh, Locality, AllowLinkLocal, DrainSeconds, Servers, Discovery',
    ],
  },
  {
    name: 'a key of a server',
    text: edit(['Weight: 100}', 'Wieght: 100}']),
    mistakes: ['8:42: ServerGroups[0].Servers[0].Wieght: is an unknown key; did you mean Weight?'],
  },
  {
    name: 'a key like __proto__',
    text: edit(['Scheduler: Wrr', '__proto__: {}']),
    mistakes: [
      '5:5: ServerGroups[0].__proto__: is an unknown key; known here: Name, Scheduler, ServiceExtension, EnvoyLbPolicy, Mode, RetryAfterSeconds, OutlierDetection, HealthCheck, Mesh, Locality, AllowLinkLocal, DrainSeconds, Servers, Discovery',
    ],
  },
  {
    name: 'an unknown key that does not print',
    text: edit(['Scheduler: Wrr', '"a\\u0007b\\nc": 1']),
    mistakes: [
      '5:5: ServerGroups[0].a\\u{7}b\\u{a}c: is an unknown key; known here: Name, Scheduler, ServiceExtension, EnvoyLbPolicy, Mode, RetryAfterSeconds, OutlierDetection, HealthCheck, Mesh, Locality, AllowLinkLocal, DrainSeconds, Servers, Discovery',
    ],
  },
  {
    name: 'ClientCaFile of Admin is not known',
    text: edit(['Admin: {', 'Admin: {Tls: {CertFile: a, ClientCaFile: b}, ']),
    mistakes: [
      '2:14: Admin.Tls.KeyFile: is missing; it must be the path of a file',
      '2:28: Admin.Tls.ClientCaFile: is an unknown key; known here: CertFile, KeyFile',
    ],
  },
  {
    name: 'neither a list of servers nor a discovery',
    text: 'ServerGroups:\n  - Name: llama\n',
    mistakes: [
      '2:5: ServerGroups[0].Servers: is missing; it must be a list of at least one server, unless there is Discovery',
    ],
  },
  {
    name: 'unknown key inside Saturation',
    text: edit([
      '          Scheduler:\n',
      '          Scheduler:\n            Saturation: {TotalQueued: {Mark: 10}}\n',
    ]),
    mistakes: [
      '20:26: ServiceExtensions[0].Components[0].Config.Scheduler.Saturation.TotalQueued: is an unknown key; known here: TotalQueuedRequests, KVCacheUtilization, RunningRequests, Admission',
    ],
  },
  {
    name: 'no server groups',
    text: edit(['ServerGroups:\n', 'Servers:\n']),
    mistakes: [
      '1:1: ServerGroups: is missing; it must be a list of at least one server group',
      '3:1: Servers: is an unknown key; known here: Xds, Admin, Log, ServerGroups, ServiceExtensions, Listeners',
      '25:67: Listeners[0].ServerGroup: is "llama", but must be the name of a server group in this file',
    ],
  },
  {
    name: 'a metric collector without its fields',
    text: edit([
      '            Timeout: 1\n            Interval: 1\n            HttpMetricCollect: {Path: /metrics}\n',
      '            {}\n',
    ]),
    mistakes: [
      '16:13: ServiceExtensions[0].Components[0].Config.MetricCollector.Timeout: is missing; it must be an integer 1..300',
      '16:13: ServiceExtensions[0].Components[0].Config.MetricCollector.HttpMetricCollect: is missing; it must be a map',
      '16:13: ServiceExtensions[0].Components[0].Config.MetricCollector.Interval: is missing; it must be an integer 1..50, unless there is IntervalMilliseconds',
    ],
  },
  {
    name: 'no path',
    text: edit(['{Path: /metrics}', '{}']),
    mistakes: [
      '18:32: ServiceExtensions[0].Components[0].Config.MetricCollector.HttpMetricCollect.Path: is missing; it must be a path that starts with / and has only visible ASCII characters, no space, unless Engine is another than Auto',
    ],
  },
  {
    name: 'no config',
    text: edit(['        Config:', '        Settings:']),
    mistakes: [
      '13:9: ServiceExtensions[0].Components[0].Config: is missing; it must be a map',
      '14:9: ServiceExtensions[0].Components[0].Settings: is an unknown key; known here: Type, Config',
    ],
  },
  {
    name: 'no scorers',
    text: edit(['            Scorers:', '            Scores:']),
    mistakes: [
      '20:13: ServiceExtensions[0].Components[0].Config.Scheduler.Scores: is an unknown key; did you mean Scorers?',
    ],
  },
  {
    name: 'a listener without fields',
    text: edit(['{Name: inference, Address: 0.0.0.0, Port: 10000, ServerGroup: llama}', '{}']),
    mistakes: [
      '25:5: Listeners[0].Name: is missing; it must be 1..256 printable characters without space',
      '25:5: Listeners[0].Address: is missing; it must be an IP literal',
      '25:5: Listeners[0].Port: is missing; it must be an integer 1..65535',
      '25:5: Listeners[0].ServerGroup: is missing; it must be the name of a server group',
    ],
  },
];
