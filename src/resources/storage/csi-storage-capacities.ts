import { dns1123Subdomain, type FieldError, fieldError, parseQuantity, warned } from '../../meta/index.ts';
import type { ObjectOf } from '../../schema/index.ts';
import { CSIStorageCapacity } from '../../types/storage-v1.ts';
import { labelWarnings, nodeSelectorTermWarnings } from '../pod-template/node-labels.ts';
import { resource } from '../shared/define.ts';
import { byRule, selector, unchanged } from '../shared/field-rules.ts';

export const csiStorageCapacities = resource({
  group: 'storage.{domain}',
  plural: 'csistoragecapacities',
  kind: 'CSIStorageCapacity',
  schema: CSIStorageCapacity,
  lifecycle: { introduced: '1.24' },
  strategy: {
    unconditionalUpdate: false,
    validate: validateCapacity,
    warnings: ({ nodeTopology }, _, { names }) => [
      ...nodeSelectorTermWarnings(nodeTopology ?? {}, false, 'nodeTopology', names),
      ...warned(Object.keys(nodeTopology?.matchLabels ?? {})).flatMap((key) =>
        labelWarnings(key, `nodeTopology.matchLabels.${key}`, names),
      ),
    ],
    validateUpdate: (object, old) => [
      ...unchanged('nodeTopology', object.nodeTopology, old.nodeTopology),
      ...unchanged('storageClassName', object.storageClassName, old.storageClassName),
    ],
  },
});

function validateCapacity(object: ObjectOf<typeof CSIStorageCapacity>): FieldError[] {
  const { nodeTopology, storageClassName = '', capacity } = object;
  return [
    ...selector(nodeTopology, 'nodeTopology'),
    ...byRule('storageClassName', storageClassName, dns1123Subdomain),
    ...(capacity !== undefined && parseQuantity(capacity).nano < 0n
      ? [fieldError.invalid('capacity', capacity, 'must be greater than or equal to 0')]
      : []),
  ];
}
