import type { SampleLine } from '../admin/sample-shape.ts';
import type { UnixMs } from '../admin/state-shape.ts';

/** A line of a recording: what `GET /samples` told, of one connection after the other, and what happened to them. */
export type RecordedLine = SampleLine | RecordingGap | RecordingEnd;

/** Nothing was told for so long, before the header that follows. */
export interface RecordingGap {
  readonly kind: 'gap';
  readonly at: UnixMs;
  readonly seconds: number;
  readonly reason: string;
}

/** The last line of a recording that was ended and not broken off. */
export interface RecordingEnd {
  readonly kind: 'end';
  readonly at: UnixMs;
  readonly because: 'time' | 'interrupted';
}
