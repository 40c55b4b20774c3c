import type { ChildProcess } from 'node:child_process';

/**
 * Keeps child processes from outliving this one: whatever is registered is killed when the process exits, by an
 * exception or by a signal too. (A SIGKILL of this process cannot be helped.)
 */

const children = new Set<ChildProcess>();
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Watches over a child until it has exited. */
export function keepFromOutliving(child: ChildProcess): void {
  if (children.size === 0) install();
  children.add(child);
  child.once('exit', () => {
    children.delete(child);
    if (children.size === 0) uninstall();
  });
}

/**
 * Ends a child: SIGTERM, and SIGKILL when it is still there after `graceMs`. Resolves when it has exited.
 */
export async function endChild(child: ChildProcess, graceMs: number): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
  const exited = new Promise<void>((resolve) => {
    child.once('exit', () => {
      resolve();
    });
  });
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), graceMs);
  await exited;
  clearTimeout(timer);
}

/** Of a process that did not get there in its time: nothing else is known of it. */
export function tooSlow(what: string, seconds: number): string {
  return `not ${what} within ${seconds} s (is this machine busy?)`;
}

function killAll(): void {
  for (const child of children) child.kill('SIGKILL');
}

/** Where nobody else handles the signal, this process ends by it as it would have without us. */
function onSignal(signal: NodeJS.Signals): void {
  if (process.listenerCount(signal) > 1) return;
  killAll();
  uninstall();
  process.kill(process.pid, signal);
}

function install(): void {
  process.on('exit', killAll);
  for (const signal of SIGNALS) process.on(signal, onSignal);
}

function uninstall(): void {
  process.off('exit', killAll);
  for (const signal of SIGNALS) process.off(signal, onSignal);
}
