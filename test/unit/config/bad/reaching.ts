import { type BadFile, edit } from './bad-file.ts';

/** Never in a message. */
export const SECRET = 's3cr3t';

/** The good file with these fields beside Path. */
function http(fields: string): string {
  return edit(['{Path: /metrics}', `{Path: /metrics, ${fields}}`]);
}

const HTTP = 'ServiceExtensions[0].Components[0].Config.MetricCollector.HttpMetricCollect';
const VALUE = '1..8192 visible ASCII characters, with spaces only between them, or {File: PATH}';

/** How a backend's metrics page is reached. */
export const reaching: readonly BadFile[] = [
  {
    name: 'values out of range',
    text: http('Port: 0, Scheme: htps, BearerTokenFile: "", LeanScrape: often'),
    mistakes: [
      `18:55: ${HTTP}.Port: is 0, but must be an integer 1..65535`,
      `18:66: ${HTTP}.Scheme: is "htps", but must be http or https; did you mean https?`,
      `18:89: ${HTTP}.BearerTokenFile: is "", but must be the path of a file`,
      `18:105: ${HTTP}.LeanScrape: is "often", but must be true or false`,
    ],
  },
  {
    name: 'TLS without https',
    text: http('Tls: {CaFile: ca.crt}'),
    mistakes: [`18:54: ${HTTP}.Tls: needs Scheme: https beside it`],
  },
  {
    name: 'a slip in the scheme is one mistake',
    text: http('Scheme: htps, Tls: {CaFile: ca.crt}'),
    mistakes: [`18:57: ${HTTP}.Scheme: is "htps", but must be http or https; did you mean https?`],
  },
  {
    name: 'a certificate without its key',
    text: http('Scheme: https, Tls: {CertFile: a.crt}'),
    mistakes: [`18:80: ${HTTP}.Tls.CertFile: needs KeyFile beside it`],
  },
  {
    name: 'a key without its certificate',
    text: http('Scheme: https, Tls: {KeyFile: a.key}'),
    mistakes: [`18:79: ${HTTP}.Tls.KeyFile: needs CertFile beside it`],
  },
  {
    name: 'TLS fields that are none',
    text: http('Scheme: https, Tls: {ServerName: "a b", InsecureSkipVerify: 1, CAFile: x}'),
    mistakes: [
      `18:82: ${HTTP}.Tls.ServerName: is "a b", but must be a domain name`,
      `18:109: ${HTTP}.Tls.InsecureSkipVerify: is 1, but must be true or false`,
      `18:112: ${HTTP}.Tls.CAFile: is an unknown key; did you mean CaFile?`,
    ],
  },
  {
    name: 'headers that are not to be set, in any case',
    text: http('Headers: {hOST: a, Accept-Encoding: b, Connection: c, Content-Length: d, TE: e}'),
    mistakes: [
      `18:59: ${HTTP}.Headers.hOST: cannot be set: it has its own field, Host`,
      `18:68: ${HTTP}.Headers.Accept-Encoding: cannot be set: pages are read without an encoding`,
      `18:88: ${HTTP}.Headers.Connection: cannot be set: it is for a single connection`,
      `18:103: ${HTTP}.Headers.Content-Length: cannot be set: a collection has no body`,
      `18:122: ${HTTP}.Headers.TE: cannot be set: it is for a single connection`,
    ],
  },
  {
    name: 'a header twice',
    text: http('Headers: {X-Scope: a, x-scope: {File: b}}'),
    mistakes: [`18:71: ${HTTP}.Headers.x-scope: is the header X-Scope again: their names have no case`],
  },
  {
    name: 'names that no header has',
    text: http(`Headers: {"X Scope": a, "": b, "X:": c, Überschrift: d, Authorization:Basic ${SECRET}}`),
    mistakes: [59, 73, 80, 89, 105].map(
      (column, index) =>
        `18:${column}: ${HTTP}.Headers.${['X…', '', 'X…', '…', 'Authorization…'][index] ?? ''}: ` +
        'the key must be the name of a header: 1..256 letters, digits, hyphens and a few other signs, no space',
    ),
  },
  {
    name: 'a token and a header with one',
    text: http(`BearerTokenFile: token, Headers: {authorization: Basic ${SECRET}}`),
    mistakes: [
      `18:83: ${HTTP}.Headers.authorization: must not be there beside BearerTokenFile, which sets the same header`,
    ],
  },
  ...(
    [
      [`"${SECRET}\\r\\nX: y"`, 'a text that is not shown here'],
      [`"${SECRET}\\0"`, 'a text that is not shown here'],
      [`" ${SECRET}"`, 'a text that is not shown here'],
      [`"${SECRET} "`, 'a text that is not shown here'],
      [`"${SECRET}é"`, 'a text that is not shown here'],
      [SECRET.repeat(2000), 'a text that is not shown here'],
      ['""', 'an empty text'],
      ['5', 'a number without quotes'],
      ['true', 'a truth value without quotes'],
      ['', 'empty'],
      [`[${SECRET}]`, 'a list'],
    ] as const
  ).map(([value, shown]) => ({
    name: `a header with the value ${value.slice(0, 20)}`,
    text: http(`Headers: {X-Key: ${value}}`),
    mistakes: [`18:66: ${HTTP}.Headers.X-Key: is ${shown}, but must be ${VALUE}`],
  })),
  {
    name: 'what validate has printed, without the value put in',
    text: http('Headers: {X-Key: <redacted>}'),
    mistakes: [`18:66: ${HTTP}.Headers.X-Key: is <redacted>, which stands where a value is not shown`],
  },
  {
    name: 'headers that are no map',
    text: http(`Headers: "Authorization: ${SECRET}"`),
    mistakes: [
      `18:58: ${HTTP}.Headers: is a text that is not shown here, but must be a map of headers, {NAME: VALUE} or {NAME: {File: PATH}}`,
    ],
  },
  {
    name: 'a header from a file, with slips',
    text: http(`Headers: {A: {Fil: ""}, B: {Value: ${SECRET}}, C: {}}`),
    mistakes: [
      `18:63: ${HTTP}.Headers.A.Fil: is an unknown key; did you mean File?`,
      `18:68: ${HTTP}.Headers.A.Fil: is "", but must be the path of a file`,
      `18:76: ${HTTP}.Headers.B.File: is missing; it must be the path of a file`,
      `18:77: ${HTTP}.Headers.B.Value: is an unknown key; known here: File`,
      `18:96: ${HTTP}.Headers.C.File: is missing; it must be the path of a file`,
    ],
  },
  {
    name: 'a secret that YAML takes for an alias',
    text: http(`Headers: {X-Key: *${SECRET}}`),
    mistakes: [
      `18:66: ${HTTP}.Headers.X-Key: the alias has no anchor before it; a value that begins with * needs quotes`,
    ],
  },
  {
    name: 'a secret that YAML takes for a tag',
    text: http(`Headers: {X-Key: !${SECRET} a}`),
    mistakes: ['18:66: a tag is not supported; a value that begins with ! needs quotes'],
  },
  {
    name: 'a secret where YAML expects none',
    text: `Xds: {}\n]\n${SECRET}\n`,
    mistakes: [
      '2:1: not valid YAML: a ] closes nothing',
      '3:1: not valid YAML: Unexpected scalar token in YAML stream',
    ],
  },
  {
    name: 'lean with POST',
    text: http('Method: POST, LeanScrape: true'),
    mistakes: [`18:75: ${HTTP}.LeanScrape: is true, but must be false with Method POST`],
  },
  {
    name: 'lean with a query',
    text: edit(['{Path: /metrics}', '{Path: "/metrics?a=b", LeanScrape: true}']),
    mistakes: [
      `18:67: ${HTTP}.LeanScrape: is true, but must be false where Path, "/metrics?a=b", has a query`,
    ],
  },
  ...[
    '169.254.169.254',
    '169.254.0.0',
    '169.254.255.255',
    '"::ffff:169.254.169.254"',
    '"::FFFF:a9fe:a9fe"',
  ].map((address) => linkLocal(address)),
  ...['fe80::1', 'febf:ffff::2', '"64:ff9b::a9fe:a9fe"'].map((address) => linkLocal(address)),
];

function linkLocal(address: string): BadFile {
  return {
    name: `${address} as a backend`,
    text: edit(['10.0.3.11', address]),
    mistakes: [
      `8:19: ServerGroups[0].Servers[0].Address: is "${address.replaceAll('"', '')}", a link-local address, ` +
        'where clouds give out secrets; a group with AllowLinkLocal: true may have it',
    ],
  };
}
