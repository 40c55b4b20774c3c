import type { z } from 'zod';
import { list, listOfAtLeastOne, map } from './fields.ts';
import { admin } from './sections/admin.ts';
import { listener } from './sections/listener.ts';
import { log } from './sections/log.ts';
import { serverGroup } from './sections/server-group.ts';
import { serviceExtension } from './sections/service-extension.ts';
import { xds } from './sections/xds.ts';

/*
 * The one source of the fields of a configuration file: their names, ranges, defaults and what they mean; each section
 * of the file has a file in sections/. Rules that need more than one field stand in check.ts, defaults that depend on
 * other fields in resolve.ts.
 */

/** A whole configuration file; parsing one fills in the defaults that depend on no other field. */
export const configurationFile = map(
  {
    Xds: xds.prefault({}).describe('The server that sidecars connect to.'),
    Admin: admin.prefault({}).describe('The server for operators.'),
    Log: log.prefault({}).describe('The log, written to standard error.'),
    ServerGroups: listOfAtLeastOne(serverGroup, 'server group').describe('The fleets to balance.'),
    ServiceExtensions: list(serviceExtension, 'a list of service extensions')
      .prefault([])
      .describe('Settings of load-aware routing; several groups may share one.'),
    Listeners: list(listener, 'a list of listeners')
      .prefault([])
      .describe(
        'Listeners of the sidecars; with one, sidecars need no listener, route or cluster of their own.',
      ),
  },
  'a map with at least ServerGroups',
);

/** A valid file with its independent defaults filled in. */
export type ConfigurationFile = z.output<typeof configurationFile>;
/** A file as an operator writes it. */
export type ConfigurationInput = z.input<typeof configurationFile>;
export type ServerGroupFields = ConfigurationFile['ServerGroups'][number];
export type DiscoveryFields = NonNullable<ServerGroupFields['Discovery']>;
export type ServiceExtensionFields = ConfigurationFile['ServiceExtensions'][number];
export type ComponentFields = ServiceExtensionFields['Components'][number];
export type MetricFields = NonNullable<NonNullable<HttpMetricCollectFields['Metrics']>['Finished']>;
export type HttpMetricCollectFields = ComponentFields['Config']['MetricCollector']['HttpMetricCollect'];
