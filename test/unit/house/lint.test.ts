import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../..', import.meta.url));

/** What a folder of src may import. Entries of `ours` and `types` are folders (ending in `/`) or files of src. */
interface Layer {
  readonly ours: readonly string[];
  /** Importable by `import type` only. */
  readonly types: readonly string[];
  readonly packages: readonly string[];
}

const STAGES = [
  'core/',
  'runtime/',
  'config/',
  'discovery/',
  'collect/',
  'publish/',
  'xds/',
  'admin/',
  'doctor/',
  'replay/',
];
const NODE = ['node:fs', 'node:crypto', 'node:timers/promises'];
const STORE = 'publish/snapshot-store.ts';
const SHAPES = ['admin/explanation.ts', 'admin/state-shape.ts', 'core/model/'];
const LAYERS: Readonly<Record<string, Layer>> = {
  core: { ours: ['core/'], types: [], packages: [] },
  runtime: { ours: ['runtime/'], types: [], packages: [...NODE, 'pino', 'pino-pretty'] },
  config: {
    ours: ['config/', 'core/model/', 'core/limits.ts', 'collect/engines/', 'runtime/'],
    types: [],
    packages: [...NODE, 'yaml', 'zod'],
  },
  discovery: {
    ours: [
      'discovery/',
      'core/model/',
      'runtime/',
      'config/mistake.ts',
      'config/parsed-list.ts',
      'config/server-list.ts',
      'config/target-groups.ts',
    ],
    types: [],
    packages: NODE,
  },
  'discovery/kubernetes': {
    ours: ['discovery/', 'core/model/', 'runtime/'],
    types: [],
    packages: [...NODE, 'yaml'],
  },
  collect: {
    ours: ['collect/', 'core/model/', 'core/limits.ts', 'runtime/'],
    types: [],
    packages: [...NODE, 'undici'],
  },
  publish: { ours: ['publish/', 'core/', 'runtime/'], types: [], packages: ['node:crypto'] },
  xds: {
    ours: ['xds/', 'core/model/', 'runtime/'],
    types: [STORE],
    packages: [...NODE, '@grpc/grpc-js', 'protobufjs'],
  },
  admin: {
    ours: ['admin/', 'core/model/', 'runtime/'],
    types: [STORE],
    packages: [...NODE, 'fastify', 'prom-client'],
  },
  'admin/words': { ours: ['admin/words/'], types: SHAPES, packages: [] },
  'admin/page': { ours: ['admin/page/', 'admin/words/'], types: SHAPES, packages: [] },
  'admin/page/view': { ours: ['admin/page/', 'admin/words/'], types: SHAPES, packages: [] },
  doctor: {
    ours: ['doctor/', 'core/model/', 'runtime/', 'config/to-yaml.ts', 'xds/bootstrap.ts', 'xds/resources/'],
    types: [],
    packages: [],
  },
  replay: {
    ours: ['replay/', 'core/'],
    types: ['admin/sample-shape.ts', 'admin/state-shape.ts'],
    packages: [],
  },
  app: { ours: [...STAGES, 'app/'], types: [], packages: [] },
  demo: { ours: [...STAGES, 'demo/', 'commands/'], types: [], packages: [...NODE, 'undici'] },
  commands: {
    ours: [...STAGES, 'demo/', 'commands/', 'app.ts'],
    types: [],
    packages: [...NODE, 'commander'],
  },
};
const TOP: Layer = {
  ours: [...STAGES, 'commands/', 'app/', 'app.ts'],
  types: [],
  packages: [...NODE, 'commander'],
};

const IMPORTERS = [
  ...Object.keys(LAYERS).map((folder) => `${folder}/probe.ts`),
  ...[
    'core/model',
    'core/policies',
    'core/scorers',
    'config/sections',
    'collect/engines',
    'xds/resources',
    'doctor/checks',
  ].map((folder) => `${folder}/probe.ts`),
  'app.ts',
];
const OURS = `
  core/model/other.ts core/limits.ts core/other.ts core/policies/other.ts runtime/other.ts config/other.ts config/to-yaml.ts discovery/other.ts
  collect/other.ts collect/engines/other.ts publish/snapshot-store.ts publish/other.ts xds/other.ts xds/bootstrap.ts
  xds/resources/other.ts admin/other.ts admin/explanation.ts admin/state-shape.ts admin/words/other.ts
  admin/page/other.ts admin/page/view/other.ts doctor/other.ts doctor/checks/other.ts demo/other.ts commands/other.ts app/other.ts app.ts main.ts`
  .trim()
  .split(/\s+/);
const PACKAGES = `
  node:fs node:crypto node:timers/promises fs pino pino-pretty yaml zod undici @grpc/grpc-js protobufjs fastify
  prom-client commander left-pad #inside /absolute.ts`
  .trim()
  .split(/\s+/);
/** Every way to import a module, one line each; `n` keeps the names of one file apart. */
const FORMS = {
  value: (from: string, n: number) => `import { value as v${n} } from '${from}';`,
  type: (from: string, n: number) => `import type { Type as T${n} } from '${from}';`,
  effect: (from: string) => `import '${from}';`,
  export: (from: string, n: number) => `export { value as e${n} } from '${from}';`,
  star: (from: string) => `export * from '${from}';`,
  dynamic: (from: string) => `void import('${from}');`,
  annotation: (from: string, n: number) => `export type A${n} = import('${from}').Type;`,
};
type Form = keyof typeof FORMS;
const ALL_FORMS = Object.keys(FORMS) as Form[];

interface Probe {
  readonly importer: string;
  readonly form: Form;
  readonly target: string;
  readonly line: string;
  readonly allowed: boolean;
}

/** Of the folders that it is in, the innermost one of the table. */
function layerOf(importer: string): Layer {
  const folders = Object.keys(LAYERS).filter((folder) => importer.startsWith(`${folder}/`));
  return LAYERS[folders.toSorted((a, b) => b.length - a.length)[0] ?? ''] ?? TOP;
}

function importProbes(importer: string): Probe[] {
  const layer = layerOf(importer);
  let n = 0;
  const probe = (target: string, from: string, isAllowed: (form: Form) => boolean): Probe[] =>
    ALL_FORMS.map((form) => ({
      importer,
      form,
      target,
      line: FORMS[form](from, n++),
      allowed: form !== 'annotation' && isAllowed(form),
    }));
  const holds = (list: readonly string[], target: string): boolean =>
    list.some((entry) => (entry.endsWith('/') ? target.startsWith(entry) : target === entry));
  return [
    ...OURS.filter((target) => target !== importer).flatMap((target) =>
      probe(
        target,
        relativePath(importer, target),
        (form) => holds(layer.ours, target) || (form === 'type' && holds(layer.types, target)),
      ),
    ),
    ...PACKAGES.flatMap((name) => probe(name, name, () => layer.packages.includes(name))),
    ...probe('a detour', relativePath(importer, 'x').replace('x', 'xds/../core/model/other.ts'), () => false),
    ...probe('a test', relativePath(importer, '../test/support/other.ts'), () => false),
  ];
}

function relativePath(importer: string, target: string): string {
  const path = relative(dirname(importer), target);
  return path.startsWith('.') ? path : `./${path}`;
}

/** One file each: what it holds, and the rule that must report it, or undefined when nothing may. */
const HOUSE: readonly (readonly [path: string, rule: string | undefined, ...lines: string[]])[] = [
  ['runtime/a.ts', 'no-floating-promises', 'export function f(p: Promise<void>): void {', '  p;', '}'],
  ['runtime/b.ts', 'no-misused-promises', 'export const f = (p: Promise<boolean>): number => (p ? 1 : 2);'],
  [
    'core/c.ts',
    'switch-exhaustiveness-check',
    "export function f(x: 'a' | 'b'): number {",
    '  switch (x) {',
    "    case 'a':",
    '      return 1;',
    '  }',
    '  return 2;',
    '}',
  ],
  ['core/d.ts', 'no-explicit-any', 'export type D = any;'],
  ['core/e.ts', 'no-unused-vars', 'const unused = 1;', 'export const used = 2;'],
  ['core/f.ts', 'no-cycle', "import type { G } from './g.ts';", 'export type F = G;'],
  ['core/g.ts', 'no-cycle', "import type { F } from './f.ts';", 'export type G = F;'],
  ['core/h.ts', 'no-restricted-globals', 'export const h = Date.now();'],
  ['core/i.ts', 'no-restricted-properties', 'export const i = Math.random();'],
  ['core/j.ts', 'no-restricted-properties', 'export const { random } = Math;'],
  ['core/k.ts', 'no-restricted-globals', 'export const k = (): unknown => setTimeout(() => undefined, 1);'],
  ['core/l.ts', 'no-restricted-globals', 'export const l = (): unknown => globalThis.performance.now();'],
  ['core/m.ts', 'no-restricted-globals', "export const m = process.env['M'];"],
  ['core/n.ts', 'no-restricted-globals', "export const n = (): unknown => console.info('n');"],
  ['core/o.ts', 'no-restricted-globals', "export const o = Buffer.from('o');"],
  ['core/policies/p.ts', 'no-restricted-globals', 'export const p = new Date();'],
  ['core/q.ts', undefined, 'export const q = (now: number): number => Math.max(now, 1);'],
  ['xds/r.ts', 'no-restricted-globals', 'export const r = (): unknown => setInterval(() => undefined, 1);'],
  ['runtime/s.ts', undefined, 'export const s = (): number => performance.now();'],
  ['runtime/t.ts', 'no-console', "export const t = (): void => console.info('t');"],
  ['commands/u.ts', undefined, "export const u = (): void => console.info('u');"],
  ['core/v.ts', 'no-default-export', 'export default 1;'],
  ['core/w.ts', 'no-warning-comments', '// TODO: later', 'export const w = 1;'],
  ['core/x.ts', 'consistent-type-imports', "import { Q } from './y.ts';", 'export type X = Q;'],
  ['core/y.ts', undefined, 'export type Q = number;'],
];

interface Report {
  readonly diagnostics: readonly {
    readonly code: string;
    readonly filename: string;
    readonly labels: readonly { readonly span: { readonly line: number } }[];
  }[];
}

describe('the linter', () => {
  let folder = '';
  /** `path:line` of src to the rules reported there. */
  const reported = new Map<string, string[]>();

  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'plimsoll-lint-'));
    for (const name of ['.oxlintrc.json', 'tsconfig.json']) cpSync(join(root, name), join(folder, name));
    symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
    const write = (path: string, lines: readonly string[]): void => {
      const file = join(folder, 'src', path);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, `${lines.join('\n')}\n`);
    };
    for (const path of OURS) write(path, ['export const value = 1;', 'export type Type = number;']);
    for (const path of IMPORTERS)
      write(
        path,
        importProbes(path).map((probe) => probe.line),
      );
    for (const [path, , ...lines] of HOUSE) write(path, lines);
    for (const { code, filename, labels } of lint(folder).diagnostics) {
      const at = `${relative('src', filename)}:${labels[0]?.span.line ?? 0}`;
      reported.set(at, [...(reported.get(at) ?? []), code]);
    }
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  for (const importer of IMPORTERS) {
    test(`lets ${dirname(importer) === '.' ? importer : dirname(importer)} import what the table allows, and nothing else`, () => {
      const wrong = importProbes(importer).flatMap(({ line, allowed }, index) => {
        const rules = reported.get(`${importer}:${index + 1}`) ?? [];
        const refused = rules.some((rule) => /no-restricted-imports|consistent-type-imports/.test(rule));
        return refused === allowed ? [`${allowed ? 'refused' : 'not refused'}: ${line}`] : [];
      });
      assert.deepEqual(wrong, []);
    });
  }

  for (const [path, rule, ...lines] of HOUSE) {
    test(`${rule ?? 'nothing'} is reported for ${lines.join(' ')} in ${dirname(path)}`, () => {
      const rules = [...reported].filter(([at]) => at.startsWith(`${path}:`)).flatMap(([, codes]) => codes);
      if (rule === undefined) assert.deepEqual(rules, []);
      else
        assert.ok(
          rules.some((code) => code.includes(`(${rule})`)),
          `reported: ${rules.join(', ')}`,
        );
    });
  }

  test('the folders of src are those of the table', () => {
    const known = new Set([...Object.keys(LAYERS), 'app.ts', 'main.ts']);
    assert.deepEqual(
      readdirSync(join(root, 'src')).filter((name) => !known.has(name)),
      [],
    );
  });
});

function lint(folder: string): Report {
  const oxlint = join(root, 'node_modules', 'oxlint', 'bin', 'oxlint');
  const { stdout, stderr } = spawnSync(process.execPath, [oxlint, '--format', 'json', 'src'], {
    cwd: folder,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });
  assert.ok(stdout.startsWith('{'), `oxlint gave no report: ${stdout}${stderr}`);
  return JSON.parse(stdout) as Report;
}

/** Node 20 forgets a time limit that nobody but the joint signal knows of, once garbage is collected. */
test('no time limit of AbortSignal is joined with another signal', () => {
  const joined = /AbortSignal\.any\([^;]*?AbortSignal\.timeout/s;
  assert.match('AbortSignal.any([signal, AbortSignal.timeout(1)])', joined);
  const files = ['src', 'test'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => /\.(ts|mjs)$/.test(name))
      .map((name) => join(root, folder, name)),
  );
  assert.ok(files.length > 500);
  const own = fileURLToPath(import.meta.url);
  const guilty = files.filter((file) => file !== own && joined.test(readFileSync(file, 'utf8')));
  assert.deepEqual(
    guilty.map((file) => relative(root, file)),
    [],
  );
});
