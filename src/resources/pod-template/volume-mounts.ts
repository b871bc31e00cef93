import { type FieldError, fieldError } from '../../meta/index.ts';
import type { Container, Volume } from '../../types/core-v1.ts';
import { descendingPath, eachOf, noBacksteps } from '../shared/field-rules.ts';

/** The valid volumes of a pod, by name. */
export type Volumes = ReadonlyMap<string, Volume>;

type Mount = NonNullable<Container['volumeMounts']>[number];

/** Validates `volumeMounts`. */
export function validateMounts(container: Container, volumes: Volumes, path: string): FieldError[] {
  const devices = container.volumeDevices ?? [];
  const deviceNames = new Set(devices.map(({ name = '' }) => name));
  const devicePaths = lastPaths(devices, 'devicePath');
  const privileged = container.securityContext?.privileged === true;
  const usedPaths = new Set<string>();
  return eachOf(container.volumeMounts, path, (mount, at) => {
    const { name = '', mountPath = '' } = mount;
    const errors: FieldError[] = [];
    const wrongPath = (why: string) => errors.push(fieldError.invalid(`${at}.mountPath`, mountPath, why));
    if (!volumes.has(name)) errors.push(fieldError.notFound(`${at}.name`, name));
    if (usedPaths.has(mountPath)) wrongPath('must be unique');
    usedPaths.add(mountPath);
    if (deviceNames.has(name)) {
      errors.push(fieldError.invalid(`${at}.name`, name, 'must not already exist in volumeDevices'));
    }
    if (devicePaths.has(mountPath)) wrongPath('must not already exist as a path in volumeDevices');
    errors.push(...validateSubPaths(mount, volumes.get(name), path, at));
    errors.push(...validatePropagation(mount, privileged, path));
    return errors;
  });
}

/** The last path of each name. */
function lastPaths<P extends string>(
  entries: readonly ({ name?: string } & { [key in P]?: string })[],
  key: P,
): ReadonlySet<string> {
  return new Set(new Map(entries.map((entry) => [entry.name ?? '', entry[key] ?? ''])).values());
}

/** Validates `subPath` and `subPathExpr`; the errors have the path of the list. */
function validateSubPaths(
  { subPath = '', subPathExpr = '' }: Mount,
  volume: Volume | undefined,
  path: string,
  at: string,
): FieldError[] {
  const errors: FieldError[] = [];
  if (volume?.image !== undefined) {
    const why = 'not allowed in image volume sources';
    if (subPath !== '') errors.push(fieldError.invalid(`${at}.subPath`, subPath, why));
    if (subPathExpr !== '') errors.push(fieldError.invalid(`${at}.subPathExpr`, subPathExpr, why));
  }
  if (subPath !== '') errors.push(...descendingPath(`${path}.subPath`, subPath));
  if (subPathExpr !== '') {
    if (subPath !== '') {
      errors.push(
        fieldError.invalid(`${at}.subPathExpr`, subPathExpr, 'subPathExpr and subPath are mutually exclusive'),
      );
    }
    errors.push(...descendingPath(`${path}.subPathExpr`, subPathExpr));
  }
  return errors;
}

const propagations = ['Bidirectional', 'HostToContainer', 'None'];
const depths = ['Disabled', 'Enabled', 'IfPossible'];

function validatePropagation(mount: Mount, privileged: boolean, path: string): FieldError[] {
  const { mountPropagation: propagation, recursiveReadOnly: depth } = mount;
  const errors: FieldError[] = [];
  if (propagation !== undefined) {
    const field = `${path}.mountPropagation`;
    if (!propagations.includes(propagation)) errors.push(fieldError.notSupported(field, propagation, propagations));
    if (propagation === 'Bidirectional' && !privileged) {
      const why = 'Bidirectional mount propagation is available only to privileged containers';
      errors.push(fieldError.forbidden(field, why));
    }
  }
  if (depth === undefined || depth === 'Disabled') return errors;
  const field = `${path}.recursiveReadOnly`;
  if (!depths.includes(depth)) return [...errors, fieldError.notSupported(field, depth, depths)];
  if (mount.readOnly !== true) errors.push(fieldError.forbidden(field, 'may only be specified when readOnly is true'));
  if (propagation !== undefined && propagation !== 'None') {
    const why = 'may only be specified when mountPropagation is None or not specified';
    errors.push(fieldError.forbidden(field, why));
  }
  return errors;
}

/** Validates `volumeDevices`. */
export function validateDevices(
  { volumeDevices, volumeMounts = [] }: Container,
  volumes: Volumes,
  path: string,
): FieldError[] {
  const names = new Set<string>();
  const paths = new Set<string>();
  const mountNames = new Set(volumeMounts.map(({ name = '' }) => name));
  const mountPaths = lastPaths(volumeMounts, 'mountPath');
  return eachOf(volumeDevices, path, ({ name = '', devicePath = '' }, at) => {
    const errors: FieldError[] = [];
    const wrong = (field: 'name' | 'devicePath', why: string) =>
      errors.push(fieldError.invalid(`${at}.${field}`, field === 'name' ? name : devicePath, why));
    const volume = volumes.get(name);
    if (names.has(name)) wrong('name', 'must be unique');
    if (volume === undefined) errors.push(fieldError.notFound(`${at}.name`, name));
    else if (volume.persistentVolumeClaim === undefined && volume.ephemeral === undefined) {
      wrong('name', 'can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode');
    }
    if (paths.has(devicePath)) wrong('devicePath', 'must be unique');
    if (noBacksteps('', devicePath).length > 0) wrong('devicePath', "can not contain backsteps ('..')");
    else paths.add(devicePath);
    if (mountNames.has(name)) wrong('name', 'must not already exist in volumeMounts');
    if (mountPaths.has(devicePath)) wrong('devicePath', 'must not already exist as a path in volumeMounts');
    if (name !== '') names.add(name);
    return errors;
  });
}
