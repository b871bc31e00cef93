/** The file of `--encryption-provider-config`. */
import { type FieldError, fieldError, type Names, omitted, parseDuration } from '../meta/index.ts';
import {
  type ConfigurationFormat,
  duration,
  field,
  type Infer,
  int32,
  list,
  string,
  struct,
  versionedKinds,
} from '../schema/index.ts';
import { isGroup, isMasked, parseResource } from './resource-pattern.ts';

const Key = struct('apiserver/v1.Key', { name: field(1, string), secret: field(2, string) });
type Key = Infer<typeof Key>;

const keysOf = (name: string) => struct(`apiserver/v1.${name}`, { keys: field(1, list(Key)) });

const KmsConfiguration = struct('apiserver/v1.KMSConfiguration', {
  apiVersion: field(1, string),
  name: field(2, string),
  cachesize: field(3, int32),
  endpoint: field(4, string),
  timeout: field(5, duration),
});
export type KmsConfiguration = Infer<typeof KmsConfiguration>;

const ProviderConfiguration = struct('apiserver/v1.ProviderConfiguration', {
  aesgcm: field(1, keysOf('AESGCMConfiguration')),
  aescbc: field(2, keysOf('AESCBCConfiguration')),
  secretbox: field(3, keysOf('SecretboxConfiguration')),
  identity: field(4, struct('apiserver/v1.IdentityConfiguration', {})),
  kms: field(5, KmsConfiguration),
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
          ...checkMasks(resources.map((entry) => entry.resources ?? [])),
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

/** A resource that an entry before covers, or that its own list names twice or covers, would never be looked up. */
function checkMasks(lists: readonly (readonly string[])[]): FieldError[] {
  return lists.flatMap((resources, i) =>
    resources.flatMap((text, j) => {
      const at = `resources[${i}].resources[${j}]`;
      const resource = parseResource(text);
      const others = resources.filter((_, other) => other !== j).map(parseResource);
      if (resources.indexOf(text) < j) return [fieldError.duplicate(at, text)];
      const own = others.find((other) => isMasked(resource, other));
      if (own !== undefined) {
        return [fieldError.invalid(at, text, `is covered by ${own.resource}.${own.group} of the same list`)];
      }
      const before = lists.slice(0, i).flat().map(parseResource);
      const earlier = before.find((other) => isGroup(other) && (isSame(resource, other) || isMasked(resource, other)));
      if (earlier === undefined) return [];
      return [fieldError.invalid(at, text, `is covered by ${earlier.resource}.${earlier.group} of an earlier entry`)];
    }),
  );
}
