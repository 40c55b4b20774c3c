import type { Configuration } from '../core/model/configuration.ts';

/** What of the configuration an xDS server follows for as long as it runs. */
export type XdsSettings = Pick<Configuration['xds'], 'limits' | 'keepalive' | 'maxConnectionAgeSeconds'>;
