import { readCredentials } from '../runtime/credentials.ts';
import { readHeaderFile } from '../runtime/header-file.ts';

/** Files that the command line names. */
interface NamedFiles {
  readonly ca?: string | undefined;
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
  readonly bearerTokenFile?: string | undefined;
  /** `NAME: VALUE`, or `NAME: @FILE`. */
  readonly header: readonly string[];
}

const OPTIONS: Readonly<Record<string, string>> = { CaFile: '--ca', CertFile: '--cert', KeyFile: '--key' };

/** Why a file that the command line names is of no use, with its option; undefined: all can be used. */
export async function wrongInFiles(flags: NamedFiles): Promise<string | undefined> {
  const { ca: caFile, cert: certFile, key: keyFile, bearerTokenFile, header } = flags;
  const credentials = await readCredentials({ caFile, certFile, keyFile });
  if (credentials.kind === 'bad')
    return credentials.reason.replace(/^\w+/, (field) => OPTIONS[field] ?? field);
  const files = header.flatMap((text): [option: string, path: string][] => {
    const [, name = '', path] = /^([^:\s]+):\s*@(.+)$/.exec(text) ?? [];
    return path === undefined ? [] : [[`--header ${name}: file`, path]];
  });
  if (bearerTokenFile !== undefined) files.push(['--bearer-token-file', bearerTokenFile]);
  for (const [option, path] of files) {
    const read = await readHeaderFile(option, path);
    if (read.kind === 'bad') return read.reason;
  }
  return undefined;
}
