import { age, formatSome, name, orUnset } from '../cells.ts';
import { resource } from '../define.ts';
import { EndpointSlice } from '../types/discovery-v1.ts';

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
  strategy: { generation: true, createOnUpdate: true },
});
