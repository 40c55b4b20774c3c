import { type Finding, Judge } from '../finding.ts';
import { clusterMend } from '../mends.ts';
import type { ClusterView } from '../view.ts';

/** Envoy's default. */
const PANIC_PERCENT = 50;

export function checkPanicThreshold({ name, panicPercent }: ClusterView): Finding {
  const judge = new Judge('healthy_panic_threshold', { cluster: name });
  if (panicPercent === null) return judge.unreadable();
  if (panicPercent === 0) return judge.ok('0 %');
  const percent = panicPercent ?? PANIC_PERCENT;
  return judge.error({
    is: panicPercent === undefined ? `not set, so ${percent} %` : `${percent} %`,
    shouldBe: '0 %',
    why: `Once less than ${percent} % are healthy Envoy sends requests to all, also the saturated ones, and there is no 503.`,
    mend: clusterMend([['common_lb_config', 'healthy_panic_threshold']]),
  });
}

export function checkMergeWindow({ name, mergeWindow }: ClusterView): Finding {
  const judge = new Judge('update_merge_window', { cluster: name });
  if (mergeWindow === null) return judge.unreadable();
  if (mergeWindow === 0) return judge.ok('0 s');
  return judge.warning({
    is: mergeWindow === undefined ? 'not set, so 1 s on older releases' : `${mergeWindow} s`,
    shouldBe: '0 s',
    why: 'A change of weights may wait that long until it is in force.',
    mend: clusterMend([['common_lb_config', 'update_merge_window']]),
  });
}

/** Above that more than half may be out at a time. */
const EJECTION_MAX = 50;
/** Failures in a row: with fewer, a server that is only busy for a moment is out. */
const CONSECUTIVE_MIN = 3;
const MEND = [['outlier_detection']];

export function checkOutlierDetection({ name, outliers }: ClusterView): readonly Finding[] {
  const judge = new Judge('outlier_detection', { cluster: name });
  if (outliers === undefined) {
    return [
      judge.warning({
        is: 'not set',
        shouldBe: 'set',
        why: 'A backend that fails every request at once seems idle, and draws more and more of them.',
        mend: clusterMend(MEND),
      }),
    ];
  }
  if (Object.values(outliers).includes(null)) return [judge.unreadable()];
  const most = outliers.maxEjectionPercent ?? 10;
  const faults: Finding[] = [];
  if (most > EJECTION_MAX) {
    faults.push(
      judge.warning({
        is: `max_ejection_percent ${most}`,
        shouldBe: `at most ${EJECTION_MAX}`,
        why: 'If all fail for a moment nobody is left, and every request is answered 503.',
        mend: clusterMend([['outlier_detection', 'max_ejection_percent']]),
      }),
    );
  }
  const trap = busyTrap(outliers);
  if (trap !== undefined) {
    faults.push(
      judge.warning({
        is: trap,
        shouldBe: `consecutive_5xx of at least ${CONSECUTIVE_MIN}, 5 for instance`,
        why: 'A server that answers 503 because it is busy is put out, its load goes to the others, and they follow.',
        mend: clusterMend([['outlier_detection', 'consecutive_5xx']]),
      }),
    );
  }
  if ((outliers.enforcingSuccessRate ?? 100) > 0) {
    faults.push(
      judge.warning({
        is: 'enforcing_success_rate is not 0',
        shouldBe: '0',
        why: 'It compares success rates by their deviation, which puts a good backend out when one request in a hundred fails.',
        mend: clusterMend([['outlier_detection', 'enforcing_success_rate']]),
      }),
    );
  }
  return faults.length > 0 ? faults : [judge.ok(`set, at most ${most} % out at a time`)];
}

function busyTrap(outliers: NonNullable<ClusterView['outliers']>): string | undefined {
  const failures = outliers.consecutive5xx ?? 5;
  if (failures < CONSECUTIVE_MIN && (outliers.enforcingConsecutive5xx ?? 100) > 0) {
    return `consecutive_5xx ${failures}`;
  }
  const gateway = outliers.consecutiveGatewayFailure ?? 5;
  return gateway < CONSECUTIVE_MIN && (outliers.enforcingConsecutiveGatewayFailure ?? 0) > 0
    ? `consecutive_gateway_failure ${gateway}`
    : undefined;
}
