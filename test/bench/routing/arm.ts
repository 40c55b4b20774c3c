import type { ArmName } from './model.ts';

/** What is different between the arms. */
export type Arm =
  | {
      /** Envoy alone: it gets every endpoint with the same weight from a file. */
      readonly kind: 'envoy';
      readonly balancing: 'round-robin' | 'least-request' | 'orca';
    }
  | {
      readonly kind: 'plimsoll';
      readonly envoyLbPolicy: 'LeastRequest' | 'RoundRobin';
      readonly policy: 'Adaptive' | 'Linear';
      readonly admission: 'Proportional' | 'None';
    };

export type EnvoyArm = Extract<Arm, { readonly kind: 'envoy' }>;
export type PlimsollArm = Extract<Arm, { readonly kind: 'plimsoll' }>;

const DEFAULT: PlimsollArm = {
  kind: 'plimsoll',
  envoyLbPolicy: 'LeastRequest',
  policy: 'Adaptive',
  admission: 'Proportional',
};

const ARM: Readonly<Record<ArmName, Arm>> = {
  'round-robin': { kind: 'envoy', balancing: 'round-robin' },
  'least-request': { kind: 'envoy', balancing: 'least-request' },
  orca: { kind: 'envoy', balancing: 'orca' },
  'adaptive-round-robin': { ...DEFAULT, envoyLbPolicy: 'RoundRobin' },
  adaptive: DEFAULT,
  'adaptive-marks': { ...DEFAULT, admission: 'None' },
  linear: { ...DEFAULT, policy: 'Linear' },
};

export function armOf(name: ArmName): Arm {
  return ARM[name];
}
