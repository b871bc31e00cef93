import {
  dns1123Label,
  dns1123Subdomain,
  errorsOfEach,
  errorsWith,
  type FieldError,
  fieldError,
} from '../../meta/index.ts';
import { compile, validate } from '../../schema/index.ts';
import { Volume } from '../../types/core-v1.ts';
import { byRule, type PodSpecContext } from '../shared/field-rules.ts';
import type { Volumes } from './volume-mounts.ts';
import { type SourceName, sourceNames, sourceRules } from './volume-sources.ts';

/** Validates `volumes`; returns the errors, and the valid volumes, which are known once the errors have been found. */
export function validateVolumes(
  volumes: readonly Volume[] | undefined,
  path: string,
  context: PodSpecContext,
): { readonly sound: Volumes; readonly errors: FieldError[] } {
  const sound = new Map<string, Volume>();
  const type = compile(Volume, context.names);
  const created = new Set(
    (volumes ?? []).filter(({ ephemeral }) => ephemeral !== undefined).map(({ name }) => `${context.pod}-${name}`),
  );
  const errors = errorsOfEach(volumes ?? [], (volume, i) => {
    const at = `${path}[${i}]`;
    const { name = '' } = volume;
    return errorsWith(validateSource(volume, at, context), (found) => {
      const own = [...found];
      if (name !== '') own.push(...byRule(`${at}.name`, name, dns1123Label));
      if (sound.has(name)) own.push(fieldError.duplicate(`${at}.name`, name));
      if (own.length === 0 && validate(volume, type).length === 0) sound.set(name, volume);
      const claim = volume.persistentVolumeClaim?.claimName;
      if (claim !== undefined && created.has(claim) && context.pod !== undefined) {
        const why = 'must not reference a PVC that gets created for an ephemeral volume';
        own.push(fieldError.invalid(`${at}.persistentVolumeClaim.claimName`, claim, why));
      }
      return own;
    });
  });
  return { sound, errors };
}

/** Sources whose error, as a second source, has another field name than the source. */
export const refusedAs: { readonly [source: string]: string } = { cephfs: 'cephFS', downwardAPI: 'downwarAPI' };

/** Requires exactly one source; every source after the first is rejected. */
function validateSource(volume: Volume, path: string, context: PodSpecContext): FieldError[] {
  const sources = sourceNames.filter((source) => volume[source] !== undefined);
  const [first, ...others] = sources;
  if (first === undefined) return [fieldError.required(path, 'must specify a volume type')];
  return [
    ...validateOne(volume, first, path, context),
    ...others.map((source) =>
      fieldError.forbiddenSubtree(
        `${path}.${refusedAs[source] ?? source}`,
        'may not specify more than 1 volume type',
        `${path}.${source}`,
      ),
    ),
    ...validateNames(volume, first, path, context),
  ];
}

function validateOne(volume: Volume, source: SourceName, path: string, context: PodSpecContext): FieldError[] {
  const rule = sourceRules[source] as
    | ((value: unknown, path: string, context: PodSpecContext) => FieldError[])
    | undefined;
  return rule?.(volume[source], `${path}.${source}`, context) ?? [];
}

/** Validates the names that are generated from the name of the volume. */
function validateNames(
  { name = '', iscsi, ephemeral }: Volume,
  first: SourceName,
  path: string,
  { pod }: PodSpecContext,
): FieldError[] {
  const errors: FieldError[] = [];
  if (iscsi?.initiatorName !== undefined && Buffer.byteLength(`${name}:${iscsi.targetPortal ?? ''}`) > 64) {
    const why =
      'Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if iscsi.initiatorName is specified.';
    errors.push(fieldError.invalid(`${path}.name`, name, why));
  }
  if (first !== 'ephemeral' || ephemeral === undefined || !pod || name === '') return errors;
  const claim = `${pod}-${name}`;
  for (const why of dns1123Subdomain(claim)) {
    errors.push(fieldError.invalid(`${path}.name`, name, `PVC name ${JSON.stringify(claim)}: ${why}`));
  }
  return errors;
}
