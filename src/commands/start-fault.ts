import { messageOf } from '../runtime/errors.ts';

/** Why `serve` cannot start, and what to do where the reason does not say it. */
export function startFault(error: Error): string {
  const message = messageOf(error);
  const [, field] = /^(\w+\.Listen): /.exec(message) ?? [];
  if (field === undefined || !isInUse(error.cause)) return message;
  return `${message}; another process has it, which "ss -ltnp" names: stop that one, or change ${field}`;
}

function isInUse(cause: unknown): boolean {
  return cause instanceof Error && 'code' in cause && cause.code === 'EADDRINUSE';
}
