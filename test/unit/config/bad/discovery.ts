import { type BadFile, edit } from './bad-file.ts';

const SERVERS = `Servers:
      - {Address: 10.0.3.11, Port: 8000, Weight: 100}
      - {Address: 10.0.3.12, Port: 8000, Weight: 100}`;

/** The good file whose group has this Discovery, in line 7. */
function discovery(fields: string): string {
  return edit([SERVERS, `Discovery: {${fields}}`]);
}

const AT = 'ServerGroups[0].Discovery';

/** Where backends are looked for. */
export const discoveries: readonly BadFile[] = [
  {
    name: 'a list and a discovery',
    text: edit([SERVERS, `${SERVERS}\n    Discovery: {File: {Path: a}}\n    DrainSeconds: 0`]),
    mistakes: [
      `10:5: ${AT}: must not be there beside Servers in line 7`,
      '11:19: ServerGroups[0].DrainSeconds: is 0, but must be a number of seconds above 0, at most 86400',
    ],
  },
  {
    name: 'no source',
    text: discovery(''),
    mistakes: [`7:16: ${AT}: has none of Dns, File and Kubernetes, but must have exactly one`],
  },
  {
    name: 'two sources',
    text: discovery('File: {Path: a}, Dns: {Name: a, Port: 1}'),
    mistakes: [
      `7:17: ${AT}.File: must not be there beside Dns in line 7: exactly one of Dns, File and Kubernetes is allowed`,
    ],
  },
  {
    name: 'a slip in a source',
    text: discovery('Files: {Path: a}'),
    mistakes: [`7:17: ${AT}.Files: is an unknown key; did you mean File?`],
  },
  {
    name: 'a discovery that is none',
    text: edit([SERVERS, 'Discovery: Dns']),
    mistakes: [`7:16: ${AT}: is "Dns", but must be a map with exactly one of Dns, File and Kubernetes`],
  },
  {
    name: 'DNS without a port',
    text: discovery('Dns: {Name: vllm.local}'),
    mistakes: [`7:22: ${AT}.Dns.Port: is missing; it must be an integer 1..65535, unless Type is SRV`],
  },
  {
    name: 'SRV records with a port',
    text: discovery('Dns: {Name: _http._tcp.vllm.local, Type: SRV, Port: 8000}'),
    mistakes: [
      `7:69: ${AT}.Dns.Port: is 8000, but must not be there with Type SRV, whose records have the ports`,
    ],
  },
  {
    name: 'odd names and resolvers',
    text: discovery(
      'Dns: {Name: "a b", Port: 1, Resolvers: ["10.0.0.2", "ns.local:53", "10.0.0.2:0", "0.0.0.0:53"]}',
    ),
    mistakes: [
      `7:29: ${AT}.Dns.Name: is "a b", but must be a domain name, as vllm.example.com or _http._tcp.vllm.example.com`,
      `7:57: ${AT}.Dns.Resolvers[0]: is "10.0.0.2", but must be an IP literal and a port, like 10.0.0.2:53 or "[fd00::2]:53": the port is missing`,
      `7:69: ${AT}.Dns.Resolvers[1]: is "ns.local:53", but must be an IP literal and a port, like 10.0.0.2:53 or "[fd00::2]:53": "ns.local" is no IP literal`,
      `7:84: ${AT}.Dns.Resolvers[2]: is "10.0.0.2:0", but must be an IP literal and a port, like 10.0.0.2:53 or "[fd00::2]:53": a port is 1..65535`,
      `7:98: ${AT}.Dns.Resolvers[3]: is "0.0.0.0:53", but must be an IP literal and a port, like 10.0.0.2:53 or "[fd00::2]:53": no server can be reached at this address`,
    ],
  },
  {
    name: 'a file of another format',
    text: discovery('File: {Path: a, Format: Prometheus}'),
    mistakes: [
      `7:41: ${AT}.File.Format: is "Prometheus", but must be Plimsoll or PrometheusSd; did you mean PrometheusSd?`,
    ],
  },
  {
    name: 'Kubernetes without a target',
    text: discovery('Kubernetes: {Namespace: a}'),
    mistakes: [
      `7:29: ${AT}.Kubernetes: has none of Service, PodSelector and InferencePool, but must have exactly one`,
    ],
  },
  {
    name: 'Kubernetes with what does not belong together',
    text: discovery('Kubernetes: {Namespace: A, Service: a, PodSelector: b=c}'),
    mistakes: [
      `7:29: ${AT}.Kubernetes.Port: is missing; it must be an integer 1..65535, as there is PodSelector`,
      `7:41: ${AT}.Kubernetes.Namespace: is "A", but must be a name of Kubernetes: 1..253 of a-z, 0-9, - and ., beginning and ending with a letter or digit`,
      `7:56: ${AT}.Kubernetes.PodSelector: must not be there beside Service in line 7: exactly one of Service, PodSelector and InferencePool is allowed`,
    ],
  },
  {
    name: 'ports that are not needed',
    text: discovery('Kubernetes: {Namespace: a, InferencePool: b, Port: 1, PortName: c}'),
    mistakes: [
      `7:68: ${AT}.Kubernetes.Port: is 1, but must not be there without PodSelector`,
      `7:81: ${AT}.Kubernetes.PortName: is "c", but must not be there without Service`,
    ],
  },
];
