import type { Configuration } from '../core/model.ts';

/** What of the configuration an xDS server follows for as long as it runs. */
export type XdsSettings = Pick<Configuration['xds'], 'limits' | 'keepalive' | 'maxConnectionAgeSeconds'>;
