#!/usr/bin/env node
// oxlint-disable-next-line import/no-unassigned-import -- it has to act before the other modules are loaded
import './commands/early-hangup.ts';
// oxlint-disable-next-line import/no-unassigned-import -- so has this
import './commands/early-stop.ts';
import { Argument, Command, CommanderError, InvalidArgumentError, Option } from 'commander';
import type { Shell } from './commands/completion.ts';
import { parseDuration } from './commands/duration.ts';
import { examplesOf } from './commands/examples.ts';
import type { ProbeOptions } from './commands/probe.ts';
import { terminalKind } from './commands/terminal-kind.ts';
import { checkHelp, checkNeeded, must } from './commands/usage-errors.ts';
import { EXIT, PlimsollError } from './runtime/errors.ts';
import { packageVersion } from './runtime/version.ts';

const io = {
  out: (text: string): void => {
    process.stdout.write(text);
  },
  err: (text: string): void => {
    process.stderr.write(text);
  },
};

/** Whoever reads our output may stop doing so (`| head`): that is no fault of ours, and there is no one left to tell. */
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
  });
}

const program = new Command('plimsoll')
  .description('Load-aware xDS control plane for LLM inference fleets behind Envoy.')
  .version(packageVersion(), '-V, --version')
  .exitOverride()
  .showHelpAfterError('(--help says more)')
  .hook('preAction', (_, command) => checkNeeded(command));

const adminUrl = (): Option =>
  new Option('--admin <url>', 'where Plimsoll has its Admin.Listen').default('http://127.0.0.1:9090');
const adminCa = (): Option =>
  new Option(
    '--ca <file>',
    "with Admin.Tls: the authority of Plimsoll's certificate, if the system trusts it not",
  );
const adminToken = (): Option =>
  new Option('--bearer-token-file <file>', 'with Admin.BearerTokenFile: the token');

interface AskFlags {
  readonly admin: string;
  readonly ca?: string;
  readonly bearerTokenFile?: string;
  readonly json: boolean;
}

function hasColor(): boolean {
  return terminalKind(process.stdout, process.env) === 'colored';
}

/** undefined: there is no terminal. */
function columns(): number | undefined {
  return process.stdout.isTTY ? process.stdout.columns : undefined;
}

const configFile = (): Option =>
  must(new Option('--config <file>', 'the configuration, YAML or JSON (required)'));

program
  .command('serve')
  .description(
    'Run the control plane. SIGHUP reads the configuration again; SIGUSR2 makes the log tell more, and again as before; SIGTERM stops after the drain period.',
  )
  .addOption(configFile())
  .action(async (options: { config: string }) => {
    const { serve } = await import('./commands/serve.ts');
    process.exitCode = await serve(options, io);
  });

program
  .command('validate')
  .description(
    'Check a configuration and the files that it names, and print it with every default filled in.',
  )
  .addOption(configFile())
  .option('--no-files', 'do not look at certificates, keys, tokens and lists: they are on another machine')
  .option('--json', 'print JSON', false)
  .action(async (options: { config: string; files: boolean; json: boolean }) => {
    const { validate } = await import('./commands/validate.ts');
    process.exitCode = await validate(options, io);
  });

interface BootstrapFlags {
  readonly config: string;
  readonly mode: 'ads' | 'eds';
  readonly group?: string;
  readonly xds: readonly string[];
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
  readonly nodeId?: string;
  readonly cluster?: string;
  readonly adminPort?: number;
  readonly json: boolean;
}

program
  .command('bootstrap')
  .description('Print an Envoy bootstrap that points a sidecar here.')
  .addOption(configFile())
  .addOption(
    new Option('--mode <mode>', 'ads: all of the sidecar from here; eds: endpoints only, the rest static')
      .choices(['ads', 'eds'])
      .default('ads'),
  )
  .option('--group <name>', 'the server group, with --mode eds and several groups (default: the only one)')
  .addOption(
    new Option(
      '--xds <host:port>',
      'where sidecars reach Plimsoll, once for each replica; needed when Xds.Listen is no concrete address',
    )
      .default([], 'Xds.Listen')
      .argParser(append),
  )
  .option(
    '--ca <file>',
    "with Xds.Tls: the authority of Plimsoll's certificate, a file on the sidecar's machine",
  )
  .option('--cert <file>', "the sidecar's own certificate there; needed with Xds.Tls.ClientCaFile")
  .option('--key <file>', 'the key of --cert there')
  .option('--node-id <id>', "the sidecar's node id (default: sidecar)")
  .option('--cluster <name>', "the sidecar's node cluster (default: inference)")
  .option('--zone <name>', "the sidecar's zone, for Locality: Prefer (default: it tells none)")
  .option(
    '--admin-port <port>',
    "the port of Envoy's admin on 127.0.0.1; 0 lets the kernel choose (default: 9901)",
    parsePort,
  )
  .option('--json', 'print JSON', false)
  .action(async (options: BootstrapFlags) => {
    const { bootstrap } = await import('./commands/bootstrap.ts');
    process.exitCode = await bootstrap(options, io);
  });

program
  .command('explain')
  .description('Say why each weight of a running control plane is what it is, with the arithmetic.')
  .argument('<group>', 'the server group')
  .argument('[backend]', 'ADDRESS:PORT, or ADDRESS; default: every backend of the group')
  .addOption(adminUrl())
  .addOption(adminCa())
  .addOption(adminToken())
  .option('--json', 'print JSON', false)
  .action(async (group: string, backend: string | undefined, options: AskFlags) => {
    const { explain } = await import('./commands/explain.ts');
    process.exitCode = await explain(
      { ...options, group, backend, color: hasColor(), columns: columns() },
      io,
    );
  });

program
  .command('top')
  .description(
    'Show live what a running control plane does: backends, sidecars, warnings. Without a terminal, once.',
  )
  .addOption(adminUrl())
  .addOption(adminCa())
  .addOption(adminToken())
  .option('--once', 'print it once and end', false)
  .option('--json', 'print it once as JSON', false)
  .action(async (options: AskFlags & { once: boolean }) => {
    const { top } = await import('./commands/top.ts');
    const { stdin, stdout } = process;
    const end = new AbortController();
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => end.abort());
    const hasScreen = terminalKind(stdout, process.env) !== 'none';
    const terminal = hasScreen ? { output: stdout, input: stdin.isTTY ? stdin : undefined } : undefined;
    process.exitCode = await top({ ...options, color: hasColor() }, { ...io, terminal, signal: end.signal });
  });

interface DoctorFlags {
  readonly envoyAdmin: string;
  readonly admin: readonly string[];
  readonly ca?: string;
  readonly bearerTokenFile?: string;
  readonly json: boolean;
}

program
  .command('doctor')
  .description(
    'Read the configuration of a running Envoy, and say what is right and wrong, and how to mend it.',
  )
  .addOption(
    new Option('--envoy-admin <url>', 'where Envoy has its admin address').default('http://127.0.0.1:9901'),
  )
  .addOption(
    new Option(
      '--admin <url>',
      'where Plimsoll has its Admin.Listen: compares versions and EnvoyLbPolicy too; once for each replica',
    )
      .default([], 'nobody is asked')
      .argParser(append),
  )
  .addOption(adminCa())
  .addOption(adminToken())
  .option('--json', 'print JSON', false)
  .action(async (options: DoctorFlags) => {
    const { doctor } = await import('./commands/doctor.ts');
    process.exitCode = await doctor({ ...options, color: hasColor() }, io);
  });

interface RecordFlags extends Omit<AskFlags, 'json'> {
  readonly for: number;
}

program
  .command('record')
  .description(
    'Record what a running control plane collects and publishes, for replay: JSON lines, compressed by gzip.',
  )
  .argument('<file>', 'the file to make')
  .addOption(
    new Option('--for <duration>', 'for how long: 90s, 10m, 1.5h; at most 168h')
      .argParser(parseSpan)
      .default(600, '10m'),
  )
  .addOption(adminUrl())
  .addOption(adminCa())
  .addOption(adminToken())
  .action(async (file: string, { for: seconds, ...options }: RecordFlags) => {
    const { record } = await import('./commands/record.ts');
    const { systemClock } = await import('./runtime/clock.ts');
    const end = new AbortController();
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => end.abort());
    const { stderr } = process;
    const progress = stderr.isTTY ? (text: string) => stderr.write(`\r\u001b[K${text}`) : undefined;
    process.exitCode = await record(
      { ...options, file, seconds },
      { ...io, clock: systemClock, progress, signal: end.signal },
    );
  });

interface ReplayFlags {
  readonly config: string;
  readonly group?: string;
  readonly json: boolean;
  readonly picture?: string;
}

program
  .command('replay')
  .description(
    'Show what another configuration would have made of a recording: weights, saturation, pushes. It cannot foretell latency.',
  )
  .argument('<file>', 'a file of plimsoll record')
  .addOption(configFile())
  .option('--group <name>', 'only this server group (default: every one that both have)')
  .option('--picture <file>', 'draw the courses into this file, SVG')
  .option('--json', 'print JSON', false)
  .action(async (file: string, { group, picture, ...options }: ReplayFlags) => {
    const { replay } = await import('./commands/replay.ts');
    process.exitCode = await replay({ ...options, file, group, picture, columns: columns() }, io);
  });

program
  .command('probe')
  .description(
    'Read one metrics page as the collector would, and say what is on it, what it costs and what to configure.',
  )
  .argument('<url>', 'like http://10.0.3.11:8000; without a path the usual ones of all engines are tried')
  .option('--engine <name>', 'the engine; Auto finds it out', 'Auto')
  .option('--interval <seconds>', 'between collections: 1..50, or 0.1..0.999', parseSeconds, 1)
  .option('--timeout <seconds>', 'the longest that a collection may take: 1..300', parseInteger, 1)
  .option('--header <header>', "'NAME: VALUE' or 'NAME: @FILE'; may be repeated", append, [])
  .option('--bearer-token-file <file>', 'holds a token to be sent')
  .option('--ca <file>', "https: the authority of the server's certificate")
  .option('--cert <file>', 'https: our certificate')
  .option('--key <file>', 'https: its key')
  .option('--insecure', 'https: take any certificate', false)
  .option('--json', 'print JSON', false)
  .action(async (url: string, options: Omit<ProbeOptions, 'url'>) => {
    const { probe } = await import('./commands/probe.ts');
    process.exitCode = await probe({ ...options, url }, io);
  });

interface DemoFlags {
  readonly seconds: number;
  readonly backends: number;
  readonly seed: number;
  readonly json: boolean;
  readonly keep: boolean;
}

program
  .command('demo')
  .description('Play five acts on simulated servers, a real Envoy and a control plane, in this terminal.')
  .option('--seconds <seconds>', 'length of all acts together, 60..3600', parseInteger, 120)
  .option('--backends <count>', 'simulated servers, 2..16; the last one at half speed', parseInteger, 4)
  .option('--seed <seed>', 'of arrivals and lengths', parseInteger, 1)
  .option('--json', 'print the result as JSON; the screen goes to standard error', false)
  .option('--keep', 'stay up after the acts, until Ctrl-C', false)
  .action(async (options: DemoFlags) => {
    const { demo } = await import('./commands/demo.ts');
    process.exitCode = await demo(options, io);
  });

program
  .command('completion')
  .description('Print a script that makes a shell complete commands, options and files.')
  .addArgument(new Argument('<shell>').choices(['bash', 'zsh']))
  .action(async (shell: Shell) => {
    const { completion } = await import('./commands/completion.ts');
    completion({ program, shell }, io);
  });

for (const command of program.commands) command.addHelpText('after', examplesOf(command.name()));
for (const command of [program, ...program.commands]) {
  const name = command === program ? 'plimsoll' : `plimsoll ${command.name()}`;
  command.configureOutput({
    outputError: (text, write) => {
      write(text.replace(/^error:/, `${name}:`));
    },
  });
}

function parseInteger(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError('An integer is needed.');
  return Number(text);
}

function parseSeconds(text: string): number {
  if (!/^\d{1,9}(\.\d{1,9})?$/.test(text)) throw new InvalidArgumentError('A number is needed.');
  return Number(text);
}

function append(text: string, before: readonly string[]): readonly string[] {
  return [...before, text];
}

function parseSpan(text: string): number {
  const seconds = parseDuration(text);
  if (seconds === undefined) throw new InvalidArgumentError('Needed is 1s..168h, such as 90s, 10m or 1.5h.');
  return seconds;
}

function parsePort(text: string): number {
  const port = Number(text);
  if (!/^\d{1,5}$/.test(text) || port > 65535)
    throw new InvalidArgumentError('A port is an integer of 0..65535.');
  return port;
}

try {
  checkHelp(program, process.argv.slice(2));
  await program.parseAsync();
} catch (error) {
  if (error instanceof CommanderError) {
    process.exitCode = error.exitCode === 0 ? EXIT.ok : EXIT.usage;
  } else if (error instanceof PlimsollError) {
    io.err(`plimsoll: ${error.message}\n`);
    process.exitCode = error.code === 'usage' ? EXIT.usage : EXIT.failed;
  } else {
    throw error;
  }
}
