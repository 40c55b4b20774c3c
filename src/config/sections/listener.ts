import { headerName, listenIp, map, name, port, reference } from '../fields.ts';

export const listener = map({
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
