import { choice, listOfAtLeastOne, map, name } from '../fields.ts';
import { metricCollector } from './metric-collector.ts';
import { scheduler } from './scheduler.ts';

export const COMPONENT_TYPE = 'LoadAwareRouting';

/** A component of a service extension. */
export const component = map({
  Type: choice([COMPONENT_TYPE]).describe('The kind of component.'),
  Config: map({
    MetricCollector: metricCollector
      .describe('How the load of the backends is collected.')
      .meta({ examples: [{ Timeout: 1, Interval: 1, HttpMetricCollect: { Path: '/metrics' } }] }),
    Scheduler: scheduler.describe('How the load becomes weights.'),
  }).describe('The settings of the component.'),
}).describe('The component that makes weights follow the load.');

export const serviceExtension = map({
  Name: name()
    .describe('Name that server groups refer to.')
    .meta({ examples: ['load-aware'] }),
  Components: listOfAtLeastOne(component, `component of type ${COMPONENT_TYPE}`).describe(
    `One component of type ${COMPONENT_TYPE}.`,
  ),
}).describe('Settings of load-aware routing.');
