import type { EnvoyPages } from '../doctor/read-view.ts';
import { at } from '../doctor/json.ts';
import { STATS_FILTER } from '../doctor/read-stats.ts';
import type { AdminAccess } from './admin-access.ts';
import { askAdmin } from './ask-admin.ts';

export type ReadPages =
  | { readonly kind: 'pages'; readonly pages: EnvoyPages }
  | { readonly kind: 'failed'; readonly reason: string };

/** Reads what a running Envoy says of itself. Without its configuration there is nothing to say; the rest may be missing. */
export async function readEnvoyPages(access: AdminAccess): Promise<ReadPages> {
  const answer = await askAdmin(access, '/config_dump');
  if (answer.kind === 'unreachable') {
    return {
      kind: 'failed',
      reason: `cannot be asked: ${answer.reason}. Envoy's admin address goes into --envoy-admin URL`,
    };
  }
  const { status, body: dump } = answer;
  if (status !== 200 || !Array.isArray(at(dump, 'configs'))) {
    const what = status === 200 ? 'something else than a configuration' : String(status);
    return { kind: 'failed', reason: `answered ${what} for /config_dump: is it an Envoy's admin address?` };
  }
  // one after the other: they are answered by the thread that also takes what the control plane sends
  const server = await page(access, '/server_info');
  const clusters = await page(access, '/clusters?format=json');
  const stats = await page(access, `/stats?format=json&filter=${encodeURIComponent(STATS_FILTER)}`);
  return { kind: 'pages', pages: { dump, server, clusters, stats } };
}

/** undefined: there is none. */
async function page(access: AdminAccess, path: string): Promise<unknown> {
  const answer = await askAdmin(access, path);
  return answer.kind === 'answer' && answer.status === 200 ? answer.body : undefined;
}
