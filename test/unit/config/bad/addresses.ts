import { type BadFile, edit } from './bad-file.ts';

/** Addresses that are none. */
export const addresses: readonly BadFile[] = [
  {
    name: 'a host name',
    text: edit(['10.0.3.12', 'vllm-0.svc']),
    mistakes: [
      '9:19: ServerGroups[0].Servers[1].Address: is "vllm-0.svc", but must be an IP literal: a host name is none; Discovery with Dns looks names up',
    ],
  },
  {
    name: 'an address with its port',
    text: edit(['10.0.3.12', '"10.0.3.12:8000"']),
    mistakes: [
      '9:19: ServerGroups[0].Servers[1].Address: is "10.0.3.12:8000", but must be an IP literal: the port has its own field, Port',
    ],
  },
  {
    name: 'an IPv6 address with its port',
    text: edit(['10.0.3.12', '"[2001:db8::1]:8000"']),
    mistakes: [
      '9:19: ServerGroups[0].Servers[1].Address: is "[2001:db8::1]:8000", but must be an IP literal: the port has its own field, Port',
    ],
  },
  {
    name: 'an address with a leading zero',
    text: edit(['10.0.3.12', '10.0.3.012']),
    mistakes: [
      '9:19: ServerGroups[0].Servers[1].Address: is "10.0.3.012", but must be an IP literal: an IPv4 address has four numbers 0..255 without leading zeros',
    ],
  },
  {
    name: 'a short address',
    text: edit(['10.0.3.12', '10.0']),
    mistakes: ['9:19: ServerGroups[0].Servers[1].Address: is 10, but must be an IP literal'],
  },
  {
    name: 'IPv6 in brackets',
    text: edit(['10.0.3.12', '"[2001:db8::1]"']),
    mistakes: [
      '9:19: ServerGroups[0].Servers[1].Address: is "[2001:db8::1]", but must be an IP literal: write it without brackets',
    ],
  },
  {
    name: 'IPv6 with a zone',
    text: edit(['10.0.3.12', 'fe80::1%eth0']),
    mistakes: [
      '9:19: ServerGroups[0].Servers[1].Address: is "fe80::1%eth0", but must be an IP literal: a zone id is not supported',
    ],
  },
  {
    name: 'the unspecified address',
    text: edit(['10.0.3.12', '0.0.0.0']),
    mistakes: [
      '9:19: ServerGroups[0].Servers[1].Address: is "0.0.0.0", but must be an IP literal: no server can be reached at this address',
    ],
  },
  {
    name: 'the unspecified IPv6 address',
    text: edit(['10.0.3.12', '"::"']),
    mistakes: [
      '9:19: ServerGroups[0].Servers[1].Address: is "::", but must be an IP literal: no server can be reached at this address',
    ],
  },
  {
    name: 'a multicast address',
    text: edit(['10.0.3.12', '224.0.0.1']),
    mistakes: [
      '9:19: ServerGroups[0].Servers[1].Address: is "224.0.0.1", but must be an IP literal: no server can be reached at this address',
    ],
  },
  {
    name: 'a listener on a host name',
    text: edit(['Address: 0.0.0.0', 'Address: localhost']),
    mistakes: ['25:32: Listeners[0].Address: is "localhost", but must be an IP literal: a host name is none'],
  },
  {
    name: 'listen on a host name',
    text: edit(['127.0.0.1:18000', 'localhost:18000']),
    mistakes: [
      '1:15: Xds.Listen: is "localhost:18000", but must be an IP literal and a port, like 127.0.0.1:18000 or "[::1]:18000": "localhost" is no IP literal',
    ],
  },
  {
    name: 'listen without port',
    text: edit(['127.0.0.1:18000', '127.0.0.1']),
    mistakes: [
      '1:15: Xds.Listen: is "127.0.0.1", but must be an IP literal and a port, like 127.0.0.1:18000 or "[::1]:18000": the port is missing',
    ],
  },
  {
    name: 'listen on a port only',
    text: edit(['127.0.0.1:18000', '":18000"']),
    mistakes: [
      '1:15: Xds.Listen: is ":18000", but must be an IP literal and a port, like 127.0.0.1:18000 or "[::1]:18000": all addresses are 0.0.0.0 or [::]',
    ],
  },
  {
    name: 'listen on a star',
    text: edit(['127.0.0.1:18000', '"*:18000"']),
    mistakes: [
      '1:15: Xds.Listen: is "*:18000", but must be an IP literal and a port, like 127.0.0.1:18000 or "[::1]:18000": all addresses are 0.0.0.0 or [::]',
    ],
  },
  {
    name: 'listen on IPv6 without brackets',
    text: edit(['127.0.0.1:18000', '"::1:18000"']),
    mistakes: [
      '1:15: Xds.Listen: is "::1:18000", but must be an IP literal and a port, like 127.0.0.1:18000 or "[::1]:18000": IPv6 needs brackets',
    ],
  },
  {
    name: 'listen on a port too high',
    text: edit(['127.0.0.1:18000', '127.0.0.1:65536']),
    mistakes: [
      '1:15: Xds.Listen: is "127.0.0.1:65536", but must be an IP literal and a port, like 127.0.0.1:18000 or "[::1]:18000": a port is 0..65535',
    ],
  },
  {
    name: 'listen with a scheme',
    text: edit(['127.0.0.1:18000', 'http://127.0.0.1:18000']),
    mistakes: [
      '1:15: Xds.Listen: is "http://127.0.0.1:18000", but must be an IP literal and a port, like 127.0.0.1:18000 or "[::1]:18000": "http://127.0.0.1" is no IP literal',
    ],
  },
  {
    name: 'listen on a number',
    text: edit(['127.0.0.1:18000', '18000']),
    mistakes: [
      '1:15: Xds.Listen: is 18000, but must be an IP literal and a port, like 127.0.0.1:18000 or "[::1]:18000"',
    ],
  },
];
