import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { ENGINES } from '../collect/engines/catalogue.ts';
import type { Engine } from '../collect/engines/engine.ts';
import { parseConfiguration } from '../config/load.ts';
import type { ConfigurationInput } from '../config/schema.ts';
import type { Backend } from '../core/model/backend.ts';
import type { CollectSettings } from '../core/model/collect-settings.ts';
import { INTERVAL_MS, INTERVAL_SECONDS, TIMEOUT_SECONDS } from '../core/limits.ts';
import { messageOf, PlimsollError } from '../runtime/errors.ts';
import { formatHostPort } from '../runtime/host-port.ts';
import { printable } from '../runtime/text.ts';
import { wrongInFiles } from './probe-files.ts';

/** What the command line says of how a page is to be fetched. */
export interface ProbeFlags {
  readonly url: string;
  readonly engine: string;
  /** Seconds. */
  readonly interval: number;
  /** Seconds. */
  readonly timeout: number;
  /** `NAME: VALUE`, or `NAME: @FILE`. */
  readonly header: readonly string[];
  readonly bearerTokenFile?: string;
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
  readonly insecure: boolean;
}

type Component = NonNullable<ConfigurationInput['ServiceExtensions']>[number]['Components'][number];
/** As an operator writes it. */
export type CollectorBlock = Component['Config']['MetricCollector'];

export interface ProbeTarget {
  readonly backend: Backend;
  /** Where the page may be, in the order of trying. */
  readonly paths: readonly string[];
  /** Without path and engine, which the probe finds out. */
  readonly block: CollectorBlock;
}

const EXTENSION = 'probe';
const USUAL_PORTS = { http: 80, https: 443 } as const;

/**
 * Where to look, from the command line; files that it names are read, a host name is looked up.
 * @throws PlimsollError `usage` for what cannot be meant, `io` for a name that cannot be looked up
 */
export async function probeTarget(flags: ProbeFlags): Promise<ProbeTarget> {
  const named = ENGINES.find(({ name }) => name === flags.engine);
  const { scheme, host, port, page } = parseUrl(flags.url, named);
  const headers = Object.fromEntries(flags.header.map(parseHeader));
  const wrong = wrongInTimes(flags) ?? wrongInTls(flags, scheme) ?? (await wrongInFiles(flags));
  if (wrong !== undefined) throw usage(wrong);
  const address = isIP(host) === 0 ? await addressOf(host) : host;
  const paths = (named === undefined ? ENGINES : [named]).map(({ path }) => path);
  return {
    backend: { id: formatHostPort(address, port), address, port, weight: 100 },
    paths: page === '/' ? [...new Set(paths)] : [page],
    block: {
      Timeout: flags.timeout,
      ...(flags.interval < 1
        ? { IntervalMilliseconds: Math.round(flags.interval * 1000) }
        : { Interval: flags.interval }),
      HttpMetricCollect: {
        Port: port,
        Scheme: scheme,
        // over TLS it is also the name in the certificate
        ...(isIP(host) === 0 && (host !== 'localhost' || scheme === 'https') ? { Host: host } : {}),
        ...(flags.header.length === 0 ? {} : { Headers: headers }),
        ...(flags.bearerTokenFile === undefined ? {} : { BearerTokenFile: flags.bearerTokenFile }),
        ...tlsBlock(flags),
      },
    },
  };
}

/** The block for one path and engine. */
export function withPage(block: CollectorBlock, path: string, engine: string): CollectorBlock {
  const http = {
    Path: path,
    ...block.HttpMetricCollect,
    Engine: engine,
  } as CollectorBlock['HttpMetricCollect'];
  return { ...block, HttpMetricCollect: http };
}

/**
 * What `serve` makes of the block.
 * @throws PlimsollError `usage` when it is not a valid one
 */
export function settingsOf(block: CollectorBlock, { address, port }: Backend): CollectSettings {
  const file: ConfigurationInput = {
    ServerGroups: [
      {
        Name: EXTENSION,
        ServiceExtension: EXTENSION,
        AllowLinkLocal: true,
        Servers: [{ Address: address, Port: port }],
      },
    ],
    ServiceExtensions: [
      {
        Name: EXTENSION,
        Components: [
          {
            Type: 'LoadAwareRouting',
            Config: {
              MetricCollector: block,
              Scheduler: { Scorers: [{ Name: 'TotalQueuedRequests', Weight: 1 }] },
            },
          },
        ],
      },
    ],
  };
  const loaded = parseConfiguration(JSON.stringify(file), 'command line');
  if (loaded.kind === 'invalid') {
    const mistakes = loaded.mistakes.map(
      ({ path, message }) => `${path.replace(/^.*\.(?=MetricCollector|Address$)/, '')}: ${message}`,
    );
    throw usage(`cannot be collected like this: ${mistakes.join('; ')}`);
  }
  const collect = loaded.configuration.serverGroups[0]?.loadAware?.collect;
  if (collect === undefined)
    throw new PlimsollError('internal', 'the configuration of a probe has no collector');
  return collect;
}

interface Target {
  readonly scheme: 'http' | 'https';
  /** Without brackets. */
  readonly host: string;
  readonly port: number;
  /** Path and query. */
  readonly page: string;
}

/** What the URL leaves out is as with the engine. */
function parseUrl(text: string, engine: Engine | undefined): Target {
  const full = /^[a-z][a-z\d+.-]*:\/\//i.test(text) ? text : `${engine?.scheme ?? 'http'}://${text}`;
  const url = URL.canParse(full) ? new URL(full) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.port === '0') {
    // it may have a password in it, in a place where none is expected
    const shown = text.includes('@') ? 'something else (not shown, as it has an @)' : printable(text);
    throw usage(`URL must be like http://10.0.3.11:8000 or https://HOST:PORT/PATH, is ${shown}`);
  }
  if (url.username !== '' || url.password !== '') {
    throw usage('URL must not hold a user or password; use --header or --bearer-token-file');
  }
  const scheme = url.protocol === 'https:' ? 'https' : 'http';
  const usual = USUAL_PORTS[scheme];
  const saysPort = /^[^/]*\/\/[^/?#]*:\d+(?:[/?#]|$)/.test(full);
  return {
    scheme,
    host: url.hostname.replace(/^\[|\]$/g, ''),
    // a URL leaves out the usual port itself
    port: saysPort ? Number(url.port || usual) : (engine?.port ?? usual),
    page: url.pathname + url.search,
  };
}

function wrongInTimes({ interval, timeout }: ProbeFlags): string | undefined {
  const { min, max } = INTERVAL_SECONDS;
  const milliseconds = Math.round(interval * 1000);
  const isInterval =
    interval < 1
      ? milliseconds >= INTERVAL_MS.min && milliseconds <= INTERVAL_MS.max
      : Number.isInteger(interval) && interval <= max;
  if (!isInterval) {
    const short = `${INTERVAL_MS.min / 1000}..${INTERVAL_MS.max / 1000}`;
    return `--interval must be an integer ${min}..${max} or a number ${short}, is ${interval}`;
  }
  if (timeout >= TIMEOUT_SECONDS.min && timeout <= TIMEOUT_SECONDS.max) return undefined;
  return `--timeout must be an integer ${TIMEOUT_SECONDS.min}..${TIMEOUT_SECONDS.max}, is ${timeout}`;
}

function wrongInTls({ ca, cert, key, insecure }: ProbeFlags, scheme: Target['scheme']): string | undefined {
  const given = Object.entries({ ca, cert, key, insecure: insecure || undefined })
    .filter(([, value]) => value !== undefined)
    .map(([name]) => `--${name}`);
  if (scheme === 'http' && given.length > 0) return `${given[0]} is for TLS: the URL must begin with https`;
  if (cert !== undefined && key === undefined) return '--cert needs --key beside it';
  return key !== undefined && cert === undefined ? '--key needs --cert beside it' : undefined;
}

function usage(message: string): PlimsollError {
  return new PlimsollError('usage', message);
}

async function addressOf(name: string): Promise<string> {
  try {
    return (await lookup(name)).address;
  } catch (error) {
    throw new PlimsollError('io', `${printable(name)} cannot be looked up: ${messageOf(error)}`, {
      cause: error,
    });
  }
}

function parseHeader(text: string): readonly [string, string | { readonly File: string }] {
  const match = /^([^:\s]+):\s*(.+)$/.exec(text);
  const [, name, value] = match ?? [];
  if (name === undefined || value === undefined)
    throw usage("--header must be like 'NAME: VALUE' or 'NAME: @FILE'");
  return [name, value.startsWith('@') ? { File: value.slice(1) } : value];
}

function tlsBlock({ ca, cert, key, insecure }: ProbeFlags): object {
  const tls = {
    ...(ca === undefined ? {} : { CaFile: ca }),
    ...(cert === undefined ? {} : { CertFile: cert }),
    ...(key === undefined ? {} : { KeyFile: key }),
    ...(insecure ? { InsecureSkipVerify: true } : {}),
  };
  return Object.keys(tls).length === 0 ? {} : { Tls: tls };
}
