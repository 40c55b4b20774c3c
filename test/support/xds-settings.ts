import { parseConfiguration } from '../../src/config/load.ts';
import type { Configuration, XdsLimits } from '../../src/core/model/configuration.ts';

/** `Xds` of a configuration as it is by default, but for `limits`. */
export function xdsSettings(limits: Partial<XdsLimits> = {}): Configuration['xds'] {
  const smallest = 'ServerGroups: [{Name: g, Servers: [{Address: 10.0.3.11, Port: 8000}]}]';
  const result = parseConfiguration(smallest, 'defaults');
  if (result.kind === 'invalid') throw new Error('the smallest file is invalid');
  const { xds } = result.configuration;
  return { ...xds, limits: { ...xds.limits, ...limits } };
}
