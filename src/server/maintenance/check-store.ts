import { blockPrefix, repair } from '../../allocation/index.ts';
import { defaultDomain, formatGroupResource, type Names, namesFor } from '../../meta/index.ts';
import { type Registry, resourceFinder } from '../../registry/index.ts';
import { builtinResources } from '../../resources/index.ts';
import { type Entry, EntryDigest, type Store, type StoreSnapshot } from '../../store/index.ts';
import { secretsPrefix } from '../certificates/stored-keys.ts';
import { classPrefix, domainOfClass, identityKey, readIdentity } from '../cluster/cluster-identity.ts';
import { leasePrefix } from '../cluster/endpoint-leases.ts';
import type { Progress } from '../commands/progress.ts';
import { StartError } from '../start-error.ts';
import type { Findings } from './check-findings.ts';
import { builtinKinds, customKind, type StoredKind } from './check-kinds.ts';
import { decode, ObjectCheck } from './check-objects.ts';
import { openValues, type ReadValue } from './check-values.ts';
import { openOfflineRegistry } from './offline-registry.ts';
import { VersionCounts } from './version-counts.ts';

/** The result of a check. */
export interface CheckedStore {
  readonly entries: number;
  /** In hexadecimal, see `EntryDigest`. A backup and its restored store have the same digest. */
  readonly digest: string;
  /** The number of objects by resource, such as `deployments.apps`. */
  readonly resources: ReadonlyMap<string, number>;
  /** Those that are stored in another version than the storage version. */
  readonly older: VersionCounts;
}

export interface CheckOptions {
  readonly snapshot: StoreSnapshot;
  /** The file of the encryption configuration. Undefined: encrypted values are not checked. */
  readonly encryption: string | undefined;
  /** The prefix of keys in the authenticated paths of encrypted values. */
  readonly pathPrefix: string;
  readonly findings: Findings;
  readonly progress: Progress;
}

/**
 * Checks all entries of a snapshot in two passes: the first one reads them and collects the domain, namespaces and definitions,
 * the second one decrypts and decodes. @throws StartError, StoreError when it cannot be checked
 */
export async function checkStore(options: CheckOptions): Promise<CheckedStore> {
  const survey = await surveyOf(options);
  const { digest, entries } = survey;
  const names = namesFor(survey.domain ?? defaultDomain);
  const { registry, store, close } = await openOfflineRegistry(names);
  const values = await openValues(options, names);
  try {
    const counts = await checkEntries(options, survey, { names, registry, store, read: values.read });
    await checkAllocations(options.findings, store, registry, names);
    return { entries, digest, ...counts };
  } finally {
    values.close();
    await close();
  }
}

interface Survey {
  entries: number;
  digest: string;
  /** The API domain of the objects. */
  domain: string | undefined;
  readonly namespaces: Set<string>;
  /** The custom resource definitions. */
  readonly definitions: Entry[];
}

const namespacePrefix = '/namespaces/';
const definitionKey = /^\/apiextensions\.[^/]+\/customresourcedefinitions\//;

async function surveyOf({ snapshot, findings, progress }: CheckOptions): Promise<Survey> {
  const survey: Survey = { entries: 0, digest: '', domain: undefined, namespaces: new Set(), definitions: [] };
  const digest = new EntryDigest(true);
  let last: Buffer | undefined;
  progress.show('read', 0, snapshot.size);
  for await (const page of snapshot.pages()) {
    digest.add(page);
    for (const entry of page) {
      const { key, revision } = entry;
      const bytes = Buffer.from(key);
      if (last !== undefined && Buffer.compare(last, bytes) >= 0) {
        findings.add('revision', key, `it follows the key ${last.toString()}`);
      }
      last = bytes;
      if (!(revision >= 1 && revision <= snapshot.revision)) {
        findings.add('revision', key, `its revision ${revision} is not between 1 and ${snapshot.revision}`);
      }
      note(survey, entry, findings);
    }
    survey.entries += page.length;
    progress.show('read', survey.entries, snapshot.size);
  }
  progress.show('read', survey.entries, survey.entries);
  survey.digest = digest.text;
  return survey;
}

function note(survey: Survey, entry: Entry, findings: Findings): void {
  const { key, value } = entry;
  if (key.startsWith(namespacePrefix)) survey.namespaces.add(key.slice(namespacePrefix.length));
  else if (key.startsWith(classPrefix)) survey.domain ??= domainOfClass(value);
  else if (definitionKey.test(key)) survey.definitions.push(entry);
  else if (key === identityKey) {
    try {
      survey.domain = readIdentity(value, 'the store').domain;
    } catch (error) {
      if (!(error instanceof StartError)) throw error;
      findings.add('object', key, error.message);
    }
  }
}

interface Reading {
  readonly names: Names;
  readonly registry: Registry;
  /** Receives the objects for the check of allocations. */
  readonly store: Store;
  readonly read: ReadValue;
}

async function checkEntries(
  { snapshot, findings, progress }: CheckOptions,
  survey: Survey,
  { names, registry, store, read }: Reading,
): Promise<Pick<CheckedStore, 'resources' | 'older'>> {
  const kinds = builtinKinds(registry);
  const definitions = await customKinds(survey, { names, registry, store, read }, kinds);
  for (const [prefix, kind] of definitions) kinds.set(prefix, kind);
  const objects = new ObjectCheck(findings, survey.namespaces);
  const allocated = allocationPrefixes(registry, names);
  const resources = new Map<string, number>();
  const older = new VersionCounts();
  let done = 0;
  for await (const page of snapshot.pages()) {
    for (const entry of page) {
      const { key } = entry;
      const value = await read(entry);
      if (!(value instanceof Uint8Array)) {
        findings.add(value.check, key, value.message);
        continue;
      }
      if (allocated.some((prefix) => key.startsWith(prefix))) await store.commit([], [{ key, value }]);
      const prefix = prefixOf(key, kinds);
      const kind = kinds.get(prefix);
      if (kind === undefined) reportKey(key, names, findings);
      else {
        const version = objects.check(kind, key, key.slice(prefix.length), value);
        resources.set(kind.id, (resources.get(kind.id) ?? 0) + 1);
        if (version !== undefined && version !== kind.storageVersion) older.add(kind.id, version);
      }
    }
    done += page.length;
    progress.show('check', done, survey.entries);
  }
  objects.finish();
  return { resources: new Map([...resources].toSorted(([a], [b]) => (a < b ? -1 : 1))), older };
}

/** The kinds of the valid definitions. Invalid ones are reported like any object. */
async function customKinds(
  { definitions }: Survey,
  { names, registry, read }: Reading,
  builtin: ReadonlyMap<string, StoredKind>,
): Promise<Map<string, StoredKind>> {
  const kinds = new Map<string, StoredKind>();
  for (const entry of definitions) {
    const kind = builtin.get(prefixOf(entry.key, builtin));
    const value = await read(entry);
    if (kind === undefined || !(value instanceof Uint8Array)) continue;
    const decoded = decode(kind, value);
    if (!('object' in decoded)) continue;
    const custom = customKind(decoded.object, names, registry);
    if (custom !== undefined) kinds.set(...custom);
  }
  return kinds;
}

/** The key prefix of a kind: the first one or two segments of a key, with slashes. */
export function prefixOf(key: string, kinds: ReadonlyMap<string, unknown>): string {
  const first = key.indexOf('/', 1) + 1;
  const one = key.slice(0, first);
  return kinds.has(one) ? one : key.slice(0, key.indexOf('/', first) + 1);
}

const ownPrefixes = [secretsPrefix, leasePrefix, blockPrefix];

/** Reports a key that belongs to no known kind. */
function reportKey(key: string, names: Names, findings: Findings): void {
  if (key === identityKey || ownPrefixes.some((prefix) => key.startsWith(prefix))) return;
  const resource = resourceFinder(builtinResources, names)(key);
  if (resource === undefined) findings.add('key', key, 'it is not the key of an object');
  else findings.add('definition', key, `there is no definition of ${formatGroupResource(resource)}`);
}

/** The key prefixes of allocated addresses and ports, and of their users. */
const allocationPrefixes = (registry: Registry, { domain }: Names): string[] => [
  ...['services', `ipaddresses.networking.${domain}`].flatMap((id) => registry.resourceOf(id)?.keyPrefix ?? []),
  blockPrefix,
];

/** Reports what the repair loop of a server would repair. */
async function checkAllocations(findings: Findings, store: Store, registry: Registry, { domain }: Names) {
  const services = registry.resourceOf('services');
  const addresses = registry.resourceOf(`ipaddresses.networking.${domain}`);
  if (services === undefined || addresses === undefined) return;
  const warn = (problem: string, fields: { readonly [name: string]: unknown }) => {
    const details = Object.entries(fields).map(([name, value]) => `${name} ${[value].flat().join(', ')}`);
    findings.add('allocation', undefined, `${problem} (${details.join('; ')})`);
  };
  await repair({ store, registry, services, addresses, warn });
}
