import { type FieldError, fieldError, immutable } from '../../meta/index.ts';
import { CSIDriver, type CSIDriverSpec } from '../../types/storage-v1.ts';
import { age, name, orNone, orUnset } from '../shared/columns.ts';
import { resource } from '../shared/define.ts';
import { eachOf, same } from '../shared/field-rules.ts';

export const csiDrivers = resource({
  group: 'storage.{domain}',
  plural: 'csidrivers',
  kind: 'CSIDriver',
  schema: CSIDriver,
  lifecycle: { introduced: '1.18' },
  namespaced: false,
  columns: [
    name,
    ['AttachRequired', ({ spec }) => spec?.attachRequired ?? true, 'boolean'],
    ['PodInfoOnMount', ({ spec }) => spec?.podInfoOnMount ?? false, 'boolean'],
    ['StorageCapacity', ({ spec }) => spec?.storageCapacity ?? false, 'boolean'],
    [
      'TokenRequests',
      ({ spec }) => orUnset((spec?.tokenRequests ?? []).map(({ audience = '' }) => audience).join(',')),
    ],
    ['RequiresRepublish', ({ spec }) => spec?.requiresRepublish ?? false, 'boolean'],
    ['Modes', ({ spec }) => orNone(spec?.volumeLifecycleModes?.join(','))],
    age,
  ],
  strategy: {
    metadataChecks: [0, 1],
    returnsDeleted: true,
    unconditionalUpdate: false,
    defaults: (driver) => {
      driver.spec = {
        attachRequired: true,
        podInfoOnMount: false,
        volumeLifecycleModes: ['Persistent'],
        storageCapacity: false,
        fsGroupPolicy: 'ReadWriteOnceWithFSType',
        requiresRepublish: false,
        seLinuxMount: false,
        ...driver.spec,
      };
    },
    // The generation increments on spec changes.
    prepareUpdate: (driver, old) => {
      if (!same(driver.spec, old.spec)) driver.metadata.generation = (old.metadata.generation ?? 0) + 1;
    },
    validate: ({ spec = {} }) => validateSpec(spec),
    validateUpdate: ({ spec = {} }, { spec: old = {} }) => [
      ...(spec.attachRequired === old.attachRequired ? [] : [immutable('spec.attachedRequired', spec.attachRequired)]),
      ...(same(spec.volumeLifecycleModes, old.volumeLifecycleModes)
        ? []
        : [immutable('spec.volumeLifecycleModes', spec.volumeLifecycleModes)]),
    ],
  },
});

const lifecycles = ['Persistent', 'Ephemeral'];
const MIN_TOKEN_SECONDS = 600;
const MAX_TOKEN_SECONDS = 2 ** 32;
const MIN_PERIOD_SECONDS = 10;

function validateSpec({
  tokenRequests,
  volumeLifecycleModes: modes = [],
  nodeAllocatableUpdatePeriodSeconds: period,
}: CSIDriverSpec): FieldError[] {
  const seen = new Set<string>();
  const errors = eachOf(tokenRequests, 'spec.tokenRequests', ({ audience = '', expirationSeconds: seconds }, path) => {
    if (seen.has(audience)) return [fieldError.duplicate(`${path}.audience`, audience)];
    seen.add(audience);
    const at = `${path}.expirationSeconds`;
    if (seconds === undefined) return [];
    if (seconds < MIN_TOKEN_SECONDS) {
      return [fieldError.invalid(at, seconds, 'may not specify a duration less than 10 minutes')];
    }
    if (seconds <= MAX_TOKEN_SECONDS) return [];
    return [fieldError.invalid(at, seconds, 'may not specify a duration larger than 2^32 seconds')];
  });
  const odd = modes.filter((mode) => !lifecycles.includes(mode));
  errors.push(...odd.map((mode) => fieldError.notSupported('spec.volumeLifecycleModes', mode, lifecycles)));
  if (period === undefined || period >= MIN_PERIOD_SECONDS) return errors;
  const why = `must be greater than or equal to ${MIN_PERIOD_SECONDS} seconds`;
  return [...errors, fieldError.invalid('spec.nodeAllocatableUpdatePeriodSeconds', period, why)];
}
