import { dns1035Label, dns1123Subdomain, type FieldError, fieldError, qualifiedName } from '../../meta/index.ts';
import type { Infer } from '../../schema/index.ts';
import {
  type ServerStorageVersion,
  StorageVersion,
  type StorageVersionCondition,
  type StorageVersionStatus,
} from '../../types/apiserverinternal-v1alpha1.ts';
import { age, formatSome, name, orUnset } from '../shared/columns.ts';
import { resource } from '../shared/define.ts';
import { byRule, byRuleAsOne, eachOf, unique } from '../shared/field-rules.ts';

export const storageVersions = resource({
  group: 'internal.apiserver.{domain}',
  plural: 'storageversions',
  kind: 'StorageVersion',
  version: 'v1alpha1',
  schema: StorageVersion,
  lifecycle: { introduced: '1.20' },
  namespaced: false,
  status: true,
  columns: [
    name,
    ['CommonEncodingVersion', ({ status }) => orUnset(status?.commonEncodingVersion)],
    ['StorageVersions', ({ status }) => formatVersions(status?.storageVersions)],
    age,
  ],
  strategy: {
    nameRule,
    validate: ({ status = {} }) => validateStatus(status),
  },
});

type ServerVersion = Infer<typeof ServerStorageVersion>;
type Condition = Infer<typeof StorageVersionCondition>;

const SHOWN_SERVERS = 3;

/** The encoding versions of the first servers. */
function formatVersions(servers: readonly ServerVersion[] = []): string {
  const parts = servers.map(({ apiServerID = '', encodingVersion = '' }) => `${apiServerID}=${encodingVersion}`);
  return parts.length === 0 ? '<unset>' : formatSome(parts, SHOWN_SERVERS);
}

/** Requires a name of the form `<group>.<resource>`. */
function nameRule(name: string): string[] {
  const dot = name.lastIndexOf('.');
  if (dot < 0) return ['name must be in the form of <group>.<resource>'];
  return [
    ...dns1123Subdomain(name.slice(0, dot)).map((why) => `the group segment ${why}`),
    ...dns1035Label(name.slice(dot + 1)).map((why) => `the resource segment ${why}`),
  ];
}

function validateStatus(status: StorageVersionStatus): FieldError[] {
  const path = 'status.storageVersions';
  return [
    ...unique(status.storageVersions, path, ({ apiServerID = '' }) => apiServerID, '.apiServerID'),
    ...eachOf(status.storageVersions, path, validateServer),
    ...validateCommon(status),
    ...validateConditions(status.conditions ?? []),
  ];
}

/** Validates an API version: `v1`, or `example.com/v1`. */
function versionRule(text: string): string[] {
  const [group, version, ...more] = text.includes('/') ? text.split('/', 3) : [undefined, text];
  if (version === undefined || more.length > 0) {
    return [
      "an apiVersion is a DNS-1035 label, or a DNS-1123 subdomain and a DNS-1035 label divided by '/' (e.g. 'v1', or 'example.com/v1')",
    ];
  }
  const ofGroup = group === undefined ? [] : group === '' ? ['group part must be non-empty'] : dns1123Subdomain(group);
  return [
    ...ofGroup.map((why) => (group === '' ? why : `group part: ${why}`)),
    ...(version === ''
      ? ['version part must be non-empty']
      : dns1035Label(version).map((why) => `version part: ${why}`)),
  ];
}

function validateServer(server: ServerVersion, path: string): FieldError[] {
  const { apiServerID = '', encodingVersion = '', decodableVersions = [], servedVersions = [] } = server;
  const errors = byRule(`${path}.apiServerID`, apiServerID, dns1123Subdomain);
  errors.push(...byRuleAsOne(`${path}.encodingVersion`, encodingVersion, versionRule));
  errors.push(
    ...eachOf(decodableVersions, `${path}.decodableVersions`, (text, at) => byRuleAsOne(at, text, versionRule)),
  );
  if (!decodableVersions.includes(encodingVersion)) {
    const why = `decodableVersions must include encodingVersion ${encodingVersion}`;
    errors.push(fieldError.invalid(`${path}.decodableVersions`, decodableVersions, why));
  }
  const served = eachOf(servedVersions, `${path}.servedVersions`, (text, at) => {
    const ownErrors = byRuleAsOne(at, text, versionRule);
    if (decodableVersions.includes(text)) return ownErrors;
    const why = `individual served version must be included in decodableVersions : [${decodableVersions.join(' ')}]`;
    return [...ownErrors, fieldError.invalid(at, text, why)];
  });
  return [...errors, ...served];
}

/** Requires `commonEncodingVersion` exactly when all servers encode in the same version. */
function validateCommon({ storageVersions = [], commonEncodingVersion: declared }: StorageVersionStatus): FieldError[] {
  const written = new Set(storageVersions.map(({ encodingVersion = '' }) => encodingVersion));
  const [common] = written.size === 1 ? written : [];
  if (declared === common) return [];
  const path = 'status.commonEncodingVersion';
  if (declared === undefined) return [fieldError.invalid(path, null, `the common encoding version is ${common}`)];
  const why =
    common === undefined
      ? 'should be nil if servers do not agree on the same encoding version, or if there is no server reporting the supported versions yet'
      : `the actual common encoding version is ${common}`;
  return [fieldError.invalid(path, declared, why)];
}

function validateConditions(conditions: readonly Condition[]): FieldError[] {
  const first = new Map<string, number>();
  return eachOf(conditions, 'status', ({ type = '', status = '', reason = '', message = '' }, path, i) => {
    const errors: FieldError[] = [];
    const before = first.get(type);
    if (before !== undefined) {
      const why = `the type of the condition is not unique, it also appears in conditions[${before}]`;
      errors.push(fieldError.invalid(`${path}.type`, type, why));
    } else first.set(type, i);
    errors.push(...byRule(`${path}.type`, type, qualifiedName), ...byRule(`${path}.status`, status, qualifiedName));
    if (reason === '') errors.push(fieldError.required(`${path}.reason`, 'reason cannot be empty'));
    if (message === '') errors.push(fieldError.required(`${path}.message`, 'message cannot be empty'));
    return errors;
  });
}
