import { messageOf } from '../runtime/errors.ts';

/** Why `serve` cannot start, and what to do where the reason does not say it. */
export function startFault(error: Error): string {
  const message = messageOf(error);
  const [, field] = /^(\w+\.Listen): /.exec(message) ?? [];
  const remedy = field === undefined ? undefined : remedyFor(error.cause, field);
  return remedy === undefined ? message : `${message}; ${remedy}`;
}

function remedyFor(cause: unknown, field: string): string | undefined {
  switch (cause instanceof Error && 'code' in cause ? cause.code : undefined) {
    case 'EADDRINUSE':
      return `another process has it, which "ss -ltnp" names: stop that one, or change ${field}`;
    case 'EADDRNOTAVAIL':
      return `${field} must be an address of this machine, and none of its interfaces has that one ("ip address" lists them): 0.0.0.0 and [::] are all of them`;
    default:
      return undefined;
  }
}
