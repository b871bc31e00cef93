import { age, formatSome, name, orUnset } from '../cells.ts';
import { resource } from '../define.ts';
import { EndpointSlice } from '../types/discovery-v1.ts';
import { same, unchanged } from '../validate/common.ts';
import { validateSlice } from './rules.ts';

export const endpointSlices = resource({
  group: 'discovery.{domain}',
  plural: 'endpointslices',
  kind: 'EndpointSlice',
  schema: EndpointSlice,
  columns: [
    name,
    ['AddressType', ({ addressType = '' }) => addressType],
    [
      'Ports',
      ({ ports = [] }) =>
        orUnset(
          ports.length === 0
            ? ''
            : formatSome(
                ports.map(({ port }) => (port === undefined ? '*' : String(port))),
                3,
              ),
        ),
    ],
    [
      'Endpoints',
      ({ endpoints = [] }) =>
        orUnset(
          endpoints.length === 0
            ? ''
            : formatSome(
                endpoints.flatMap(({ addresses = [] }) => addresses),
                3,
              ),
        ),
    ],
    age,
  ],
  strategy: {
    generation: true,
    createOnUpdate: true,
    defaults: ({ ports }) => {
      for (const port of ports ?? []) {
        port.name ??= '';
        port.protocol ??= 'TCP';
      }
    },
    // Topology is told by the node and the zone; older endpoints may keep what they have.
    prepareCreate: ({ endpoints }) => {
      for (const endpoint of endpoints ?? []) delete endpoint.deprecatedTopology;
    },
    // Labels count as a change too: they say whose endpoints these are.
    prepareUpdate: ({ metadata }, old) => {
      if (!same(metadata.labels, old.metadata.labels)) metadata.generation = (old.metadata.generation ?? 0) + 1;
    },
    validate: validateSlice,
    validateUpdate: (slice, old) => unchanged('addressType', slice.addressType, old.addressType),
  },
});
