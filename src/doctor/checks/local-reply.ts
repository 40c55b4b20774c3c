import { type Finding, Judge } from '../finding.ts';
import { managerMend } from '../mends.ts';
import type { ManagerView, MapperView } from '../view.ts';

/** UH: no backend is healthy; NC: no such cluster; DO: one of the share that is refused beforehand. */
const FLAGS = ['UH', 'NC', 'DO'] as const;

type Mapped =
  | { readonly kind: 'by'; readonly mapper: MapperView }
  /** By Envoy's own words. */
  | { readonly kind: 'none' }
  | { readonly kind: 'unknown' };

/** What clients get when no backend takes requests: 503 with a body and `retry-after`. */
export function checkLocalReply(cluster: string, { listener, mappers }: ManagerView): Finding {
  const judge = new Judge('local_reply_config', { cluster, listener });
  const mapped = FLAGS.map((flag) => ({ flag, is: mappedBy(mappers, flag) }));
  const unknown = mapped.filter(({ is }) => is.kind === 'unknown').map(({ flag }) => flag);
  if (unknown.length > 0) {
    return judge.unknown(
      `whether its mappers take the replies ${unknown.join(', ')} cannot be told from here`,
    );
  }
  const faults = mapped.flatMap(({ flag, is }) => {
    const fault = faultOf(is);
    return fault === undefined ? [] : [`${flag} ${fault}`];
  });
  if (faults.length === 0) return judge.ok('503 with a body and retry-after where no backend takes requests');
  return judge.warning({
    is: faults.join(', '),
    shouldBe: '503 with a body and retry-after for UH, NC and DO',
    why: "Clients get Envoy's own words and do not know when to come again, or something else than the 503 that they are to expect.",
    mend: managerMend(['local_reply_config']),
  });
}

/** The first mapper that takes it counts. */
function mappedBy(mappers: readonly MapperView[], flag: string): Mapped {
  for (const mapper of mappers) {
    const takes = mapper.takes(flag);
    if (takes === null) return { kind: 'unknown' };
    if (takes) return { kind: 'by', mapper };
  }
  return { kind: 'none' };
}

function faultOf(mapped: Mapped): string | undefined {
  if (mapped.kind !== 'by') return 'is not mapped';
  const { status, hasBody, hasRetryAfter } = mapped.mapper;
  if (status != null && status !== 503) return `is answered ${status}`;
  if (!hasRetryAfter) return 'is without retry-after';
  return hasBody ? undefined : "has Envoy's body";
}
