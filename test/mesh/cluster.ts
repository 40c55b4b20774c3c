import type { KubeClient } from '../support/kube-client.ts';
import { waitFor } from '../support/wait-for.ts';
import type { Manifest } from './manifests.ts';

const DEFINED_MS = 60_000;
const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

/** What kubectl does with manifests, on a real API server. */
export class Cluster {
  readonly #client: KubeClient;

  constructor(client: KubeClient) {
    this.#client = client;
  }

  /** Makes the API server serve them. */
  async define(definitions: readonly Manifest[]): Promise<void> {
    await Promise.all(definitions.map((definition) => this.#client.call('POST', DEFINITIONS, definition)));
    // one after the other: the large ones keep it busy
    for (const { metadata } of definitions) {
      await waitFor(`the definition ${metadata.name}`, () => this.#isEstablished(metadata.name), DEFINED_MS);
    }
  }

  async #isEstablished(definition: string): Promise<boolean> {
    const { body } = await this.#client.ask('GET', `${DEFINITIONS}/${definition}`);
    const { conditions = [] } = (body['status'] ?? {}) as {
      readonly conditions?: readonly { readonly type: string; readonly status: string }[];
    };
    return conditions.some(({ type, status }) => type === 'Established' && status === 'True');
  }

  /** Creates them, or puts them in place of those that are there. */
  async apply(...manifests: readonly Manifest[]): Promise<void> {
    for (const manifest of manifests) {
      const path = await this.#pathOf(manifest);
      const { status, body } = await this.#client.ask('POST', path, manifest);
      if (status === 409) await this.#replace(`${path}/${manifest.metadata.name}`, manifest);
      else if (status >= 300) throw new Error(`${path}: ${status} ${JSON.stringify(body)}`);
    }
  }

  async #replace(path: string, manifest: Manifest): Promise<void> {
    const { body } = await this.#client.ask('GET', path);
    const { resourceVersion } = body['metadata'] as { readonly resourceVersion: string };
    await this.#client.call('PUT', path, {
      ...manifest,
      metadata: { ...manifest.metadata, resourceVersion },
    });
  }

  /** @returns why the API server would not take it, undefined where it would. */
  async refusal(manifest: Manifest): Promise<string | undefined> {
    const path = await this.#pathOf(manifest);
    const { status, body } = await this.#client.ask(
      'POST',
      `${path}?dryRun=All&fieldValidation=Strict`,
      manifest,
    );
    return status < 300 ? undefined : `${status} ${JSON.stringify(body)}`;
  }

  async remove(...manifests: readonly Manifest[]): Promise<void> {
    for (const manifest of manifests) {
      await this.#client.call('DELETE', `${await this.#pathOf(manifest)}/${manifest.metadata.name}`);
    }
  }

  async #pathOf({ apiVersion, kind, metadata: { namespace } }: Manifest): Promise<string> {
    const group = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
    const { body } = await this.#client.ask('GET', group);
    const resources = (body['resources'] ?? []) as readonly {
      readonly kind: string;
      readonly name: string;
    }[];
    const plural = resources.find((one) => one.kind === kind && !one.name.includes('/'))?.name;
    if (plural === undefined) throw new Error(`the API server knows no ${apiVersion} ${kind}`);
    return `${group}${namespace === undefined ? '' : `/namespaces/${namespace}`}/${plural}`;
  }
}
