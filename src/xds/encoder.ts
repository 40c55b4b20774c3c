import type { Assignment } from '../core/model/assignment.ts';
import type { Listener } from '../core/model/configuration.ts';
import type { ServerGroup } from '../core/model/server-group.ts';
import type { Audience } from './audience.ts';
import { encodeApiListener } from './resources/api-listener.ts';
import { encodeAssignment } from './resources/assignment.ts';
import { encodeCluster } from './resources/cluster.ts';
import { adsSource, ownStreamSource } from './resources/config-source.ts';
import { encodeListener } from './resources/listener.ts';
import type { ProtoJsonMessage } from './resources/proto-json.ts';
import { encodeRoute } from './resources/route.ts';
import { TYPE_URLS } from './resources/type-urls.ts';

interface Encoded {
  readonly typeUrl: string;
  readonly name: string;
  readonly bytes: Uint8Array;
}

/** Turns assignments into the resources that all clients ask for. */
export const encoder = {
  endpointType: TYPE_URLS.endpoint,
  clusterType: TYPE_URLS.cluster,

  endpoints(assignment: Assignment): Encoded {
    return {
      typeUrl: TYPE_URLS.endpoint,
      name: assignment.serverGroup,
      bytes: encodeAssignment(assignment),
    };
  },
} as const;

type ListenerEncoder = (listener: Listener, group: ServerGroup) => readonly Encoded[];

/** Turns a listener and its group into all that a client needs besides the assignment. */
export const listenerEncoders: Readonly<Record<Audience, ListenerEncoder>> = {
  aggregated: forEnvoy(adsSource),
  separate: forEnvoy(ownStreamSource),
  /** Under the group's name: what an application calls is the group, not an address. */
  grpc: (_listener, group) => [
    { typeUrl: TYPE_URLS.cluster, name: group.name, bytes: encodeCluster(roundRobin(group), adsSource) },
    { typeUrl: TYPE_URLS.listener, name: group.name, bytes: encodeApiListener(group) },
  ],
};

/** @param source where it is to get what the resources refer to. */
function forEnvoy(source: ProtoJsonMessage): ListenerEncoder {
  return (listener, group) => [
    { typeUrl: TYPE_URLS.cluster, name: group.name, bytes: encodeCluster(group, source) },
    { typeUrl: TYPE_URLS.listener, name: listener.name, bytes: encodeListener(listener, group, source) },
    { typeUrl: TYPE_URLS.route, name: listener.name, bytes: encodeRoute(listener, group) },
  ];
}

/** The one policy that every gRPC implementation has. gRPC counts no failures in a row and asks nobody's health. */
function roundRobin(group: ServerGroup): ServerGroup {
  return { ...group, envoyLbPolicy: 'RoundRobin', outlierDetection: false, healthCheck: undefined };
}
