import { NAME_LENGTH } from '../../core/limits.ts';
import { filePath, identity, integer, listen, listOfAtLeastOne, map, reference, seconds } from '../fields.ts';

export const XDS_LISTEN = '127.0.0.1:18000';

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

export const xds = map({
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
