import { type BadFile, edit } from './bad-file.ts';

/** Values of a wrong type or out of range. */
export const ranges: readonly BadFile[] = [
  {
    name: 'a null section',
    text: edit(['Xds: {Listen: 127.0.0.1:18000}', 'Xds:']),
    mistakes: ['1:5: Xds: is empty, but must be a map'],
  },
  {
    name: 'a null field',
    text: edit(['Timeout: 1', 'Timeout:']),
    mistakes: [
      '16:21: ServiceExtensions[0].Components[0].Config.MetricCollector.Timeout: is empty, but must be an integer 1..300',
    ],
  },
  {
    name: 'a null choice',
    text: edit(['Scheduler: Wrr', 'Scheduler: ~']),
    mistakes: ['5:16: ServerGroups[0].Scheduler: is empty, but must be Wrr'],
  },
  {
    name: 'a map where a list is due',
    text: edit(['ServerGroups:\n  - Name: llama', 'ServerGroups:\n    Name: llama']),
    mistakes: [
      '4:5: ServerGroups: is a map, but must be a list of at least one server group',
      '25:67: Listeners[0].ServerGroup: is "llama", but must be the name of a server group in this file',
    ],
  },
  {
    name: 'no items',
    text: edit([
      'Listeners:\n  - {Name: inference, Address: 0.0.0.0, Port: 10000, ServerGroup: llama}',
      'Listeners: {}',
    ]),
    mistakes: ['24:12: Listeners: is a map, but must be a list of listeners'],
  },
  {
    name: 'an empty list of servers',
    text: edit([
      '    Servers:\n      - {Address: 10.0.3.11, Port: 8000, Weight: 100}\n      - {Address: 10.0.3.12, Port: 8000, Weight: 100}\n',
      '    Servers: []\n',
    ]),
    mistakes: ['7:14: ServerGroups[0].Servers: is an empty list, but must be a list of at least one server'],
  },
  {
    name: 'a list item that is empty',
    text: edit(['      - {Address: 10.0.3.12, Port: 8000, Weight: 100}', '      -']),
    mistakes: ['9:8: ServerGroups[0].Servers[1]: is empty, but must be a map'],
  },
  {
    name: 'a number in quotes',
    text: edit(['Timeout: 1\n', 'Timeout: "1"\n']),
    mistakes: [
      '16:22: ServiceExtensions[0].Components[0].Config.MetricCollector.Timeout: is "1", but must be an integer 1..300; write it without quotes',
    ],
  },
  {
    name: 'a word for a number',
    text: edit(['Timeout: 1\n', 'Timeout: soon\n']),
    mistakes: [
      '16:22: ServiceExtensions[0].Components[0].Config.MetricCollector.Timeout: is "soon", but must be an integer 1..300',
    ],
  },
  {
    name: 'Timeout 0',
    text: edit(['Timeout: 1\n', 'Timeout: 0\n']),
    mistakes: [
      '16:22: ServiceExtensions[0].Components[0].Config.MetricCollector.Timeout: is 0, but must be an integer 1..300',
    ],
  },
  {
    name: 'Timeout 301',
    text: edit(['Timeout: 1\n', 'Timeout: 301\n']),
    mistakes: [
      '16:22: ServiceExtensions[0].Components[0].Config.MetricCollector.Timeout: is 301, but must be an integer 1..300',
    ],
  },
  {
    name: 'Interval 51',
    text: edit(['Interval: 1\n', 'Interval: 51\n']),
    mistakes: [
      '17:23: ServiceExtensions[0].Components[0].Config.MetricCollector.Interval: is 51, but must be an integer 1..50',
    ],
  },
  {
    name: 'Interval 0.5',
    text: edit(['Interval: 1\n', 'Interval: 0.5\n']),
    mistakes: [
      '17:23: ServiceExtensions[0].Components[0].Config.MetricCollector.Interval: is 0.5, but must be an integer 1..50; below a second write IntervalMilliseconds: 500 in its place',
    ],
  },
  {
    name: 'IntervalMilliseconds 99',
    text: edit(['Interval: 1\n', 'IntervalMilliseconds: 99\n']),
    mistakes: [
      '17:35: ServiceExtensions[0].Components[0].Config.MetricCollector.IntervalMilliseconds: is 99, but must be an integer 100..999',
    ],
  },
  {
    name: 'IntervalMilliseconds 1000',
    text: edit(['Interval: 1\n', 'IntervalMilliseconds: 1000\n']),
    mistakes: [
      '17:35: ServiceExtensions[0].Components[0].Config.MetricCollector.IntervalMilliseconds: is 1000, but must be an integer 100..999',
    ],
  },
  {
    name: 'Interval -1',
    text: edit(['Interval: 1\n', 'Interval: -1\n']),
    mistakes: [
      '17:23: ServiceExtensions[0].Components[0].Config.MetricCollector.Interval: is -1, but must be an integer 1..50',
    ],
  },
  {
    name: 'Interval .inf',
    text: edit(['Interval: 1\n', 'Interval: .inf\n']),
    mistakes: [
      '17:23: ServiceExtensions[0].Components[0].Config.MetricCollector.Interval: is .inf, but must be an integer 1..50',
    ],
  },
  {
    name: 'Interval .nan',
    text: edit(['Interval: 1\n', 'Interval: .nan\n']),
    mistakes: [
      '17:23: ServiceExtensions[0].Components[0].Config.MetricCollector.Interval: is .nan, but must be an integer 1..50',
    ],
  },
  {
    name: 'hexadecimal beyond the range',
    text: edit(['Interval: 1\n', 'Interval: 0x40\n']),
    mistakes: [
      '17:23: ServiceExtensions[0].Components[0].Config.MetricCollector.Interval: is 64, but must be an integer 1..50',
    ],
  },
  {
    name: 'exponent beyond the range',
    text: edit(['Interval: 1\n', 'Interval: 1e3\n']),
    mistakes: [
      '17:23: ServiceExtensions[0].Components[0].Config.MetricCollector.Interval: is 1000, but must be an integer 1..50',
    ],
  },
  {
    name: 'a leading zero',
    text: edit(['Interval: 1\n', 'Interval: 010\n']),
    mistakes: [
      '17:23: ServiceExtensions[0].Components[0].Config.MetricCollector.Interval: is "010", but must be an integer 1..50; write it without leading zeros',
    ],
  },
  {
    name: 'a number beyond every range',
    text: edit(['Port: 10000', 'Port: 99999999999999999999']),
    mistakes: ['25:47: Listeners[0].Port: is 100000000000000000000, but must be an integer 1..65535'],
  },
  {
    name: 'a boolean for a number',
    text: edit(['Interval: 1\n', 'Interval: true\n']),
    mistakes: [
      '17:23: ServiceExtensions[0].Components[0].Config.MetricCollector.Interval: is true, but must be an integer 1..50',
    ],
  },
  {
    name: 'a map for a number',
    text: edit(['Interval: 1\n', 'Interval: {Seconds: 1}\n']),
    mistakes: [
      '17:23: ServiceExtensions[0].Components[0].Config.MetricCollector.Interval: is a map, but must be an integer 1..50',
    ],
  },
  {
    name: 'port 0 of a server',
    text: edit(['10.0.3.12, Port: 8000', '10.0.3.12, Port: 0']),
    mistakes: ['9:36: ServerGroups[0].Servers[1].Port: is 0, but must be an integer 1..65535'],
  },
  {
    name: 'port 65536',
    text: edit(['10.0.3.12, Port: 8000', '10.0.3.12, Port: 65536']),
    mistakes: ['9:36: ServerGroups[0].Servers[1].Port: is 65536, but must be an integer 1..65535'],
  },
  {
    name: 'weight 101',
    text: edit(['10.0.3.12, Port: 8000, Weight: 100', '10.0.3.12, Port: 8000, Weight: 101']),
    mistakes: ['9:50: ServerGroups[0].Servers[1].Weight: is 101, but must be an integer 0..100'],
  },
  {
    name: 'weight 1.5',
    text: edit(['10.0.3.12, Port: 8000, Weight: 100', '10.0.3.12, Port: 8000, Weight: 1.5']),
    mistakes: ['9:50: ServerGroups[0].Servers[1].Weight: is 1.5, but must be an integer 0..100'],
  },
  {
    name: 'scorer weight -1',
    text: edit(['Weight: 30', 'Weight: -1']),
    mistakes: [
      '22:52: ServiceExtensions[0].Components[0].Config.Scheduler.Scorers[1].Weight: is -1, but must be an integer 0..100',
    ],
  },
  {
    name: 'a scorer that does not exist',
    text: edit(['KVCacheUtilization', 'GpuTemperature']),
    mistakes: [
      '22:24: ServiceExtensions[0].Components[0].Config.Scheduler.Scorers[1].Name: is "GpuTemperature", but must be TotalQueuedRequests, KVCacheUtilization or RunningRequests',
    ],
  },
  {
    name: 'a typo in a scorer',
    text: edit(['KVCacheUtilization', 'KvCacheUtilisation']),
    mistakes: [
      '22:24: ServiceExtensions[0].Components[0].Config.Scheduler.Scorers[1].Name: is "KvCacheUtilisation", but must be TotalQueuedRequests, KVCacheUtilization or RunningRequests; did you mean KVCacheUtilization?',
    ],
  },
  {
    name: 'another scheduler',
    text: edit(['Scheduler: Wrr', 'Scheduler: LeastConnection']),
    mistakes: ['5:16: ServerGroups[0].Scheduler: is "LeastConnection", but must be Wrr'],
  },
  {
    name: 'a policy in lower case',
    text: edit(['            Scorers:', '            Policy: linear\n            Scorers:']),
    mistakes: [
      '20:21: ServiceExtensions[0].Components[0].Config.Scheduler.Policy: is "linear", but must be Adaptive or Linear; did you mean Linear?',
    ],
  },
  {
    name: 'OnCollectFailure',
    text: edit(['            Scorers:', '            OnCollectFailure: Drop\n            Scorers:']),
    mistakes: [
      '20:31: ServiceExtensions[0].Components[0].Config.Scheduler.OnCollectFailure: is "Drop", but must be Keep or Remove',
    ],
  },
  {
    name: 'EnvoyLbPolicy',
    text: edit(['Scheduler: Wrr', 'EnvoyLbPolicy: LEAST_REQUEST']),
    mistakes: [
      '5:20: ServerGroups[0].EnvoyLbPolicy: is "LEAST_REQUEST", but must be LeastRequest or RoundRobin; did you mean LeastRequest?',
    ],
  },
  {
    name: 'DrainSeconds 0',
    text: edit(['Xds: {', 'Xds: {DrainSeconds: 0, ']),
    mistakes: ['1:21: Xds.DrainSeconds: is 0, but must be a number of seconds above 0, at most 86400'],
  },
  {
    name: 'DrainSeconds beyond a day',
    text: edit(['Xds: {', 'Xds: {DrainSeconds: 86401, ']),
    mistakes: ['1:21: Xds.DrainSeconds: is 86401, but must be a number of seconds above 0, at most 86400'],
  },
  {
    name: 'RetryAfterSeconds',
    text: edit(['Scheduler: Wrr', 'RetryAfterSeconds: 1s']),
    mistakes: [
      '5:24: ServerGroups[0].RetryAfterSeconds: is "1s", but must be a number of seconds above 0, at most 86400',
    ],
  },
  {
    name: 'log fields',
    text: edit(['Admin:', 'Log: {Level: verbose, Format: text}\nAdmin:']),
    mistakes: [
      '2:14: Log.Level: is "verbose", but must be trace, debug, info, warn, error or fatal',
      '2:31: Log.Format: is "text", but must be auto, json or pretty',
    ],
  },
  {
    name: 'a name with a space',
    text: edit(['Name: llama', 'Name: llama 70b']),
    mistakes: [
      '4:11: ServerGroups[0].Name: is "llama 70b", but must be 1..256 printable characters without space',
      '25:67: Listeners[0].ServerGroup: is "llama", but must be the name of a server group in this file',
    ],
  },
  {
    name: 'an empty name',
    text: edit(['- Name: llama', '- Name: ""']),
    mistakes: [
      '4:11: ServerGroups[0].Name: is "", but must be 1..256 printable characters without space',
      '25:67: Listeners[0].ServerGroup: is "llama", but must be the name of a server group in this file',
    ],
  },
  {
    name: 'a name of 257 characters',
    text: edit(['- Name: llama', `- Name: ${'x'.repeat(257)}`]),
    mistakes: [
      '4:11: ServerGroups[0].Name: is "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…", but must be 1..256 printable characters without space',
      '25:67: Listeners[0].ServerGroup: is "llama", but must be the name of a server group in this file',
    ],
  },
  {
    name: 'a name that is a number',
    text: edit(['Name: inference', 'Name: 8000']),
    mistakes: ['25:12: Listeners[0].Name: is 8000, but must be 1..256 printable characters without space'],
  },
  {
    name: 'a reference that is a list',
    text: edit(['ServerGroup: llama', 'ServerGroup: [llama]']),
    mistakes: ['25:67: Listeners[0].ServerGroup: is a list, but must be the name of a server group'],
  },
  {
    name: 'a path without slash',
    text: edit(['Path: /metrics', 'Path: metrics']),
    mistakes: [
      '18:39: ServiceExtensions[0].Components[0].Config.MetricCollector.HttpMetricCollect.Path: is "metrics", but must be a path that starts with / and has only visible ASCII characters, no space',
    ],
  },
  {
    name: 'a path with a space',
    text: edit(['Path: /metrics', 'Path: /my metrics']),
    mistakes: [
      '18:39: ServiceExtensions[0].Components[0].Config.MetricCollector.HttpMetricCollect.Path: is "/my metrics", but must be a path that starts with / and has only visible ASCII characters, no space',
    ],
  },
  {
    name: 'a host with a port',
    text: edit(['{Path: /metrics}', '{Path: /metrics, Host: "metrics:80"}']),
    mistakes: [
      '18:55: ServiceExtensions[0].Components[0].Config.MetricCollector.HttpMetricCollect.Host: is "metrics:80", but must be a domain name',
    ],
  },
  {
    name: 'a method',
    text: edit(['{Path: /metrics}', '{Path: /metrics, Method: get}']),
    mistakes: [
      '18:57: ServiceExtensions[0].Components[0].Config.MetricCollector.HttpMetricCollect.Method: is "get", but must be GET or POST; did you mean GET?',
    ],
  },
  {
    name: 'Saturation true',
    text: edit(['          Scheduler:\n', '          Scheduler:\n            Saturation: true\n']),
    mistakes: [
      '20:25: ServiceExtensions[0].Components[0].Config.Scheduler.Saturation: is true, but must be false or a map',
    ],
  },
  {
    name: 'Saturation as text',
    text: edit(['          Scheduler:\n', '          Scheduler:\n            Saturation: off\n']),
    mistakes: [
      '20:25: ServiceExtensions[0].Components[0].Config.Scheduler.Saturation: is "off", but must be false or a map',
    ],
  },
  {
    name: 'Saturation null',
    text: edit(['          Scheduler:\n', '          Scheduler:\n            Saturation: \n']),
    mistakes: [
      '20:25: ServiceExtensions[0].Components[0].Config.Scheduler.Saturation: is empty, but must be false or a map',
    ],
  },
  {
    name: 'marks out of range',
    text: edit([
      '          Scheduler:\n',
      '          Scheduler:\n            Saturation: {TotalQueuedRequests: {Mark: 0, Clear: -1}, KVCacheUtilization: {Mark: 98}}\n',
    ]),
    mistakes: [
      '20:54: ServiceExtensions[0].Components[0].Config.Scheduler.Saturation.TotalQueuedRequests.Mark: is 0, but must be an integer 1..1000000',
      '20:64: ServiceExtensions[0].Components[0].Config.Scheduler.Saturation.TotalQueuedRequests.Clear: is -1, but must be an integer 0..999999',
      '20:96: ServiceExtensions[0].Components[0].Config.Scheduler.Saturation.KVCacheUtilization.Mark: is 98, but must be a number 0..1',
    ],
  },
  {
    name: 'an admission',
    text: edit([
      '          Scheduler:\n',
      '          Scheduler:\n            Saturation: {Admission: proportional}\n',
    ]),
    mistakes: [
      '20:37: ServiceExtensions[0].Components[0].Config.Scheduler.Saturation.Admission: is "proportional", but must be Proportional or None; did you mean Proportional?',
    ],
  },
  {
    name: 'outlier detection as text',
    text: edit(['    Scheduler: Wrr\n', '    OutlierDetection: on\n']),
    mistakes: ['5:23: ServerGroups[0].OutlierDetection: is "on", but must be true or false'],
  },
  {
    name: 'RunningRequests without Clear',
    text: edit([
      '          Scheduler:\n',
      '          Scheduler:\n            Saturation: {RunningRequests: {Mark: 10}}\n',
    ]),
    mistakes: [
      '20:43: ServiceExtensions[0].Components[0].Config.Scheduler.Saturation.RunningRequests.Clear: is missing; it must be an integer 0..999999',
    ],
  },
  ...(
    [
      ['Streams', 0, 'an integer 1..1000000'],
      ['Streams', 1_000_001, 'an integer 1..1000000'],
      ['StreamsPerIdentity', 0, 'an integer 1..1000000'],
      ['StreamsPerConnection', 100_001, 'an integer 1..100000'],
      ['Names', 0.5, 'an integer 1..1000000'],
      ['NameLength', 255, 'an integer 256..65536'],
      ['MessageBytes', 131_071, 'an integer 131072..67108864'],
      ['MessageBytes', 67_108_865, 'an integer 131072..67108864'],
      ['RequestsPerSecond', 9, 'an integer 10..1000000'],
      ['NewStreamsPerSecond', 0, 'an integer 1..1000000'],
      ['ReadSeconds', 0, 'a number of seconds above 0, at most 86400'],
      ['AckSeconds', 86_401, 'a number of seconds above 0, at most 86400'],
    ] as const
  ).map(([field, value, rule]) => ({
    name: `Limits.${field} ${value}`,
    text: edit(['Xds: {', `Xds: {Limits: {${field}: ${value}}, `]),
    mistakes: [`1:${17 + field.length + 1}: Xds.Limits.${field}: is ${value}, but must be ${rule}`],
  })),
  {
    name: 'Keepalive and MaxConnectionAgeSeconds of 0',
    text: edit([
      'Xds: {',
      'Xds: {Keepalive: {IntervalSeconds: 0, TimeoutSeconds: 0}, MaxConnectionAgeSeconds: 0, ',
    ]),
    mistakes: [
      '1:36: Xds.Keepalive.IntervalSeconds: is 0, but must be a number of seconds above 0, at most 86400',
      '1:55: Xds.Keepalive.TimeoutSeconds: is 0, but must be a number of seconds above 0, at most 86400',
      '1:84: Xds.MaxConnectionAgeSeconds: is 0, but must be a number of seconds above 0, at most 86400',
    ],
  },
];
