import {
  choice,
  dnsName,
  filePath,
  kubernetesName,
  listOfAtLeastOne,
  map,
  podSelector,
  port,
  resolver,
} from '../fields.ts';

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

export const discovery = map(
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
