import { writeFile } from 'node:fs/promises';
import { plural } from '../admin/words/figures.ts';
import { formatMistakes, loadConfiguration } from '../config/load.ts';
import { nearest } from '../config/nearest.ts';
import type { ServerGroup } from '../core/model/server-group.ts';
import { Replay } from '../replay/replay.ts';
import { Survey } from '../replay/survey.ts';
import { EXIT, PlimsollError } from '../runtime/errors.ts';
import { fileFault } from '../runtime/file-fault.ts';
import { printable } from '../runtime/text.ts';
import { listed } from './listed.ts';
import { type ReadProblems, readRecording } from './recording-reader.ts';
import { isKnownGroup } from './recording-shape.ts';
import { replayPicture } from './replay-picture.ts';
import { OPEN_LOOP, replayText } from './replay-text.ts';

export interface ReplayOptions {
  readonly file: string;
  /** The other configuration. */
  readonly config: string;
  /** undefined: every group that both have. */
  readonly group: string | undefined;
  readonly json: boolean;
  /** Where to draw; undefined: nowhere. */
  readonly picture: string | undefined;
  /** Of the terminal; undefined: there is none. */
  readonly columns: number | undefined;
}

export interface ReplayIo {
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
}

/**
 * Shows what another configuration would have made of a recording, beside what was published.
 * @returns the exit code: `usage` when configuration, recording or group cannot be used, `failed` when a file cannot.
 */
export async function replay(options: ReplayOptions, io: ReplayIo): Promise<number> {
  const loaded = await loadConfiguration(options.config);
  if (loaded.kind === 'invalid') {
    io.err(`${formatMistakes(loaded.mistakes).join('\n')}\n`);
    return EXIT.usage;
  }
  try {
    await run(options, loaded.configuration.serverGroups, io);
    return EXIT.ok;
  } catch (error) {
    if (!(error instanceof PlimsollError)) throw error;
    io.err(`plimsoll replay: ${error.message}\n`);
    return error.code === 'usage' ? EXIT.usage : EXIT.failed;
  }
}

async function run(options: ReplayOptions, configured: readonly ServerGroup[], io: ReplayIo): Promise<void> {
  const problems: ReadProblems = { badLines: 0, firstBad: undefined, brokenOff: undefined };
  const survey = new Survey(isKnownGroup);
  for await (const line of readRecording(options.file, problems)) survey.take(line);
  const { span } = survey;
  if (span === undefined) throw new PlimsollError('usage', `${printable(options.file)} has no evaluation`);
  const replays = chosen(options, configured, survey).map(({ settings, surveyed }) => {
    return new Replay(settings, surveyed, surveyed.span ?? span);
  });
  for await (const line of readRecording(options.file, { ...problems })) {
    for (const one of replays) one.take(line);
  }
  const warnings = [...warningsOf(options, problems, survey), ...leftOut(options, configured, survey)];
  const reports = replays.map(({ report }) => report);
  if (options.json)
    io.out(`${JSON.stringify({ openLoop: OPEN_LOOP, warnings, groups: reports }, null, 2)}\n`);
  else io.out(replayText(reports, warnings, options.columns));
  if (options.picture !== undefined) await draw(options.picture, replays);
}

async function draw(path: string, replays: readonly Replay[]): Promise<void> {
  try {
    await writeFile(path, replayPicture(replays));
  } catch (error) {
    throw new PlimsollError(
      'io',
      `${printable(path)} cannot be written: ${fileFault(error, 'its folder is not there')}`,
    );
  }
}

/** The groups that both have. */
function chosen({ group, file }: ReplayOptions, configured: readonly ServerGroup[], survey: Survey) {
  const wanted = group === undefined ? configured : configured.filter(({ name }) => name === group);
  if (group !== undefined && wanted.length === 0) {
    const names = configured.map(({ name }) => name);
    throw new PlimsollError(
      'usage',
      `--group ${printable(group)}: not in the configuration${hint(group, names)}`,
    );
  }
  const found = wanted.flatMap((settings) => {
    const surveyed = survey.groups.get(settings.name);
    if (surveyed === undefined || surveyed.evaluations === 0 || settings.loadAware === undefined) return [];
    const isThere = ({ id }: { readonly id: string }): boolean => surveyed.backends.has(id);
    const shares = settings.discovery !== undefined || settings.servers.some(isThere);
    return shares ? [{ settings, surveyed }] : [];
  });
  if (found.length > 0) return found;
  throw new PlimsollError(
    'usage',
    `nothing to replay: no server group that follows the load is in both with a backend in common; ${printable(file)} has ${listed([...survey.groups.keys()])}`,
  );
}

function hint(name: string, known: readonly string[]): string {
  const near = nearest(name, known);
  return near === undefined ? '' : `, did you mean ${near}?`;
}

function warningsOf({ file }: ReplayOptions, problems: ReadProblems, survey: Survey): readonly string[] {
  const { badLines, firstBad, brokenOff } = problems;
  const gapSeconds = survey.gaps.reduce((sum, { seconds }) => sum + seconds, 0);
  return [
    brokenOff === undefined
      ? ''
      : `${printable(file)} cannot be read to its end: ${brokenOff}; the part before is used`,
    badLines === 0
      ? ''
      : `${plural(badLines, 'line')} in it cannot be read, left out: ${printable(firstBad ?? '')}`,
    survey.end === undefined && brokenOff === undefined ? 'the recording was broken off, not ended' : '',
    survey.gaps.length === 0
      ? ''
      : `the recording has ${plural(survey.gaps.length, 'gap')}, ${gapSeconds.toFixed(0)} s together`,
    survey.changes === 0
      ? ''
      : `the control plane was started anew, or another one answered, ${plural(survey.changes, 'time')}: what it learned begins anew there`,
  ].filter((text) => text !== '');
}

function leftOut(
  { group }: ReplayOptions,
  configured: readonly ServerGroup[],
  survey: Survey,
): readonly string[] {
  if (group !== undefined) return [];
  const names = new Set(configured.flatMap(({ name, loadAware }) => (loadAware === undefined ? [] : name)));
  const unknown = [...survey.groups.keys()].filter((name) => !names.has(name));
  const unrecorded = [...names].filter((name) => !survey.groups.has(name));
  return [
    unknown.length === 0 ? '' : `recorded, but not in the configuration: ${listed(unknown)}`,
    unrecorded.length === 0 ? '' : `in the configuration, but not recorded: ${listed(unrecorded)}`,
  ].filter((text) => text !== '');
}
