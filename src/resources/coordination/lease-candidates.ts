import { type FieldError, fieldError } from '../../meta/index.ts';
import { LeaseCandidate, type LeaseCandidateSpec } from '../../types/coordination-v1alpha2.ts';
import { LeaseCandidate as V1beta1 } from '../../types/coordination-v1beta1.ts';
import { age, name } from '../shared/columns.ts';
import { resource } from '../shared/define.ts';
import { unchanged } from '../shared/field-rules.ts';
import { validateStrategy } from './leases.ts';
import { compareSemver, parseSemver } from './semver.ts';

export const leaseCandidates = resource({
  group: 'coordination.{domain}',
  plural: 'leasecandidates',
  kind: 'LeaseCandidate',
  version: 'v1alpha2',
  schema: LeaseCandidate,
  lifecycle: { introduced: '1.32', deprecated: '1.35', removed: '1.38' },
  versions: [
    { version: 'v1beta1', schema: V1beta1, lifecycle: { introduced: '1.33', deprecated: '1.36', removed: '1.39' } },
  ],
  gate: 'CoordinatedLeaderElection',
  columns: [
    name,
    ['LeaseName', ({ spec }) => spec?.leaseName ?? ''],
    ['BinaryVersion', ({ spec }) => spec?.binaryVersion ?? ''],
    ['EmulationVersion', ({ spec }) => spec?.emulationVersion ?? ''],
    ['PingTime', ({ spec }) => spec?.pingTime ?? null],
    ['RenewTime', ({ spec }) => spec?.renewTime ?? null],
    ['Strategy', ({ spec }) => spec?.strategy ?? ''],
    age,
  ],
  strategy: {
    createOnUpdate: true,
    unconditionalUpdate: false,
    validate: ({ spec = {} }) => validateSpec(spec),
    validateUpdate: ({ spec }, old) => unchanged('spec.leaseName', spec?.leaseName, old.spec?.leaseName),
  },
});

function validateSpec(spec: LeaseCandidateSpec): FieldError[] {
  const { leaseName = '', binaryVersion = '', emulationVersion = '', strategy = '' } = spec;
  const errors = leaseName === '' ? [fieldError.required('spec.leaseName')] : [];
  const binary = parseSemver(binaryVersion);
  const emulated = parseSemver(emulationVersion);
  if (emulationVersion !== '' && emulated === undefined) {
    errors.push(fieldError.invalid('spec.emulationVersion', emulationVersion, 'must be a valid semantic version'));
  }
  if (binaryVersion === '') errors.push(fieldError.required('spec.binaryVersion'));
  else if (binary === undefined) {
    errors.push(fieldError.invalid('spec.binaryVersion', binaryVersion, 'must be a valid semantic version'));
  }
  if (binary !== undefined && emulated !== undefined && compareSemver(binary, emulated) < 0) {
    const why = 'must be greater than or equal to `emulationVersion`';
    errors.push(fieldError.invalid('spec.binaryVersion', binaryVersion, why));
  }
  if (strategy === '') return [...errors, fieldError.required('spec.strategy')];
  errors.push(...validateStrategy(strategy));
  if (strategy === 'OldestEmulationVersion' && emulationVersion === '') {
    const why = "must be specified when `strategy` is 'OldestEmulationVersion'";
    errors.push(fieldError.required('spec.emulationVersion', why));
  }
  return errors;
}
