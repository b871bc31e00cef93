/** The file of `--encryption-provider-config`. */
import { type FieldError, fieldError, type Names, omitted, parseDuration } from '../meta/index.ts';
import {
  type ConfigurationFormat,
  duration,
  field,
  type Infer,
  int32,
  isBase64,
  list,
  string,
  struct,
  versionedKinds,
} from '../schema/index.ts';
import { parseResource, widePatternsOf } from './resource-pattern.ts';

/** Absent and zero are not the same. */
const pointer = { nullable: true } as const;

const Key = struct('apiserver/v1.Key', { name: field(1, string), secret: field(2, string) });
export type Key = Infer<typeof Key>;

const keysOf = (name: string) => struct(`apiserver/v1.${name}`, { keys: field(1, list(Key)) });

const KmsConfiguration = struct('apiserver/v1.KMSConfiguration', {
  apiVersion: field(1, string),
  name: field(2, string),
  cachesize: field(3, int32, pointer),
  endpoint: field(4, string),
  timeout: field(5, duration, pointer),
});
export type KmsConfiguration = Infer<typeof KmsConfiguration>;

const ProviderConfiguration = struct('apiserver/v1.ProviderConfiguration', {
  aesgcm: field(1, keysOf('AESGCMConfiguration'), pointer),
  aescbc: field(2, keysOf('AESCBCConfiguration'), pointer),
  secretbox: field(3, keysOf('SecretboxConfiguration'), pointer),
  identity: field(4, struct('apiserver/v1.IdentityConfiguration', {}), pointer),
  kms: field(5, KmsConfiguration, pointer),
});
export type ProviderConfiguration = Infer<typeof ProviderConfiguration>;

const ResourceConfiguration = struct('apiserver/v1.ResourceConfiguration', {
  resources: field(1, list(string)),
  providers: field(2, list(ProviderConfiguration)),
});

const EncryptionConfiguration = struct('apiserver/v1.EncryptionConfiguration', {
  apiVersion: field(1, string),
  kind: field(2, string),
  resources: field(3, list(ResourceConfiguration)),
});
export type EncryptionConfiguration = Infer<typeof EncryptionConfiguration>;

export const encryptionFormat: ConfigurationFormat<EncryptionConfiguration> = {
  kinds: versionedKinds('apiserver.config', 'EncryptionConfiguration', 'v1'),
  schema: EncryptionConfiguration,
  check: ({ resources = [] }, names) =>
    resources.length === 0
      ? [fieldError.required('resources', 'name at least one resource and its providers')]
      : [
          ...resources.flatMap((entry, i) => checkResources(entry.resources ?? [], `resources[${i}].resources`, names)),
          ...checkCovered(resources.map((entry) => entry.resources ?? [])),
          ...resources.flatMap((entry, i) => checkProviders(entry.providers ?? [], `resources[${i}].providers`)),
          ...checkKmsNames(resources.map((entry) => entry.providers ?? [])),
        ],
};

/** Resources of the reference server that have no REST API: their objects are stored as they are. */
const unserved = ['apiserveripinfo', 'serviceipallocations', 'servicenodeportallocations'];

function checkResources(resources: readonly string[], at: string, names: Names): FieldError[] {
  if (resources.length === 0) return [fieldError.required(at, 'name at least one resource, such as secrets')];
  return resources.flatMap((text, i) => {
    const why = resourceProblem(text, names);
    return why === undefined ? [] : [fieldError.invalid(`${at}[${i}]`, text, why)];
  });
}

function resourceProblem(text: string, { domain }: Names): string | undefined {
  if (text === '*') return 'must be *. for the core group, *.<group> for another group, or *.* for everything';
  if (text !== text.toLowerCase()) return 'must be in lower case';
  if (unserved.includes(text)) return 'must be a resource of the API';
  const { resource, group } = parseResource(text);
  if (resource === '') return 'must begin with the plural name of a resource, such as deployments.apps';
  if (group === `events.${domain}`) return 'must be events: those of the group are stored as events of the core group';
  if (group === 'extensions') return 'must not be of the group extensions, which has been removed';
  if (group === '*' && resource !== '*') return 'must name one group, or be *.* for everything';
  return undefined;
}

/** A resource that another pattern of its list, or a wide one of an earlier list, covers would never be looked up. */
function checkCovered(lists: readonly (readonly string[])[]): FieldError[] {
  /** The patterns of earlier lists, each with its place. */
  const earlier = new Map<string, number>();
  return lists.flatMap((resources, i) => {
    const own = new Map<string, number>();
    for (const [j, text] of resources.entries()) if (!own.has(text)) own.set(text, j);
    const errors = resources.flatMap((text, j) => {
      const at = `resources[${i}].resources[${j}]`;
      if ((own.get(text) as number) < j) return [fieldError.duplicate(at, text)];
      const wide = widePatternsOf(parseResource(text));
      const covering = firstIn(
        own,
        wide.filter((other) => other !== text),
      );
      if (covering !== undefined) return [fieldError.invalid(at, text, `is covered by ${covering} of the same list`)];
      const before = firstIn(earlier, wide);
      if (before === undefined) return [];
      return [fieldError.invalid(at, text, `is covered by ${before} of an earlier list`)];
    });
    for (const text of own.keys()) if (!earlier.has(text)) earlier.set(text, earlier.size);
    return errors;
  });
}

/** Of the patterns that are in a list, the one with the first place. */
const firstIn = (places: ReadonlyMap<string, number>, patterns: readonly string[]): string | undefined =>
  patterns
    .filter((pattern) => places.has(pattern))
    .sort((a, b) => (places.get(a) as number) - (places.get(b) as number))[0];

const aesKeySizes = [16, 24, 32];
const keySizes = { aescbc: aesKeySizes, aesgcm: aesKeySizes, secretbox: [32] };
/** The lengths of a list of keys and of a name of a key or plugin, which every value carries. */
const maxKeys = 100;
const maxNameLength = 253;

function checkProviders(providers: readonly ProviderConfiguration[], at: string): FieldError[] {
  if (providers.length === 0) return [fieldError.required(at, 'name at least one provider')];
  return providers.flatMap((provider, i) => {
    const path = `${at}[${i}]`;
    const configuredKinds = Object.entries(provider).filter(([, value]) => value !== undefined);
    if (configuredKinds.length !== 1) {
      const why = 'must have exactly one of aescbc, aesgcm, secretbox, kms and identity';
      return [fieldError.invalid(path, omitted, why)];
    }
    if (provider.kms !== undefined) return checkKms(provider.kms, `${path}.kms`);
    return (['aescbc', 'aesgcm', 'secretbox'] as const).flatMap((type) =>
      provider[type] === undefined ? [] : checkKeys(provider[type].keys ?? [], `${path}.${type}.keys`, keySizes[type]),
    );
  });
}

function checkKeys(keys: readonly Key[], at: string, sizes: readonly number[]): FieldError[] {
  if (keys.length === 0) return [fieldError.required(at, 'name at least one key')];
  if (keys.length > maxKeys) return [fieldError.tooMany(at, keys.length, maxKeys)];
  return keys.flatMap(({ name = '', secret = '' }, i) => [
    ...checkName(name, `${at}[${i}].name`),
    ...checkSecret(secret, `${at}[${i}].secret`, sizes),
  ]);
}

function checkName(name: string, at: string): FieldError[] {
  if (name === '') return [fieldError.required(at)];
  return Buffer.byteLength(name) > maxNameLength ? [fieldError.tooLong(at, maxNameLength)] : [];
}

/** The message never has the secret. */
function checkSecret(secret: string, at: string, sizes: readonly number[]): FieldError[] {
  const expectedSizes = `${sizes.join(', ')} random bytes in base64`;
  if (secret === '') return [fieldError.required(at, expectedSizes)];
  if (!isBase64(secret)) return [fieldError.invalid(at, omitted, `must be ${expectedSizes}`)];
  const { length } = Buffer.from(secret, 'base64');
  return sizes.includes(length)
    ? []
    : [fieldError.invalid(at, omitted, `must be ${expectedSizes}; it is ${length} bytes`)];
}

function checkKms({ apiVersion = '', name = '', cachesize, endpoint = '', timeout }: KmsConfiguration, at: string) {
  const errors = checkName(name, `${at}.name`);
  if (apiVersion !== 'v2') {
    const why = 'must be v2: version 1 of the API of KMS plugins, which is the default of this field, is not supported';
    errors.push(fieldError.invalid(`${at}.apiVersion`, apiVersion, why));
  } else if (cachesize !== undefined) {
    errors.push(fieldError.invalid(`${at}.cachesize`, cachesize, 'must not be set for plugins of version 2'));
  }
  if (name.includes(':')) errors.push(fieldError.invalid(`${at}.name`, name, 'must not contain a colon'));
  if (timeout !== undefined && parseDuration(timeout) <= 0n) {
    errors.push(fieldError.invalid(`${at}.timeout`, timeout, 'must be positive'));
  }
  if (!/^unix:(?:\/\/)?\/[^/]/.test(endpoint) || endpoint.includes('\0')) {
    errors.push(fieldError.invalid(`${at}.endpoint`, endpoint, 'must be a socket, such as unix:///run/kms.sock'));
  }
  return errors;
}

/** The name of a plugin is the prefix of what it has encrypted. */
function checkKmsNames(lists: readonly (readonly ProviderConfiguration[])[]): FieldError[] {
  const names = new Set<string>();
  const errors: FieldError[] = [];
  for (const [i, providers] of lists.entries()) {
    for (const [j, { kms }] of providers.entries()) {
      const { name = '' } = kms ?? {};
      if (names.has(name)) errors.push(fieldError.duplicate(`resources[${i}].providers[${j}].kms.name`, name));
      else if (name !== '') names.add(name);
    }
  }
  return errors;
}
