/** The deprecation rules of the specification ("Deprecation rules") as checks of declarations. */
import {
  apiRelease,
  compatibleRelease,
  formatRelease,
  isSince,
  parseRelease,
  type Release,
  type ReleaseText,
} from '../../meta/index.ts';
import type { Lifecycle, ResourceDefinition, ResourceVersion } from '../../registry/index.ts';
import type { Schema, StructSchema } from '../../schema/index.ts';

/** The fields of types in a release: number in protobuf and type, such as `1 int32`, by type and field name. */
export interface RecordedFields {
  readonly [type: string]: { readonly [field: string]: string };
}

/** Beta and stable versions of a release, such as `apps/v1 Deployment`, with the release that removes them; else empty. */
export interface RecordedVersions {
  readonly [version: string]: string;
}

/** Rules 1 and 4a: a version that a release had is still there, until the release that removes it. */
export function lostVersions(
  definitions: readonly ResourceDefinition[],
  recorded: RecordedVersions,
  release: Release = apiRelease,
): string[] {
  const declared = new Set(
    definitions.flatMap(({ group, kind, versions }) => versions.map(({ version }) => `${group}/${version} ${kind}`)),
  );
  return Object.entries(recorded)
    .filter(([name, removed]) => !declared.has(name) && (removed === '' || !isSince(release, removed as ReleaseText)))
    .map(([name]) => `rule 4a: ${name} is gone`);
}

/** Beta, stable and deprecated feature gates of a release, with the first release that may lack each. */
export interface RecordedGates {
  readonly [gate: string]: ReleaseText;
}

/** Rule 9: a gate that a release had is still there, until the release that may lack it. */
export function lostGates(gates: readonly string[], recorded: RecordedGates, release: Release = apiRelease): string[] {
  const known = new Set(gates);
  return Object.entries(recorded)
    .filter(([name, gone]) => !known.has(name) && !isSince(release, gone))
    .map(([name]) => `rule 9: the feature gate ${name} is gone`);
}

/** The type of a field as it is recorded. */
function typeText(schema: Schema): string {
  if (schema.type === 'lazy') return typeText(schema.resolve());
  if (schema.type === 'list') return `[]${typeText(schema.element)}`;
  if (schema.type === 'map') return `{}${typeText(schema.value)}`;
  return schema.type === 'struct' || schema.type === 'either' ? schema.name : schema.type;
}

/** Rule 1: a field that a release had is still there, with its type and number. */
export function lostFields(types: ReadonlyMap<string, StructSchema>, recorded: RecordedFields): string[] {
  return Object.entries(recorded).flatMap(([type, fields]) => {
    const declared = types.get(type)?.fields ?? {};
    return Object.entries(fields).flatMap(([name, was]) => {
      const field = declared[name];
      const is = field && [field.tag, typeText(field.schema)].filter((part) => part !== undefined).join(' ');
      if (is === was) return [];
      return [`rule 1: ${type}.${name} was "${was}" and is ${is === undefined ? 'gone' : `"${is}"`}`];
    });
  });
}

/** A version of a kind with its releases. */
interface Version {
  readonly name: string;
  readonly stability: number;
  readonly declared: ResourceVersion;
  readonly lifecycle: Lifecycle;
}

/** Returns violations of the rules about the versions of a kind in a release that can be rolled back to another one. */
export function brokenRules(
  definition: ResourceDefinition,
  release: Release = apiRelease,
  rollback: Release = compatibleRelease,
): string[] {
  const { group, plural, versions, storage, virtual } = definition;
  const named = versions.flatMap((declared) => {
    const { version, lifecycle } = declared;
    const name = `${group}/${version} ${plural}`;
    return lifecycle === undefined ? [] : [{ name, declared, lifecycle, stability: stabilityOf(version) }];
  });
  const unmarked = versions.filter(({ lifecycle }) => lifecycle === undefined);
  return [
    ...unmarked.map(({ version }) => `rule 4a: ${group}/${version} ${plural} does not say when it was introduced`),
    ...named.flatMap((version) => [...brokenTimes(version), ...worseReplacement(version)]),
    ...named.filter(({ declared }) => !isConvertible(declared, definition)).map(({ name }) => notConvertible(name)),
    ...(virtual === true ? [] : earlyStorage(named, storage.version, release, rollback)),
  ];
}

const notConvertible = (name: string) =>
  `rule 2: ${name} has another shape than the storage version, and no conversion`;

const stable = 2;

/** 0 for alpha, 1 for beta, 2 for stable versions. */
function stabilityOf(version: string): number {
  if (version.includes('alpha')) return 0;
  return version.includes('beta') ? 1 : stable;
}

/** From this release on beta versions have a limited life. */
const betaRules: ReleaseText = '1.22';
/** The longest time from introduction to deprecation, and the shortest from deprecation to removal (releases). */
const betaReleases = 3;

function brokenTimes({ name, stability, lifecycle }: Version): string[] {
  const { introduced, deprecated, removed } = lifecycle;
  if (stability === 0) return [];
  const problems: string[] = [];
  if (stability === stable) {
    if (removed !== undefined) problems.push(`rule 4a: ${name} is stable and cannot be removed`);
    return problems;
  }
  const isLimited = isSince(parseRelease(introduced), betaRules);
  if (isLimited && (deprecated === undefined || minorOf(deprecated) > minorOf(introduced) + betaReleases)) {
    problems.push(`rule 4a: ${name} is deprecated more than ${betaReleases} releases after its introduction`);
  }
  if (deprecated === undefined) return problems;
  if (removed === undefined) problems.push(`rule 4a: ${name} is deprecated, and never removed`);
  else if (minorOf(removed) < minorOf(deprecated) + betaReleases) {
    problems.push(`rule 4a: ${name} is removed less than ${betaReleases} releases after its deprecation`);
  } else if (isLimited && minorOf(removed) > minorOf(deprecated) + betaReleases) {
    problems.push(`rule 4a: ${name} is served more than ${betaReleases} releases after its deprecation`);
  }
  return problems;
}

const minorOf = (release: ReleaseText): number => parseRelease(release).minor;

/** Rule 3: what replaces a version is at least as stable. */
function worseReplacement({ name, stability, lifecycle: { replacement } }: Version): string[] {
  const version = replacement?.split(' ')[0]?.split('/').at(-1);
  if (version === undefined || stabilityOf(version) >= stability) return [];
  return [`rule 3: ${name} is deprecated for ${replacement}, which is less stable`];
}

/** Rule 2: a version is converted to the storage version and back, or has its fields. */
function isConvertible(version: ResourceVersion, { versions, storage }: ResourceDefinition): boolean {
  if (version.toStorage !== undefined && version.fromStorage !== undefined) return true;
  const stored = versions.find((one) => one.version === storage.version);
  return stored !== undefined && hasFieldsOf(version.schema, stored.schema, new Set());
}

function hasFieldsOf(a: Schema, b: Schema, seen: Set<Schema>): boolean {
  if (a === b || seen.has(a)) return true;
  seen.add(a);
  if (a.type === 'lazy') return hasFieldsOf(a.resolve(), b, seen);
  if (b.type === 'lazy') return hasFieldsOf(a, b.resolve(), seen);
  if (a.type === 'list' && b.type === 'list') return hasFieldsOf(a.element, b.element, seen);
  if (a.type === 'map' && b.type === 'map') return hasFieldsOf(a.value, b.value, seen);
  if (a.type !== 'struct' || b.type !== 'struct') return a.type === b.type;
  return Object.entries(a.fields).every(([name, field]) => {
    const other = b.fields[name];
    return other !== undefined && hasFieldsOf(field.schema, other.schema, seen);
  });
}

/** Rule 4b: a release before this one already knows the storage version, unless the kind is new. */
function earlyStorage(versions: readonly Version[], storage: string, release: Release, rollback: Release): string[] {
  const stored = versions.find(({ declared }) => declared.version === storage);
  if (stored === undefined || isSince(rollback, stored.lifecycle.introduced)) return [];
  const isKnown = versions.some(({ lifecycle }) => isSince(rollback, lifecycle.introduced));
  if (!isKnown || !isSince(release, stored.lifecycle.introduced)) return [];
  return [`rule 4b: objects are stored as ${stored.name}, which ${formatRelease(rollback)} cannot read`];
}
