import { addresses } from './addresses.ts';
import type { BadFile } from './bad-file.ts';
import { discoveries } from './discovery.ts';
import { engines } from './engines.ts';
import { keys } from './keys.ts';
import { ranges } from './ranges.ts';
import { reaching } from './reaching.ts';
import { rules } from './rules.ts';
import { security } from './security.ts';
import { sidecars } from './sidecars.ts';
import { several } from './several.ts';
import { syntax } from './syntax.ts';

/** Every bad file, by kind. */
export const badFiles: Readonly<Record<string, readonly BadFile[]>> = {
  syntax,
  keys,
  ranges,
  addresses,
  discoveries,
  engines,
  reaching,
  rules,
  security,
  several,
  sidecars,
};
