import { ENGINES } from '../collect/engines/catalogue.ts';
import { type Engine, lacksScorer } from '../collect/engines/engine.ts';
import type { ScorerName } from '../core/model/balance-settings.ts';
import { URL_PATH_RULE } from './fields.ts';
import { find, items, type Report, type TreeNode } from './tree.ts';

const SCORERS: readonly ScorerName[] = ['TotalQueuedRequests', 'KVCacheUtilization', 'RunningRequests'];

/** Rules of a component that depend on its engine. */
export function checkEngine(component: TreeNode, report: Report): void {
  const { node: http, found } = find(component, ['Config', 'MetricCollector', 'HttpMetricCollect']);
  if (!found || typeof http.value !== 'object' || http.value === null) return;
  const field = http.children.get('Engine');
  if ((field === undefined || field.value === 'Auto') && !http.children.has('Path')) {
    const path = { ...http, path: [...http.path, 'Path'] };
    report(path, `is missing; it must be ${URL_PATH_RULE}, unless Engine is another than Auto`);
  }
  const engine = ENGINES.find(({ name }) => name === field?.value);
  if (field === undefined || engine === undefined) return;
  for (const scorer of weightedScorers(component)) {
    const isOverridden = find(http, ['Metrics', scorer]).found;
    if (lacksScorer(engine, scorer) && !isOverridden) report(field, lacks(engine, scorer));
  }
}

function weightedScorers(component: TreeNode): readonly ScorerName[] {
  const scorers = items(find(component, ['Config', 'Scheduler', 'Scorers']).node);
  return SCORERS.filter((name) =>
    scorers.some(({ children }) => {
      const weight = children.get('Weight')?.value;
      return children.get('Name')?.value === name && typeof weight === 'number' && weight > 0;
    }),
  );
}

function lacks({ name, gauges }: Engine, scorer: ScorerName): string {
  const former = gauges[scorer].map((source) => source.name).join(', ');
  const once = former === '' ? '' : ` (older versions have ${former})`;
  return `is ${name}, which has no metric for the scorer ${scorer}${once}; name one in Metrics.${scorer}, or give the scorer weight 0`;
}
