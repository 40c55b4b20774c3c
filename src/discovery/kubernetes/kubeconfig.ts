import { homedir } from 'node:os';
import { delimiter, dirname, join, resolve } from 'node:path';
import { Lexer, parse, Parser, YAMLError } from 'yaml';
import { messageOf } from '../../runtime/errors.ts';
import { isNoFile } from '../../runtime/file-fault.ts';
import { printable } from '../../runtime/text.ts';
import type { ApiAccess, AccessSource } from './access.ts';
import { type Credential, ExecCredential } from './exec-credential.ts';
import { fieldOf, filledTextOf, flagOf, listOf, textOf } from './json.ts';
import { checkedToken, readText, readToken } from './small-text.ts';

/** A much deeper text keeps the YAML library busy for long. */
const NESTING_MAX = 100;

/** A named entry of a kubeconfig file, and the folder that paths in it are relative to. */
interface Entry {
  readonly value: unknown;
  readonly folder: string;
}

/** The files that kubectl reads: those of KUBECONFIG, else `~/.kube/config`. */
export function kubectlFiles(environment: Readonly<Record<string, string | undefined>>): readonly string[] {
  const named = environment['KUBECONFIG']?.split(delimiter).filter((path) => path !== '') ?? [];
  return named.length > 0 ? named : [join(environment['HOME'] ?? homedir(), '.kube', 'config')];
}

/**
 * The current context of kubeconfig files. Of entries with the same name the first counts, and of several files those that
 * are there, as with kubectl. Client certificates, tokens, token files and credential plugins (`exec`) work; `auth-provider`, passwords and
 * `proxy-url` are refused.
 */
export function kubeconfigAccess(paths: readonly string[]): AccessSource {
  const plugin = new ExecCredential();
  return async (isRefused, signal) => {
    if (isRefused) plugin.forget();
    const files = await readKubeconfigs(paths);
    const current = files.map(({ value }) => textOf(value, 'current-context')).find((name) => name);
    const where = printable(paths.join(', '));
    if (current === undefined) throw new Error(`${where} has no current-context`);
    const context = entryOf(files, 'contexts', 'context', current);
    const cluster = entryOf(files, 'clusters', 'cluster', textOf(context?.value, 'cluster'));
    const user = entryOf(files, 'users', 'user', textOf(context?.value, 'user'));
    if (cluster === undefined || user === undefined) {
      const missing =
        context === undefined ? 'such context' : cluster === undefined ? 'cluster for it' : 'user for it';
      throw new Error(`current-context is "${printable(current)}", and ${where} has no ${missing}`);
    }
    return accessOf(cluster, user, (exec) => plugin.get(exec, user.folder, signal));
  };
}

/** @throws Error also when none of them is there. */
async function readKubeconfigs(paths: readonly string[]): Promise<readonly Entry[]> {
  const read = await Promise.all(paths.map(readIfThere));
  const files = read.flatMap((one) => (typeof one === 'string' ? [] : [one]));
  if (files.length > 0) return files;
  throw new Error(read.filter((one) => typeof one === 'string').join('; '));
}

/** @returns in words that it is not there. */
async function readIfThere(path: string): Promise<Entry | string> {
  try {
    return await readKubeconfig(path);
  } catch (error) {
    if (isNoFile(error)) return messageOf(error);
    throw error;
  }
}

async function readKubeconfig(path: string): Promise<Entry> {
  const text = await readText(path);
  if (isTooDeep(text)) throw new Error(`${printable(path)} has more than ${NESTING_MAX} levels of nesting`);
  try {
    return { value: parse(text, { logLevel: 'error' }) as unknown, folder: dirname(resolve(path)) };
  } catch (error) {
    throw new Error(`${printable(path)} is no YAML: ${whereOf(error)}`, { cause: error });
  }
}

/** Where and what is wrong, without the words of the file: they may be secret. */
function whereOf(error: unknown): string {
  if (!(error instanceof YAMLError)) return 'it cannot be read';
  const [at] = error.linePos ?? [];
  return `${error.code}${at === undefined ? '' : ` in line ${at.line}, column ${at.col}`}`;
}

function isTooDeep(text: string): boolean {
  const parser = new Parser();
  for (const lexeme of new Lexer().lex(text)) {
    // its tokens come as they are asked for
    Array.from(parser.next(lexeme));
    if (parser.stack.length > NESTING_MAX) return true;
  }
  return false;
}

function entryOf(
  files: readonly Entry[],
  list: string,
  field: string,
  name: string | undefined,
): Entry | undefined {
  for (const { value, folder } of files) {
    const entry = listOf(value, list).find((candidate) => textOf(candidate, 'name') === name);
    if (name !== undefined && entry !== undefined) return { value: fieldOf(entry, field), folder };
  }
  return undefined;
}

async function accessOf(
  cluster: Entry,
  user: Entry,
  run: (exec: unknown) => Promise<Credential>,
): Promise<ApiAccess> {
  const server = textOf(cluster.value, 'server') ?? '';
  if (!URL.canParse(server) || !/^https?:/.test(server)) {
    const shown = printable(server.replace(/\/\/[^/]*@/, '//'));
    throw new Error(`the kubeconfig's server "${shown}" is no URL of http or https`);
  }
  refuse(cluster, ['proxy-url']);
  refuse(user, ['auth-provider', 'username', 'password', 'as', 'as-uid', 'as-groups']);
  const url = new URL(server);
  const [ca, cert, key, token] = await Promise.all([
    pemOf(cluster, 'certificate-authority'),
    pemOf(user, 'client-certificate'),
    pemOf(user, 'client-key'),
    tokenOf(user),
  ]);
  const exec = fieldOf(user.value, 'exec');
  const own = isEmpty(exec) ? { token, cert, key } : await run(exec);
  if (url.protocol === 'http:' && own.token !== undefined) {
    throw new Error(`a token goes over https alone, and the kubeconfig's server is http://${url.host}`);
  }
  if ((own.cert === undefined) !== (own.key === undefined)) {
    throw new Error('the kubeconfig has one of client-certificate and client-key: it needs both');
  }
  const serverName = filledTextOf(cluster.value, 'tls-server-name');
  return {
    url,
    ca,
    serverName,
    insecure: flagOf(cluster.value, 'insecure-skip-tls-verify') ?? false,
    ...own,
  };
}

function refuse({ value }: Entry, fields: readonly string[]): void {
  const found = fields.find((field) => !isEmpty(fieldOf(value, field)));
  if (found !== undefined) throw new Error(`${found} of a kubeconfig is not supported`);
}

/** What counts as not there, as with kubectl. */
function isEmpty(value: unknown): boolean {
  return (
    value === undefined || value === null || value === '' || (Array.isArray(value) && value.length === 0)
  );
}

/** What stands in `FIELD-data` in base64, else in the file that `FIELD` names. */
async function pemOf({ value, folder }: Entry, field: string): Promise<string | undefined> {
  const data = filledTextOf(value, `${field}-data`);
  if (data !== undefined) return Buffer.from(data, 'base64').toString('utf8');
  const path = textOf(value, field);
  return path ? readText(resolve(folder, path)) : undefined;
}

/** A token file goes before a token, as with kubectl. */
async function tokenOf({ value, folder }: Entry): Promise<string | undefined> {
  const path = textOf(value, 'tokenFile');
  if (path) return readToken(resolve(folder, path));
  const token = textOf(value, 'token');
  return token ? checkedToken(token, "the kubeconfig's token") : undefined;
}
