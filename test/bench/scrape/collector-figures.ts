/** What the collector's process tells of itself. */
export interface CollectorFigures {
  readonly samples: number;
  readonly failures: number;
  /** From the start of a run to its end. */
  readonly gatherP50Ms: number;
  readonly gatherP99Ms: number;
  /** How much later than it was due the event loop came to a timer. */
  readonly loopDelayP50Ms: number;
  readonly loopDelayP99Ms: number;
  readonly loopDelayMaxMs: number;
}
