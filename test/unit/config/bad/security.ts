import { type BadFile, edit } from './bad-file.ts';

const XDS = 'Xds: {Listen: 127.0.0.1:18000}';

/** The good file with these lines under Xds. */
function xds(...lines: readonly string[]): string {
  return edit([XDS, ['Xds:', ...lines].join('\n  ')]);
}

const TLS = 'Tls: {CertFile: a, KeyFile: b, ClientCaFile: c}';

/** TLS, and who may see what. */
export const security: readonly BadFile[] = [
  {
    name: 'TLS without files',
    text: xds('Tls: {}'),
    mistakes: [
      '2:8: Xds.Tls.CertFile: is missing; it must be the path of a file',
      '2:8: Xds.Tls.KeyFile: is missing; it must be the path of a file',
    ],
  },
  {
    name: 'paths that are none',
    text: xds(String.raw`Tls: {CertFile: "", KeyFile: 5, ClientCaFile: "a\0b"}`),
    mistakes: [
      '2:19: Xds.Tls.CertFile: is "", but must be the path of a file',
      '2:32: Xds.Tls.KeyFile: is 5, but must be the path of a file',
      String.raw`2:49: Xds.Tls.ClientCaFile: is "a\u{0}b", but must be the path of a file`,
    ],
  },
  {
    name: 'a slip in the name of a TLS field',
    text: xds('Tls: {CertFile: a, KeyFile: b, ClientCAFile: c}'),
    mistakes: ['2:34: Xds.Tls.ClientCAFile: is an unknown key; did you mean ClientCaFile?'],
  },
  {
    name: 'rules without client certificates',
    text: xds('Tls: {CertFile: a, KeyFile: b}', 'Authorization: [{Identity: "*", ServerGroups: [llama]}]'),
    mistakes: [
      '3:18: Xds.Authorization: needs Xds.Tls.ClientCaFile: without a certificate no client has an identity',
    ],
  },
  {
    name: 'rules without TLS, and an unknown group in them',
    text: xds('Authorization: [{Identity: "*", ServerGroups: [lama]}]'),
    mistakes: [
      '2:18: Xds.Authorization: needs Xds.Tls.ClientCaFile: without a certificate no client has an identity',
      '2:50: Xds.Authorization[0].ServerGroups[0]: is "lama", but must be the name of a server group in this file; did you mean "llama"?',
    ],
  },
  {
    name: 'no rule, which would let nobody in',
    text: xds(TLS, 'Authorization: []'),
    mistakes: ['3:18: Xds.Authorization: is an empty list, but must be a list of at least one rule'],
  },
  {
    name: 'a rule without groups',
    text: xds(TLS, 'Authorization: [{Identity: a, ServerGroups: []}, {Identity: b}]'),
    mistakes: [
      '3:47: Xds.Authorization[0].ServerGroups: is an empty list, but must be a list of at least one server group, or *',
      '3:52: Xds.Authorization[1].ServerGroups: is missing; it must be a list of at least one server group, or *',
    ],
  },
  {
    name: 'two rules for one identity',
    text: xds(
      TLS,
      'Authorization: [{Identity: a, ServerGroups: [llama]}, {Identity: a, ServerGroups: ["*"]}]',
    ),
    mistakes: [
      '3:68: Xds.Authorization[1].Identity: is "a", but must be unique; Xds.Authorization[0].Identity in line 3 has it already',
    ],
  },
  ...[
    'spiffe://cluster.local/ns/llama*',
    'spiffe://cluster.local/*/sa',
    'spiffe://cluster.local/*/*',
    'spiffe://cluster.local/ns/a b',
    '*.example',
    'sidecar.*',
    '**',
    'spiffe://',
    '/ns/llama/*',
    'name_with_underscore',
    'émile.example',
    '',
  ].map((identity) => ({
    name: `${identity || 'nothing'} for an identity`,
    text: xds(TLS, `Authorization: [{Identity: '${identity}', ServerGroups: [llama]}]`),
    mistakes: [
      `3:30: Xds.Authorization[0].Identity: is "${identity}", but must be a URI, which may end in /*, a domain name, or * for every client`,
    ],
  })),
  {
    name: 'Hosts of Admin that are no names',
    text: edit(['Admin: {', 'Admin: {Hosts: [plimsoll.svc, "http://a", a_b], BearerTokenFile: "", ']),
    mistakes: [
      '2:31: Admin.Hosts[1]: is "http://a", but must be a domain name',
      '2:43: Admin.Hosts[2]: is "a_b", but must be a domain name',
      '2:66: Admin.BearerTokenFile: is "", but must be the path of a file',
    ],
  },
];
