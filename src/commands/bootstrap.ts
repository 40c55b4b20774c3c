import { isIP, isIPv6 } from 'node:net';
import { parseDestination } from '../runtime/ip-address.ts';
import { formatMistakes, loadConfiguration } from '../config/load.ts';
import { toYaml } from '../config/to-yaml.ts';
import type { Configuration } from '../core/model/configuration.ts';
import type { ServerGroup } from '../core/model/server-group.ts';
import { EXIT } from '../runtime/errors.ts';
import { formatHostPort } from '../runtime/host-port.ts';
import {
  adsBootstrap,
  edsBootstrap,
  type ListenerOfGroup,
  type SidecarSettings,
  type SidecarTls,
  type XdsAddress,
} from '../xds/bootstrap.ts';
import type { ProtoJsonMessage } from '../xds/resources/proto-json.ts';

export interface BootstrapOptions {
  readonly config: string;
  /** ads: everything from the control plane; eds: endpoints only, the rest stands in the bootstrap. */
  readonly mode: 'ads' | 'eds';
  /** The server group, for mode eds. */
  readonly group?: string;
  /** HOST:PORT where sidecars reach the control plane, each of its replicas; by default where it listens. */
  readonly xds?: readonly string[];
  /** Files on the sidecar's machine: the authority of the control plane's certificate, the sidecar's own certificate and key. */
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
  readonly nodeId?: string;
  readonly cluster?: string;
  /** Where the sidecar runs. */
  readonly zone?: string;
  readonly adminPort?: number;
  readonly json: boolean;
}

type Result<T> =
  | { readonly kind: 'ok'; readonly value: T }
  | { readonly kind: 'refused'; readonly reason: string };

/**
 * Prints an Envoy bootstrap that fits the configuration and that Envoy takes as it is.
 * @returns the exit code: `usage` when the configuration is wrong or does not go with the options.
 */
export async function bootstrap(
  options: BootstrapOptions,
  io: { readonly out: (text: string) => void; readonly err: (text: string) => void },
): Promise<number> {
  const loaded = await loadConfiguration(options.config);
  if (loaded.kind === 'invalid') {
    io.err(`${formatMistakes(loaded.mistakes).join('\n')}\n`);
    return EXIT.usage;
  }
  const made = makeBootstrap(loaded.configuration, options);
  if (made.kind === 'refused') {
    io.err(`plimsoll bootstrap: ${made.reason}\n`);
    return EXIT.usage;
  }
  io.out(made.value);
  return EXIT.ok;
}

/** The text of the bootstrap; refused when the configuration does not go with the options. */
export function makeBootstrap(
  configuration: Configuration,
  options: Omit<BootstrapOptions, 'config'>,
): Result<string> {
  const xds = xdsAddresses(configuration, options.xds ?? []);
  if (xds.kind === 'refused') return xds;
  if (options.nodeId === '' || options.cluster === '') {
    return refused('--node-id and --cluster must not be empty: Envoy needs both');
  }
  if (options.zone === '') return refused('--zone must not be empty: leave it out where there is none');
  const tls = sidecarTls(configuration, options);
  if (tls.kind === 'refused') return tls;
  const settings = {
    xds: xds.value,
    tls: tls.value,
    nodeId: options.nodeId ?? 'sidecar',
    nodeCluster: options.cluster ?? 'inference',
    ...(options.zone !== undefined && { zone: options.zone }),
    adminPort: options.adminPort ?? 9901,
  };
  const made = fill(configuration, options, settings);
  if (made.kind === 'refused') return made;
  return ok(
    options.json
      ? `${JSON.stringify(made.value, null, 2)}\n`
      : heading(options.mode, settings) + toYaml(made.value),
  );
}

function fill(
  configuration: Configuration,
  { mode, group }: Pick<BootstrapOptions, 'mode' | 'group'>,
  settings: SidecarSettings,
): Result<ProtoJsonMessage> {
  switch (mode) {
    case 'ads':
      return refuseAds(configuration, group) ?? ok(adsBootstrap(settings));
    case 'eds': {
      const listeners = staticListeners(configuration, group);
      return listeners.kind === 'refused' ? listeners : ok(edsBootstrap(settings, listeners.value));
    }
  }
}

function refuseAds(configuration: Configuration, group: string | undefined): Result<never> | undefined {
  if (group !== undefined)
    return refused('--group is for --mode eds; with ads the Listeners name the groups');
  if (configuration.listeners.length > 0) return undefined;
  return refused(
    '--mode ads needs Listeners in the configuration, it has none: a sidecar would listen nowhere. Add some, or use --mode eds',
  );
}

/** The listeners of the configuration, those of `name` if it is given; one on 127.0.0.1:10000 where there is none. */
function staticListeners(
  configuration: Configuration,
  name: string | undefined,
): Result<readonly ListenerOfGroup[]> {
  const { serverGroups } = configuration;
  const names = serverGroups.map((group) => group.name).join(', ');
  if (name !== undefined && !serverGroups.some((group) => group.name === name)) {
    return refused(`--group ${name}: no server group has this name, there are: ${names}`);
  }
  const chosen = serverGroups.filter((group) => name === undefined || group.name === name);
  const configured = configuration.listeners.flatMap((listener) =>
    chosen.filter((group) => group.name === listener.serverGroup).map((group) => ({ listener, group })),
  );
  if (configured.length > 0) return ok(configured);
  const [group, ...others] = chosen;
  if (group === undefined || others.length > 0) {
    return refused(
      `--group is needed: the configuration has no Listeners and several server groups: ${names}`,
    );
  }
  return ok([{ listener: defaultListener(group), group }]);
}

function defaultListener(group: ServerGroup): ListenerOfGroup['listener'] {
  return { name: 'inference', address: '127.0.0.1', port: 10_000, serverGroup: group.name };
}

function xdsAddresses(configuration: Configuration, texts: readonly string[]): Result<readonly XdsAddress[]> {
  if (texts.length === 0) return listenAddress(configuration);
  const addresses: XdsAddress[] = [];
  for (const [index, text] of texts.entries()) {
    if (texts.indexOf(text) !== index) return refused(`--xds ${text}: named twice`);
    const parsed = parseXds(text);
    if (parsed.kind === 'refused') return parsed;
    addresses.push(parsed.value);
  }
  return ok(addresses);
}

function listenAddress(configuration: Configuration): Result<readonly XdsAddress[]> {
  const { host, port } = configuration.xds.listen;
  if (port !== 0 && parseDestination(host).kind === 'ok') return ok([{ host, port }]);
  return refused(
    `--xds HOST:PORT is needed: Xds.Listen is ${formatHostPort(host, port)}, which no sidecar can connect to`,
  );
}

/** `10.0.0.5:18000`, `[2001:db8::5]:18000` or `plimsoll.example:18000` */
function parseXds(text: string): Result<XdsAddress> {
  const [, inBrackets, bare, digits] = /^(?:\[([^\]]+)\]|([A-Za-z0-9.-]+)):(\d{1,5})$/.exec(text) ?? [];
  const host = inBrackets ?? bare ?? '';
  const port = Number(digits);
  const isName = bare !== undefined && isIP(bare) === 0 && /[A-Za-z]/.test(bare);
  const isAddress = parseDestination(host).kind === 'ok' && isIPv6(host) === (inBrackets !== undefined);
  if ((isName || isAddress) && port >= 1 && port <= 65535) return ok({ host, port });
  return refused(
    `--xds ${text}: expected HOST:PORT that sidecars can connect to, such as 10.0.0.5:18000, [2001:db8::5]:18000 or plimsoll.example:18000`,
  );
}

/** The sidecar speaks what the control plane speaks: what would never connect is refused. */
function sidecarTls(
  { xds: { tls } }: Configuration,
  { ca, cert, key }: Pick<BootstrapOptions, 'ca' | 'cert' | 'key'>,
): Result<SidecarTls | undefined> {
  if ((cert === undefined) !== (key === undefined)) return refused('--cert and --key go together');
  if (tls === undefined) {
    if (ca === undefined && cert === undefined) return ok(undefined);
    return refused('--ca, --cert and --key are for TLS, and the configuration has no Xds.Tls');
  }
  if (ca === undefined) {
    return refused(
      '--ca FILE is needed: the configuration has Xds.Tls, and a sidecar has to know the authority of its certificate',
    );
  }
  if (cert !== undefined && key !== undefined) {
    return ok({ caFile: ca, own: { certFile: cert, keyFile: key } });
  }
  if (tls.clientCaFile === undefined) return ok({ caFile: ca, own: undefined });
  return refused(
    '--cert FILE and --key FILE are needed: Xds.Tls.ClientCaFile asks clients for a certificate',
  );
}

function heading(mode: BootstrapOptions['mode'], { xds, adminPort }: SidecarSettings): string {
  const address = xds.map(({ host, port }) => formatHostPort(host, port)).join(' and ');
  const source = {
    ads: [`Listeners, routes, clusters and endpoints come from Plimsoll at ${address}.`],
    eds: [
      `Endpoints, their weights and health come from Plimsoll at ${address}; listeners, routes and`,
      'clusters stand here and may be changed.',
    ],
  };
  const lines = [
    `Envoy bootstrap, made by plimsoll bootstrap --mode ${mode}`,
    ...source[mode],
    'Run it with a node id of its own for each sidecar:',
    '  envoy -c FILE --service-node NAME',
    ...(adminPort === 0 ? [] : [`Envoy's admin page is then at http://127.0.0.1:${adminPort}/`]),
  ];
  return lines.map((line) => `# ${line}\n`).join('');
}

function ok<T>(value: T): Result<T> {
  return { kind: 'ok', value };
}

function refused(reason: string): Result<never> {
  return { kind: 'refused', reason };
}
