import { choice, map } from '../fields.ts';

export const log = map({
  Level: choice(['trace', 'debug', 'info', 'warn', 'error', 'fatal'])
    .default('info')
    .describe('Lines below this level are not written.')
    .meta({ examples: ['debug'] }),
  Format: choice(['auto', 'json', 'pretty'])
    .default('auto')
    .describe('auto: pretty on a terminal, JSON elsewhere.')
    .meta({ examples: ['json'] }),
});
