import type { Assignment, Listener, ServerGroup } from '../core/model.ts';
import { encodeAssignment } from './resources/assignment.ts';
import { encodeCluster } from './resources/cluster.ts';
import { encodeListener } from './resources/listener.ts';
import { encodeRoute } from './resources/route.ts';
import { TYPE_URLS } from './resources/type-urls.ts';

interface Encoded {
  readonly typeUrl: string;
  readonly name: string;
  readonly bytes: Uint8Array;
}

/** Turns what is published into the resources that sidecars ask for. */
export const encoder = {
  endpointType: TYPE_URLS.endpoint,

  endpoints(assignment: Assignment): Encoded {
    return {
      typeUrl: TYPE_URLS.endpoint,
      name: assignment.serverGroup,
      bytes: encodeAssignment(assignment),
    };
  },

  cluster(group: ServerGroup): Encoded {
    return { typeUrl: TYPE_URLS.cluster, name: group.name, bytes: encodeCluster(group) };
  },

  listener(listener: Listener, group: ServerGroup): Encoded {
    return { typeUrl: TYPE_URLS.listener, name: listener.name, bytes: encodeListener(listener, group) };
  },

  route(listener: Listener, group: ServerGroup): Encoded {
    return { typeUrl: TYPE_URLS.route, name: listener.name, bytes: encodeRoute(listener, group) };
  },
} as const;
