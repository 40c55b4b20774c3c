/** What a Dockerfile's line says: one that goes on over a backslash is whole. */
export interface Instruction {
  /** `COPY` */
  readonly name: string;
  /** What follows it. */
  readonly text: string;
}

export interface ImageStage {
  /** Of `AS NAME`; '' for one without. */
  readonly name: string;
  /** Those after its FROM. */
  readonly instructions: readonly Instruction[];
}

/** A `COPY`: files of a stage, or of the build context. */
export interface Copy {
  readonly from: string | undefined;
  readonly sources: readonly string[];
  readonly to: string;
}

/** The stages of a Dockerfile without heredocs. */
export function readDockerfile(text: string): readonly ImageStage[] {
  const stages: { name: string; instructions: Instruction[] }[] = [];
  const lines = text
    .split('\n')
    .filter((line) => !line.startsWith('#'))
    .join('\n')
    .replaceAll(/\\\n/g, ' ')
    .split('\n');
  for (const line of lines) {
    const [, name, rest = ''] = /^([A-Z]+)\s+(.*)$/.exec(line) ?? [];
    if (name === 'FROM') stages.push({ name: /\sAS\s+(\S+)$/.exec(rest)?.[1] ?? '', instructions: [] });
    else if (name !== undefined) stages.at(-1)?.instructions.push({ name, text: rest });
  }
  return stages;
}

export function readCopy(text: string): Copy {
  const words = text.split(/\s+/);
  const from = /^--from=(\S+)$/.exec(words[0] ?? '')?.[1];
  const paths = from === undefined ? words : words.slice(1);
  const to = paths.at(-1);
  if (to === undefined || paths.length < 2) throw new Error(`COPY ${text}: sources and where to`);
  return { from, sources: paths.slice(0, -1), to };
}

/**
 * Whether a file gets into the build context. The last pattern that holds it counts; patterns are paths, and `*`.
 * @param path below the context
 */
export function inContext(dockerignore: string, path: string): boolean {
  let inside = true;
  for (const line of dockerignore.split('\n')) {
    if (line === '' || line.startsWith('#')) continue;
    const pattern = line.replace(/^!/, '');
    if (pattern === '*' || path === pattern || path.startsWith(`${pattern}/`)) inside = line.startsWith('!');
  }
  return inside;
}
