import type { Row } from '../model.ts';
import { BACKENDS_GONE } from './backends-gone.ts';
import { BACKENDS_LYING } from './backends-lying.ts';
import { CONTROL_PLANE } from './control-plane.ts';
import { DNS, LIST_FILE } from './discovery.ts';
import { LOAD } from './load.ts';
import { METRICS_NETWORK } from './metrics-network.ts';
import { OPERATOR } from './operator.ts';
import { SIDECARS } from './sidecars.ts';
import { XDS_NETWORK } from './xds-network.ts';

/** The table, in its order. */
export const ROWS: readonly Row[] = [
  ...BACKENDS_GONE,
  ...BACKENDS_LYING,
  ...METRICS_NETWORK,
  ...DNS,
  ...CONTROL_PLANE,
  ...XDS_NETWORK,
  ...SIDECARS,
  ...LOAD,
  ...OPERATOR,
  ...LIST_FILE,
];
