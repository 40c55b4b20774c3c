import type { Engine, FinishedRequest } from './engine.ts';

/** What a metrics page tells of an engine. */
export type EngineView = Pick<Engine, 'gauges' | 'counters' | 'settings'>;

/** A metrics page: it counts what finished requests tell, and is rendered for the engine as it is. */
export interface Page {
  record(result: FinishedRequest): void;
  render(engine: EngineView): string;
}
