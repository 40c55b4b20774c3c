import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Assignment } from '../../src/core/model/assignment.ts';
import { encodeAssignment } from '../../src/xds/resources/assignment.ts';
import type { ProtoJsonMessage } from '../../src/xds/resources/proto-json.ts';
import { TYPE_URLS } from '../../src/xds/resources/type-urls.ts';
import { fullType } from './full-protos.ts';

/** A file that Envoys watch in place of a control plane: the bytes of one assignment, without anything else of ours. */
export class EdsFile {
  readonly #folder: string;

  static async create(): Promise<EdsFile> {
    return new EdsFile(await mkdtemp(join(tmpdir(), 'plimsoll-eds-file-')));
  }

  private constructor(folder: string) {
    this.#folder = folder;
  }

  /** What a cluster's `eds_config` has to be. */
  get source(): ProtoJsonMessage {
    return { resource_api_version: 'V3', path_config_source: { path: join(this.#folder, 'eds.pb') } };
  }

  async publish(assignment: Assignment): Promise<void> {
    const resources = [{ type_url: TYPE_URLS.endpoint, value: encodeAssignment(assignment) }];
    const response = fullType('envoy.service.discovery.v3.DiscoveryResponse')
      .encode({ versionInfo: '1', resources })
      .finish();
    await writeFile(join(this.#folder, 'next.pb'), response);
    await rename(join(this.#folder, 'next.pb'), join(this.#folder, 'eds.pb'));
  }

  async remove(): Promise<void> {
    await rm(this.#folder, { recursive: true, force: true });
  }
}
