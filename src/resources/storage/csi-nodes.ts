import { defaultFeatures, type FieldError, fieldError, immutable, qualifiedName } from '../../meta/index.ts';
import type { Infer } from '../../schema/index.ts';
import { CSINode, CSINodeDriver } from '../../types/storage-v1.ts';
import { validateDriverName } from '../core/persistent-volume-sources.ts';
import { age, name } from '../shared/columns.ts';
import { resource } from '../shared/define.ts';
import { byRule, eachOf, same } from '../shared/field-rules.ts';
import { internalForm } from '../shared/internal-go-form.ts';

export const csiNodes = resource({
  group: 'storage.{domain}',
  plural: 'csinodes',
  kind: 'CSINode',
  schema: CSINode,
  lifecycle: { introduced: '1.17' },
  namespaced: false,
  columns: [name, ['Drivers', ({ spec }) => spec?.drivers?.length ?? 0, 'integer'], age],
  strategy: {
    metadataChecks: [1, 0],
    returnsDeleted: true,
    unconditionalUpdate: false,
    validate: ({ spec }) => eachOf(spec?.drivers ?? [], 'spec.drivers', validateDriver),
    // Drivers may be added and removed; of the others only `allocatable` may change, and only with its feature.
    validateUpdate: ({ spec }, old, { features = defaultFeatures }) => {
      const fixed = features.MutableCSINodeAllocatableCount ? identity : (driver: Driver) => driver;
      // Driver names are unique.
      const now = new Map((spec?.drivers ?? []).map((driver) => [driver.name, driver]));
      return (old.spec?.drivers ?? []).flatMap((before) => {
        const driver = now.get(before.name);
        if (driver === undefined || same(fixed(driver), fixed(before))) return [];
        return [immutable('spec.drivers', internalForm(driver, CSINodeDriver))];
      });
    },
  },
});

type Driver = Infer<typeof CSINodeDriver>;

function identity(driver: Driver): Driver {
  const { allocatable: _, ...others } = driver;
  return others;
}

const MAX_NODE_ID = 256;

function validateDriver(
  { name = '', nodeID = '', topologyKeys }: Infer<typeof CSINodeDriver>,
  path: string,
): FieldError[] {
  const errors = validateDriverName(name, `${path}.name`);
  if (Buffer.byteLength(nodeID) > MAX_NODE_ID) {
    errors.push(fieldError.invalid(`${path}.nodeID`, nodeID, `must be ${MAX_NODE_ID} characters or less`));
  }
  const seen = new Set<string>();
  for (const key of topologyKeys ?? []) {
    if (key === '') errors.push(fieldError.required(path));
    if (seen.has(key)) errors.push(fieldError.duplicate(path, key));
    seen.add(key);
    errors.push(...byRule(path, key, qualifiedName));
  }
  return errors;
}
