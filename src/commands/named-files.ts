import type { Path } from '../config/mistake.ts';
import { LIST_BYTES_MAX } from '../config/parsed-list.ts';
import type { ConfigurationFile } from '../config/schema.ts';
import { type CredentialFiles, readCredentials } from '../runtime/credentials.ts';
import { messageOf } from '../runtime/errors.ts';
import { readHeaderFile } from '../runtime/header-file.ts';
import { readSmallFile } from '../runtime/small-file.ts';
import { printable } from '../runtime/text.ts';
import { readToken } from '../runtime/token-file.ts';

/** A file that a configuration names, and that is no good here and now. */
export interface FileFault {
  /** The field that names it. */
  readonly path: Path;
  /** The file and why, never what is in it. */
  readonly reason: string;
  /** What `serve` does then; undefined: it does not start. */
  readonly meanwhile: string | undefined;
}

type Extension = ConfigurationFile['ServiceExtensions'][number];
type Http = Extension['Components'][number]['Config']['MetricCollector']['HttpMetricCollect'];
type Group = ConfigurationFile['ServerGroups'][number];
type Found = Promise<readonly FileFault[]>;

const NO_METRICS = 'until it is good, its backends give no metrics';
const NO_BACKENDS = 'until it can be read, the server group has no backends from there';

/** Reads all files that a configuration names as `serve` does when it starts. */
export async function faultsOfFiles(file: ConfigurationFile): Found {
  const { Xds: xds, Admin: admin } = file;
  const faults = await Promise.all([
    xds.Tls === undefined ? [] : ofTls(['Xds', 'Tls'], xds.Tls, undefined),
    admin.Tls === undefined ? [] : ofTls(['Admin', 'Tls'], admin.Tls, undefined),
    admin.BearerTokenFile === undefined ? [] : ofToken(['Admin', 'BearerTokenFile'], admin.BearerTokenFile),
    ...file.ServiceExtensions.map((extension, index) => ofExtension(['ServiceExtensions', index], extension)),
    ...file.ServerGroups.map((group, index) => ofDiscovery(['ServerGroups', index, 'Discovery'], group)),
  ]);
  return faults.flat();
}

async function ofExtension(at: Path, { Components: components }: Extension): Found {
  const faults = await Promise.all(
    components.map(({ Config: config }, index) =>
      ofCollector(
        [...at, 'Components', index, 'Config', 'MetricCollector', 'HttpMetricCollect'],
        config.MetricCollector.HttpMetricCollect,
      ),
    ),
  );
  return faults.flat();
}

async function ofCollector(
  at: Path,
  { Headers: headers = {}, BearerTokenFile: token, Tls: tls }: Http,
): Found {
  const faults = await Promise.all([
    ...Object.entries(headers).flatMap(([name, value]) =>
      typeof value === 'string' ? [] : [ofHeader([...at, 'Headers', name, 'File'], value.File)],
    ),
    token === undefined ? [] : ofHeader([...at, 'BearerTokenFile'], token),
    tls === undefined ? [] : ofTls([...at, 'Tls'], tls, NO_METRICS),
  ]);
  return faults.flat();
}

/** Their content is left to the source, which waits until it is good. */
async function ofDiscovery(at: Path, { Discovery: discovery }: Group): Found {
  const { File: list, Kubernetes: kubernetes } = discovery ?? {};
  const kubeconfig = kubernetes?.KubeconfigFile;
  const faults = await Promise.all([
    list === undefined ? [] : ofReading([...at, 'File', 'Path'], list.Path, NO_BACKENDS, LIST_BYTES_MAX),
    kubeconfig === undefined
      ? []
      : ofReading([...at, 'Kubernetes', 'KubeconfigFile'], kubeconfig, NO_BACKENDS),
  ]);
  return faults.flat();
}

interface TlsFields {
  readonly CertFile?: string | undefined;
  readonly KeyFile?: string | undefined;
  readonly ClientCaFile?: string | undefined;
  readonly CaFile?: string | undefined;
}

/** Every file that cannot be read; if all can, the first thing that is wrong with them. */
async function ofTls(at: Path, fields: TlsFields, meanwhile: string | undefined): Found {
  const { CertFile: certFile, KeyFile: keyFile, ClientCaFile: clientCaFile, CaFile: caFile } = fields;
  const named = Object.entries({
    CertFile: certFile,
    KeyFile: keyFile,
    ClientCaFile: clientCaFile,
    CaFile: caFile,
  });
  const unreadable = await Promise.all(
    named.flatMap(([field, path]) =>
      path === undefined ? [] : [ofReading([...at, field], path, meanwhile)],
    ),
  );
  if (unreadable.flat().length > 0) return unreadable.flat();
  const files: CredentialFiles = { certFile, keyFile, clientCaFile, caFile };
  const read = await readCredentials(files);
  if (read.kind === 'good') return [];
  const [, field = '', reason = ''] = /^(\w+) ([^]*)$/.exec(read.reason) ?? [];
  return [{ path: [...at, field], reason, meanwhile }];
}

async function ofReading(at: Path, path: string, meanwhile: string | undefined, bytesMax?: number): Found {
  try {
    await readSmallFile(path, bytesMax);
    return [];
  } catch (error) {
    return [{ path: at, reason: `${printable(path)}: ${messageOf(error)}`, meanwhile }];
  }
}

async function ofToken(at: Path, path: string): Found {
  const read = await readToken(path);
  if (read.kind === 'token') return [];
  return [{ path: at, reason: `${printable(path)}: ${read.reason}`, meanwhile: undefined }];
}

async function ofHeader(at: Path, path: string): Found {
  const read = await readHeaderFile('', path);
  return read.kind === 'good' ? [] : [{ path: at, reason: read.reason.trimStart(), meanwhile: NO_METRICS }];
}
