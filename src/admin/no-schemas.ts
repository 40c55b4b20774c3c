import type { FastifyServerOptions } from 'fastify';

const withoutSchema = (): never => {
  throw new TypeError(
    'a route of the admin server has a schema: none may, the compilers for them are left out',
  );
};

/**
 * No route has a schema. Where nothing is named here the framework loads and builds its compilers for them all the same,
 * which is a tenth of what a start takes.
 */
export const NO_SCHEMAS: NonNullable<FastifyServerOptions['schemaController']> = {
  compilersFactory: { buildValidator: () => withoutSchema, buildSerializer: () => withoutSchema },
};
