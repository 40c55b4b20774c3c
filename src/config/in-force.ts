import { changesBetween } from './changes.ts';
import { effectiveFile, writeYaml } from './effective.ts';
import type { ConfigurationFile, ConfigurationInput } from './schema.ts';
import { withoutSecrets } from './secrets.ts';

/** The configuration in force as an operator would write it, with every default filled in. */
export class ConfigurationInForce {
  #file: ConfigurationInput | undefined;

  /** @param fields undefined: it comes from no file, and is not known in this form. */
  constructor(fields: ConfigurationFile | undefined) {
    this.#file = fields && effectiveFile(fields);
  }

  /** Without secrets; empty: it is not known. */
  get yaml(): string {
    return this.#file === undefined ? '' : writeYaml(withoutSecrets(this.#file));
  }

  /**
   * Takes another file, but for the parts that only a restart changes.
   * @returns what is different in force, in words.
   */
  replace(fields: ConfigurationFile): readonly string[] {
    const before = this.#file;
    const { Xds, Admin, Log, ...after } = effectiveFile(fields);
    const fixed = before ?? { Xds, Admin, Log };
    this.#file = {
      ...(fixed.Xds && { Xds: fixed.Xds }),
      ...(fixed.Admin && { Admin: fixed.Admin }),
      ...(fixed.Log && { Log: fixed.Log }),
      ...after,
    };
    return before === undefined ? [] : changesBetween(before, this.#file);
  }
}
