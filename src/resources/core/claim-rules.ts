/** What holds for claims of volumes beyond what they ask for. */
import {
  type FieldError,
  fieldError,
  immutable,
  jsonCopy,
  type Names,
  parseQuantity,
  qualifiedName,
} from '../../meta/index.ts';
import type { ObjectOf } from '../define.ts';
import {
  type PersistentVolumeClaim,
  PersistentVolumeClaimSpec,
  type PersistentVolumeClaimStatus,
} from '../types/core-v1.ts';
import { asJson, same } from '../validate/common.ts';
import { compareAmounts } from './pod-spec/amounts.ts';
import { byRule, oneOf } from './pod-spec/findings.ts';
import { lineDiff } from './pod-spec/line-diff.ts';
import { validateAmount } from './pod-spec/resources.ts';
import { internalText } from './pod-spec/shown.ts';

type Claim = ObjectOf<typeof PersistentVolumeClaim>;
type Spec = PersistentVolumeClaimSpec;

/** A source of a kind that older clients do not know stands in `dataSourceRef` alone; other sources in both fields. */
export function alignSources(spec: Spec | undefined, names: Names, old?: Spec): void {
  if (spec === undefined) return;
  const { dataSource: source } = spec;
  if (source !== undefined && old?.dataSource === undefined && !isOldSource(source, names)) delete spec.dataSource;
  if (spec.dataSource !== undefined && spec.dataSourceRef === undefined) {
    spec.dataSourceRef = { ...spec.dataSource };
  } else if (spec.dataSource === undefined && spec.dataSourceRef !== undefined) {
    const { namespace = '', ...rest } = spec.dataSourceRef;
    if (namespace === '') spec.dataSource = rest;
  }
}

function isOldSource({ apiGroup, kind }: NonNullable<Spec['dataSource']>, { domain }: Names): boolean {
  const group = apiGroup ?? '';
  return group === ''
    ? kind === 'PersistentVolumeClaim'
    : kind === 'VolumeSnapshot' && group === `snapshot.storage.${domain}`;
}

/** A volume is found once; after that a bound claim can only grow. */
export function validateClaimUpdate(claim: Claim, old: Claim, { labels }: Names): FieldError[] {
  const { spec = {}, status = {}, metadata } = claim;
  const before = old.spec ?? {};
  const key = `volume.beta.${labels}/storage-class`;
  const [now, then] = [metadata.annotations?.[key] ?? '', old.metadata.annotations?.[key] ?? ''];
  const [after, first] = [jsonCopy(asJson(spec) as never) as Spec, jsonCopy(asJson(before) as never) as Spec];
  if (!first.volumeName && after.volumeName) first.volumeName = after.volumeName;
  const found: FieldError[] = [];
  const upgraded = then !== '' && first.storageClassName === undefined && after.storageClassName === then;
  if (upgraded) delete after.storageClassName;
  else if (now !== then) found.push(immutable(`metadata.annotations[${key}]`, now));
  if (status.phase === 'Bound') {
    const size = first.resources?.requests?.['storage'];
    if (after.resources?.requests !== undefined && size !== undefined) after.resources.requests['storage'] = size;
    if (after.volumeAttributesClassName !== undefined && first.volumeAttributesClassName !== undefined) {
      after.volumeAttributesClassName = first.volumeAttributesClassName;
    }
  }
  if (!same(after, first)) {
    const diff = lineDiff(
      internalText(first, PersistentVolumeClaimSpec),
      internalText(after, PersistentVolumeClaimSpec),
    );
    const why =
      'spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims';
    found.push(fieldError.forbidden('spec', `${why}\n${diff}`));
  }
  const sizes = [spec, before].map((one) => one.resources?.requests?.['storage'] ?? '0') as [string, string];
  if (compareAmounts(...sizes) < 0 && compareAmounts(sizes[0], status.capacity?.['storage'] ?? '0') <= 0) {
    found.push(fieldError.forbidden('spec.resources.requests.storage', 'field can not be less than status.capacity'));
  }
  if (!same(spec.volumeMode, before.volumeMode)) found.push(immutable('volumeMode', spec.volumeMode));
  return found;
}

const resizing = [
  'ControllerResizeInProgress',
  'ControllerResizeInfeasible',
  'NodeResizeInProgress',
  'NodeResizeInfeasible',
  'NodeResizePending',
].sort();

const validateWhole = (amount: string, path: string): FieldError[] =>
  parseQuantity(amount).nano < 0n
    ? [
        fieldError.invalid(
          path,
          Number(parseQuantity(amount).nano / 1_000_000_000n),
          'must be a valid resource quantity',
        ),
      ]
    : [];

/** What a claim may report of its volume. */
export function validateClaimStatus(status: PersistentVolumeClaimStatus, names: Names): FieldError[] {
  const found: FieldError[] = [];
  for (const [resource, amount] of Object.entries(status.capacity ?? {})) {
    found.push(...validateWhole(amount, `status.capacity[${resource}]`));
  }
  const at = 'status.allocatedResourceStatus';
  for (const [resource, text] of Object.entries(status.allocatedResourceStatuses ?? {})) {
    const faults = byRule(at, resource, qualifiedName);
    found.push(...(faults.length > 0 ? faults : oneOf(at, text, resizing)));
  }
  const path = 'status.allocatedResources';
  for (const [resource, amount] of Object.entries(status.allocatedResources ?? {})) {
    const faults = byRule(path, resource, qualifiedName);
    const whole = faults.length > 0 ? faults : validateWhole(amount, `${path}[${resource}]`);
    found.push(...(whole.length > 0 ? whole : validateAmount('storage', amount, `${path}[${resource}]`, names)));
  }
  return found;
}
