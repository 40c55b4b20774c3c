import { readdirSync, readFileSync } from 'node:fs';

const FOLDER = new URL('../../deploy/', import.meta.url);

export interface DeployedFile {
  /** Below deploy. */
  readonly name: string;
  readonly text: string;
}

/** The configurations among the files that an operator starts from. */
export function deployedConfigurations(): readonly DeployedFile[] {
  return readdirSync(FOLDER, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.yaml'))
    .map((name) => ({ name, text: readFileSync(new URL(name, FOLDER), 'utf8') }))
    .filter(({ name, text }) => name.startsWith('examples/') || /^ServerGroups:/m.test(text));
}
