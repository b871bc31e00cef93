import { type Names, type ObjectMeta, warned } from '../../meta/index.ts';
import { type Endpoint, EndpointSlice } from '../../types/discovery-v1.ts';
import { addressWarnings } from '../shared/addresses.ts';
import { age, formatSome, name, orUnset } from '../shared/columns.ts';
import { resource } from '../shared/define.ts';
import { same, unchanged } from '../shared/field-rules.ts';
import { validateSlice } from './endpoint-slices.validation.ts';

const some = (texts: readonly string[]) => orUnset(texts.length === 0 ? '' : formatSome(texts, 3));

export const endpointSlices = resource({
  group: 'discovery.{domain}',
  plural: 'endpointslices',
  kind: 'EndpointSlice',
  schema: EndpointSlice,
  lifecycle: { introduced: '1.21' },
  columns: [
    name,
    ['AddressType', ({ addressType = '' }) => addressType],
    ['Ports', ({ ports }) => some((ports ?? []).map(({ name: own, port }) => String(port ?? own ?? '*')))],
    ['Endpoints', ({ endpoints }) => some((endpoints ?? []).flatMap(({ addresses }) => addresses ?? []))],
    age,
  ],
  strategy: {
    metadataChecks: [1, 0],
    generation: true,
    defaults: ({ ports }) => {
      for (const port of ports ?? []) {
        port.name ??= '';
        port.protocol ??= 'TCP';
      }
    },
    // `deprecatedTopology` is dropped on create; unchanged endpoints keep it on update.
    prepareCreate: ({ endpoints }) => dropTopology(endpoints),
    prepareUpdate: (slice, old) => {
      countLabelChange(slice, old);
      if (!same(slice.endpoints, old.endpoints)) dropTopology(slice.endpoints);
    },
    validate: validateSlice,
    validateUpdate: (slice, old) => unchanged('addressType', slice.addressType, old.addressType),
    warnings: ({ metadata, addressType, endpoints }, old, { names }) => [
      // The reference server uses this path.
      ...(old === undefined && addressType === 'FQDN' ? ['spec.addressType: FQDN endpoints are deprecated'] : []),
      ...(isManaged(metadata, names)
        ? []
        : warned(endpoints).flatMap(({ addresses }, i) =>
            warned(addresses).flatMap((address, j) =>
              addressWarnings(`endpoints[${i}].addresses[${j}]`, address, names),
            ),
          )),
    ],
  },
});

/** A change of the labels also increments the generation. */
export function countLabelChange({ metadata }: { metadata: ObjectMeta }, old: { metadata: ObjectMeta }): void {
  if (!same(metadata.labels, old.metadata.labels)) metadata.generation = (old.metadata.generation ?? 0) + 1;
}

/** Whether a controller manages the slice: the warnings for its addresses went to the writer of the service. */
function isManaged({ labels }: ObjectMeta, names: Names): boolean {
  const manager = labels?.[`endpointslice.${names.labels}/managed-by`];
  return ['endpointslice', 'endpointslicemirroring'].some((one) => manager === `${one}-controller.${names.domain}`);
}

function dropTopology(endpoints: Endpoint[] | null | undefined): void {
  for (const endpoint of endpoints ?? []) delete endpoint.deprecatedTopology;
}
