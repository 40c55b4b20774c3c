import { fileURLToPath } from 'node:url';

/** The program as `npm run build` makes it, which `npm test` does first: it starts in less than half the time of its sources. */
export const BUILT_MAIN = fileURLToPath(new URL('../../dist/main.js', import.meta.url));
