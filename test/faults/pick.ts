import type { BackendHandle, HostHandle, Lab, Stage } from './model.ts';

/** The backend that is alone in its process: that can be killed and frozen. */
export function lone(stage: Stage): { readonly host: HostHandle; readonly backend: BackendHandle } {
  const host = stage.hosts.find(({ backends }) => backends.length === 1);
  const backend = host?.backends[0];
  if (host === undefined || backend === undefined) throw new Error('no backend is alone in its process');
  return { host, backend };
}

/** The last so many backends, by share of the fleet (at least one) or all. */
export function share(stage: Stage, of: number): readonly BackendHandle[] {
  const count = Math.max(1, Math.round(stage.backends.length * of));
  return stage.backends.slice(-count);
}

/** For rows with `needsLab`. */
export function labOf({ lab }: Stage): Lab {
  if (lab === undefined) throw new Error('this fault needs a stage with a lab');
  return lab;
}
