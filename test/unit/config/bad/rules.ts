import { type BadFile, edit } from './bad-file.ts';

/** Rules that need several fields. */
export const rules: readonly BadFile[] = [
  {
    name: 'two servers with one address',
    text: edit(['10.0.3.12', '10.0.3.11']),
    mistakes: [
      '9:19: ServerGroups[0].Servers[1].Address: is 10.0.3.11:8000 with its port, but must be unique in its group; ServerGroups[0].Servers[0].Address in line 8 has it already',
    ],
  },
  {
    name: 'one IPv6 address in two spellings',
    text: edit(['10.0.3.11', '2001:db8:0:0::1'], ['10.0.3.12', '2001:DB8::1']),
    mistakes: [
      '9:19: ServerGroups[0].Servers[1].Address: is [2001:db8::1]:8000 with its port, but must be unique in its group; ServerGroups[0].Servers[0].Address in line 8 has it already',
    ],
  },
  {
    name: 'an IPv4 address mapped to IPv6',
    text: edit(['10.0.3.12', '::ffff:10.0.3.11']),
    mistakes: [
      '9:19: ServerGroups[0].Servers[1].Address: is 10.0.3.11:8000 with its port, but must be unique in its group; ServerGroups[0].Servers[0].Address in line 8 has it already',
    ],
  },
  {
    name: 'all server weights 0',
    text: edit([
      'Weight: 100}\n      - {Address: 10.0.3.12, Port: 8000, Weight: 100',
      'Weight: 0}\n      - {Address: 10.0.3.12, Port: 8000, Weight: 0',
    ]),
    mistakes: [
      '8:7: ServerGroups[0].Servers: has weight 0 for every server, but at least one must be above 0',
    ],
  },
  {
    name: 'a group without a service extension that is observed',
    text: 'ServerGroups:\n  - {Name: llama, Mode: Observe, Servers: [{Address: 10.0.3.11, Port: 8000}]}\n',
    mistakes: [
      '2:25: ServerGroups[0].Mode: is "Observe", which needs a ServiceExtension: without one the configured weights hold anyway',
    ],
  },
  {
    name: 'a service extension that is not there',
    text: edit(['ServiceExtension: load-aware', 'ServiceExtension: load-awar']),
    mistakes: [
      '6:23: ServerGroups[0].ServiceExtension: is "load-awar", but must be the name of a service extension in this file; did you mean "load-aware"?',
    ],
  },
  {
    name: 'a server group that is not there',
    text: edit(['ServerGroup: llama', 'ServerGroup: mixtral']),
    mistakes: [
      '25:67: Listeners[0].ServerGroup: is "mixtral", but must be the name of a server group in this file',
    ],
  },
  {
    name: 'two groups with one name',
    text: 'ServerGroups:\n  - {Name: llama, Servers: [{Address: 10.0.3.11, Port: 8000}]}\n  - {Name: llama, Servers: [{Address: 10.0.3.12, Port: 8000}]}\n',
    mistakes: [
      '3:12: ServerGroups[1].Name: is "llama", but must be unique; ServerGroups[0].Name in line 2 has it already',
    ],
  },
  {
    name: 'two extensions with one name',
    text: edit([
      'ServiceExtensions:\n',
      'ServiceExtensions:\n  - &x\n    Name: load-aware\n    Components: [{Type: LoadAwareRouting, Config: {MetricCollector: {Timeout: 1, Interval: 1, HttpMetricCollect: {Path: /metrics}}, Scheduler: {Scorers: [{Name: RunningRequests, Weight: 1}]}}}]\n',
    ]),
    mistakes: [
      '14:11: ServiceExtensions[1].Name: is "load-aware", but must be unique; ServiceExtensions[0].Name in line 12 has it already',
    ],
  },
  {
    name: 'two scorers with one name',
    text: edit(['KVCacheUtilization', 'RunningRequests']),
    mistakes: [
      '23:24: ServiceExtensions[0].Components[0].Config.Scheduler.Scorers[2].Name: is "RunningRequests", but must be unique; ServiceExtensions[0].Components[0].Config.Scheduler.Scorers[1].Name in line 22 has it already',
    ],
  },
  {
    name: 'all scorer weights 0',
    text: edit(['Weight: 50', 'Weight: 0'], ['Weight: 30', 'Weight: 0'], ['Weight: 20', 'Weight: 0']),
    mistakes: [
      '21:15: ServiceExtensions[0].Components[0].Config.Scheduler.Scorers: has weight 0 for every scorer, but at least one must be above 0',
    ],
  },
  {
    name: 'another component',
    text: edit(['Type: LoadAwareRouting', 'Type: RateLimit']),
    mistakes: [
      '13:15: ServiceExtensions[0].Components[0].Type: is "RateLimit", another component; LoadAwareRouting is the only one that is supported',
    ],
  },
  {
    name: 'another component hides no mistake where its Config is ours',
    text: edit(
      ['Type: LoadAwareRouting', 'Type: LoadAware'],
      ['Timeout: 1\n', 'Timeout: 0\n'],
      ['KVCacheUtilization', 'RunningRequests'],
    ),
    mistakes: [
      '13:15: ServiceExtensions[0].Components[0].Type: is "LoadAware", another component; LoadAwareRouting is the only one that is supported',
      '16:22: ServiceExtensions[0].Components[0].Config.MetricCollector.Timeout: is 0, but must be an integer 1..300',
      '23:24: ServiceExtensions[0].Components[0].Config.Scheduler.Scorers[2].Name: is "RunningRequests", but must be unique; ServiceExtensions[0].Components[0].Config.Scheduler.Scorers[1].Name in line 22 has it already',
    ],
  },
  {
    name: 'a typo in the component',
    text: edit(['Type: LoadAwareRouting', 'Type: LoadAwareRoutng']),
    mistakes: [
      '13:15: ServiceExtensions[0].Components[0].Type: is "LoadAwareRoutng", but must be LoadAwareRouting; did you mean LoadAwareRouting?',
    ],
  },
  {
    name: 'a component without type',
    text: edit(
      ['Type: LoadAwareRouting\n        Config:', 'Config:'],
      ['Weight: 50', 'Weight: 0'],
      ['Weight: 30', 'Weight: 0'],
      ['Weight: 20', 'Weight: 0'],
    ),
    mistakes: ['13:9: ServiceExtensions[0].Components[0].Type: is missing; it must be LoadAwareRouting'],
  },
  {
    name: 'a component beside it',
    text: edit([
      '      - Type: LoadAwareRouting\n',
      '      - {Type: RateLimit, Config: {Rate: 5}}\n      - Type: LoadAwareRouting\n',
    ]),
    mistakes: [
      '13:16: ServiceExtensions[0].Components[0].Type: is "RateLimit", another component; LoadAwareRouting is the only one that is supported',
    ],
  },
  {
    name: 'two load-aware components',
    text: 'ServerGroups: [{Name: a, Servers: [{Address: 10.0.3.11, Port: 1}]}]\nServiceExtensions:\n  - Name: x\n    Components:\n      - &c {Type: LoadAwareRouting, Config: {MetricCollector: {Timeout: 1, Interval: 1, HttpMetricCollect: {Path: /metrics}}, Scheduler: {Scorers: [{Name: RunningRequests, Weight: 1}]}}}\n      - *c\n',
    mistakes: ['5:12: ServiceExtensions[0].Components[1]: is a second component, but there must be only one'],
  },
  {
    name: 'Clear equal to Mark',
    text: edit([
      '          Scheduler:\n',
      '          Scheduler:\n            Saturation: {TotalQueuedRequests: {Mark: 5, Clear: 5}}\n',
    ]),
    mistakes: [
      '20:64: ServiceExtensions[0].Components[0].Config.Scheduler.Saturation.TotalQueuedRequests.Clear: is 5, but must be below Mark, 5',
    ],
  },
  {
    name: 'Mark below the default Clear',
    text: edit([
      '          Scheduler:\n',
      '          Scheduler:\n            Saturation: {TotalQueuedRequests: {Mark: 3}}\n',
    ]),
    mistakes: [
      '20:54: ServiceExtensions[0].Components[0].Config.Scheduler.Saturation.TotalQueuedRequests.Mark: is 3, but must be above Clear, 3 by default',
    ],
  },
  {
    name: 'Clear above the default Mark',
    text: edit([
      '          Scheduler:\n',
      '          Scheduler:\n            Saturation: {TotalQueuedRequests: {Clear: 12}}\n',
    ]),
    mistakes: [
      '20:55: ServiceExtensions[0].Components[0].Config.Scheduler.Saturation.TotalQueuedRequests.Clear: is 12, but must be below Mark, 10 by default',
    ],
  },
  {
    name: 'Mark below the default Clear of long intervals',
    text: edit(
      ['Interval: 1\n', 'Interval: 10\n'],
      [
        '          Scheduler:\n',
        '          Scheduler:\n            Saturation: {TotalQueuedRequests: {Mark: 10}}\n',
      ],
    ),
    mistakes: [
      '20:54: ServiceExtensions[0].Components[0].Config.Scheduler.Saturation.TotalQueuedRequests.Mark: is 10, but must be above Clear, 10 by default',
    ],
  },
  {
    name: 'Interval and IntervalMilliseconds',
    text: edit(['Interval: 1\n', 'IntervalMilliseconds: 250\n            Interval: 1\n']),
    mistakes: [
      '17:35: ServiceExtensions[0].Components[0].Config.MetricCollector.IntervalMilliseconds: is 250, but must not be there beside Interval in line 18',
    ],
  },
  {
    name: 'Clear above the default Mark of short intervals',
    text: edit(
      ['Interval: 1\n', 'IntervalMilliseconds: 250\n'],
      [
        '          Scheduler:\n',
        '          Scheduler:\n            Saturation: {TotalQueuedRequests: {Clear: 12}}\n',
      ],
    ),
    mistakes: [
      '20:55: ServiceExtensions[0].Components[0].Config.Scheduler.Saturation.TotalQueuedRequests.Clear: is 12, but must be below Mark, 10 by default',
    ],
  },
  {
    name: 'Clear above Mark for running requests',
    text: edit([
      '          Scheduler:\n',
      '          Scheduler:\n            Saturation: {RunningRequests: {Mark: 10, Clear: 11}}\n',
    ]),
    mistakes: [
      '20:61: ServiceExtensions[0].Components[0].Config.Scheduler.Saturation.RunningRequests.Clear: is 11, but must be below Mark, 10',
    ],
  },
  {
    name: 'two listeners with one name',
    text: edit([
      'Listeners:\n',
      'Listeners:\n  - {Name: inference, Address: 0.0.0.0, Port: 10001, ServerGroup: llama}\n',
    ]),
    mistakes: [
      '26:12: Listeners[1].Name: is "inference", but must be unique; Listeners[0].Name in line 25 has it already',
    ],
  },
  {
    name: 'two listeners on one port',
    text: edit([
      'Listeners:\n',
      'Listeners:\n  - {Name: other, Address: 127.0.0.1, Port: 10000, ServerGroup: llama}\n',
    ]),
    mistakes: [
      '26:32: Listeners[1].Address: is 0.0.0.0:10000 with its port, but must be free; Listeners[0].Address in line 25 has it already',
    ],
  },
  {
    name: 'two listeners on one IPv6 port',
    text: edit(
      ['Address: 0.0.0.0', 'Address: "::1"'],
      ['Listeners:\n', 'Listeners:\n  - {Name: other, Address: "::", Port: 10000, ServerGroup: llama}\n'],
    ),
    mistakes: [
      '26:32: Listeners[1].Address: is [::1]:10000 with its port, but must be free; Listeners[0].Address in line 25 has it already',
    ],
  },
  {
    name: 'Xds and Admin on one address',
    text: edit(['127.0.0.1:9090', '127.0.0.1:18000']),
    mistakes: ['2:17: Admin.Listen: is "127.0.0.1:18000", but must differ from Xds.Listen, 127.0.0.1:18000'],
  },
  {
    name: 'Xds and Admin on one port',
    text: edit(['127.0.0.1:9090', '0.0.0.0:18000']),
    mistakes: ['2:17: Admin.Listen: is "0.0.0.0:18000", but must differ from Xds.Listen, 127.0.0.1:18000'],
  },
  {
    name: 'Xds on IPv6 and Admin on one port',
    text: edit(['127.0.0.1:18000', '"[::]:9090"']),
    mistakes: ['2:17: Admin.Listen: is "127.0.0.1:9090", but must differ from Xds.Listen, [::]:9090'],
  },
  {
    name: 'Xds on the default of Admin',
    text: edit(['Admin: {Listen: 127.0.0.1:9090}\n', ''], ['127.0.0.1:18000', '127.0.0.1:9090']),
    mistakes: ['1:15: Xds.Listen: is "127.0.0.1:9090", but must differ from Admin.Listen, 127.0.0.1:9090'],
  },
  {
    name: 'Admin on the default of Xds',
    text: edit(['Xds: {Listen: 127.0.0.1:18000}\n', ''], ['127.0.0.1:9090', '127.0.0.1:18000']),
    mistakes: ['1:17: Admin.Listen: is "127.0.0.1:18000", but must differ from Xds.Listen, 127.0.0.1:18000'],
  },
];
