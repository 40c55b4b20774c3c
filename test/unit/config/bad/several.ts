import { type BadFile, edit } from './bad-file.ts';

/** Several mistakes in one file. */
export const several: readonly BadFile[] = [
  {
    name: 'mistakes of every kind, by position',
    text: edit(
      ['Listen: 127.0.0.1:9090', 'Listen: 127.0.0.1:18000, Port: 1'],
      ['Scheduler: Wrr', 'Scheduler: Random'],
      ['ServiceExtension: load-aware', 'ServiceExtension: load_aware'],
      ['10.0.3.12, Port: 8000', '10.0.3.11, Port: 8000'],
      ['Timeout: 1', 'Timeout: 500'],
      ['Path: /metrics', 'Pfad: /metrics'],
      ['KVCacheUtilization, Weight: 30', 'TotalQueuedRequests, Weight: 300'],
      ['ServerGroup: llama', 'ServerGroup: lama'],
    ),
    mistakes: [
      '2:17: Admin.Listen: is "127.0.0.1:18000", but must differ from Xds.Listen, 127.0.0.1:18000',
      '2:34: Admin.Port: is an unknown key; known here: Listen, Tls, BearerTokenFile, Hosts',
      '5:16: ServerGroups[0].Scheduler: is "Random", but must be Wrr',
      '6:23: ServerGroups[0].ServiceExtension: is "load_aware", but must be the name of a service extension in this file; did you mean "load-aware"?',
      '9:19: ServerGroups[0].Servers[1].Address: is 10.0.3.11:8000 with its port, but must be unique in its group; ServerGroups[0].Servers[0].Address in line 8 has it already',
      '16:22: ServiceExtensions[0].Components[0].Config.MetricCollector.Timeout: is 500, but must be an integer 1..300',
      '18:32: ServiceExtensions[0].Components[0].Config.MetricCollector.HttpMetricCollect.Path: is missing; it must be a path that starts with / and has only visible ASCII characters, no space, unless Engine is another than Auto',
      '18:33: ServiceExtensions[0].Components[0].Config.MetricCollector.HttpMetricCollect.Pfad: is an unknown key; known here: Host, Path, Method, Port, Scheme, Headers, BearerTokenFile, Tls, Engine, Metrics, LeanScrape',
      '22:24: ServiceExtensions[0].Components[0].Config.Scheduler.Scorers[1].Name: is "TotalQueuedRequests", but must be unique; ServiceExtensions[0].Components[0].Config.Scheduler.Scorers[0].Name in line 21 has it already',
      '22:53: ServiceExtensions[0].Components[0].Config.Scheduler.Scorers[1].Weight: is 300, but must be an integer 0..100',
      '25:67: Listeners[0].ServerGroup: is "lama", but must be the name of a server group in this file; did you mean "llama"?',
    ],
  },
  {
    name: 'a slip in a key hides nothing below it',
    text: edit(
      ['        Config:', '        config:'],
      ['Interval: 1', 'Interval: 99'],
      ['Weight: 30', 'Weight: 101'],
      ['KVCacheUtilization', 'RunningRequests'],
    ),
    mistakes: [
      '14:9: ServiceExtensions[0].Components[0].config: is an unknown key; did you mean Config?',
      '17:23: ServiceExtensions[0].Components[0].config.MetricCollector.Interval: is 99, but must be an integer 1..50',
      '22:49: ServiceExtensions[0].Components[0].config.Scheduler.Scorers[1].Weight: is 101, but must be an integer 0..100',
      '23:24: ServiceExtensions[0].Components[0].config.Scheduler.Scorers[2].Name: is "RunningRequests", but must be unique; ServiceExtensions[0].Components[0].config.Scheduler.Scorers[1].Name in line 22 has it already',
    ],
  },
  {
    name: 'a slip beside the key that is meant',
    text: edit(['Timeout: 1\n', 'Timeout: 0\n            timeout: 0\n']),
    mistakes: [
      '16:22: ServiceExtensions[0].Components[0].Config.MetricCollector.Timeout: is 0, but must be an integer 1..300',
      '17:13: ServiceExtensions[0].Components[0].Config.MetricCollector.timeout: is an unknown key; did you mean Timeout?',
    ],
  },
  {
    name: 'a file of nothing known',
    text: 'hosts: []\nroutes: {a: 1}\n',
    mistakes: [
      '1:1: hosts: is an unknown key; known here: Xds, Admin, Log, ServerGroups, ServiceExtensions, Listeners',
      '1:1: ServerGroups: is missing; it must be a list of at least one server group',
      '2:1: routes: is an unknown key; known here: Xds, Admin, Log, ServerGroups, ServiceExtensions, Listeners',
    ],
  },
  {
    name: 'two in one value are one',
    text: edit(['Weight: 30', 'Weight: 1e30']),
    mistakes: [
      '22:52: ServiceExtensions[0].Components[0].Config.Scheduler.Scorers[1].Weight: is 1e+30, but must be an integer 0..100',
    ],
  },
  {
    name: 'mistakes through an alias stand where the value stands',
    text: edit(
      ['    Servers:\n', '    EnvoyLbPolicy: &p Random\n    Servers:\n'],
      ['            Scorers:', '            Policy: *p\n            Scorers:'],
    ),
    mistakes: [
      '7:23: ServerGroups[0].EnvoyLbPolicy: is "Random", but must be LeastRequest or RoundRobin',
      '7:23: ServiceExtensions[0].Components[0].Config.Scheduler.Policy: is "Random", but must be Adaptive or Linear',
    ],
  },
];
