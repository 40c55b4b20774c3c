import { readdirSync, readFileSync } from 'node:fs';
import { parseAllDocuments } from 'yaml';

export const KUBERNETES = new URL('../../deploy/kubernetes/', import.meta.url);

export interface Container {
  readonly name: string;
  readonly image: string;
  readonly command?: readonly string[];
  readonly args?: readonly string[];
  readonly ports?: readonly { readonly name: string; readonly containerPort: number }[];
  readonly securityContext?: unknown;
  readonly resources?: { readonly requests?: object; readonly limits?: { readonly memory?: string } };
  readonly volumeMounts?: readonly { readonly name: string; readonly mountPath: string }[];
  readonly [probe: `${string}Probe`]: { readonly httpGet?: { path: string; port: string } } | undefined;
}

export interface Pod {
  readonly serviceAccountName?: string;
  readonly terminationGracePeriodSeconds?: number;
  readonly securityContext?: Readonly<Record<string, unknown>>;
  readonly initContainers?: readonly Container[];
  readonly containers: readonly Container[];
  readonly volumes?: readonly {
    readonly name: string;
    readonly configMap?: { readonly name: string };
    readonly secret?: { readonly secretName: string };
  }[];
}

/** An object of Kubernetes or kustomize; which fields it has depends on its kind. */
export interface KubernetesManifest {
  /** Below deploy/kubernetes. */
  readonly file: string;
  readonly kind: string;
  readonly metadata?: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: Readonly<Record<string, string>>;
  };
  readonly rules?: readonly { readonly verbs: readonly string[]; readonly resources: readonly string[] }[];
  readonly roleRef?: { readonly name: string };
  readonly subjects?: readonly { readonly name: string; readonly namespace: string }[];
  readonly spec?: {
    readonly replicas?: number;
    readonly selector?: Readonly<Record<string, unknown>>;
    readonly template?: { readonly spec: Pod };
    readonly ports?: readonly { readonly name: string; readonly port: number; readonly targetPort: string }[];
    readonly clusterIP?: string;
    readonly groups?: unknown;
    readonly podSelector?: unknown;
    readonly egress?: unknown;
  };
  readonly resources?: readonly string[];
  readonly components?: readonly string[];
  readonly patches?: readonly { readonly path: string }[];
  readonly configMapGenerator?: readonly { readonly name: string; readonly files: readonly string[] }[];
}

/**
 * Every YAML document of the folder that has a kind.
 * @throws Error at the first file that is no YAML.
 */
export function kubernetesManifests(): readonly KubernetesManifest[] {
  return kubernetesFiles().flatMap((file) =>
    parseAllDocuments(readFileSync(new URL(file, KUBERNETES), 'utf8'))
      .map((document) => {
        const [problem] = [...document.errors, ...document.warnings];
        if (problem !== undefined) throw new Error(`${file}: ${problem.message}`);
        return { ...(document.toJS() as KubernetesManifest), file };
      })
      .filter(({ kind }) => kind !== undefined),
  );
}

/** The YAML files of the folder, below it. */
export function kubernetesFiles(): readonly string[] {
  return readdirSync(KUBERNETES, { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.yaml'),
  );
}
