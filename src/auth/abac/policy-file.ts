import { isJsonObject, type Json, type JsonObject, type Names, readJsonText, statusError } from '../../meta/index.ts';
import { systemAuthenticated } from '../groups.ts';
import { isUnreadable, notText } from '../token-file.ts';

/**
 * The rights of a user or a group. An empty text matches what is empty, `*` matches everything. A policy with both a user
 * and a group is for that user as a member of that group; one with neither is for nobody.
 */
export interface Policy {
  readonly user: string;
  readonly group: string;
  /** Allows `get`, `list` and `watch` only. */
  readonly readonly: boolean;
  readonly apiGroup: string;
  readonly resource: string;
  readonly namespace: string;
  /** A path, or what paths begin with, followed by `*`. */
  readonly nonResourcePath: string;
}

const texts = ['user', 'group', 'apiGroup', 'resource', 'namespace', 'nonResourcePath'] as const;

/**
 * Parses a policy file: a JSON object in each line, either a `Policy` of `abac.authorization.<domain>/v1beta1`, or one of
 * the former form without version and kind. Empty lines and those that begin with `#` are ignored. Throws a 400
 * StatusError that names the line.
 */
export function parsePolicyFile(text: string, names: Names): Policy[] {
  return text.split('\n').flatMap((line, i) => {
    const trimmed = line.trim();
    if (trimmed === '' || trimmed.startsWith('#')) return [];
    try {
      return [policyOf(trimmed, names)];
    } catch (error) {
      throw statusError.badRequest(`line ${i + 1} ${(error as Error).message}`);
    }
  });
}

/** Throws an Error whose message is the rest of a sentence about the line. */
function policyOf(line: string, names: Names): Policy {
  if (isUnreadable(line)) throw new Error(notText);
  const object = readJsonText(line);
  if (object === undefined || !isJsonObject(object)) throw new Error('must be one JSON object');
  const version = `abac.authorization.${names.labels}/v1beta1`;
  const apiVersion = textOf(object, 'apiVersion');
  const kind = textOf(object, 'kind');
  if (apiVersion === '') return formerPolicy(fieldsOf(object));
  if (apiVersion !== version || kind !== 'Policy') {
    const actualKind = `${JSON.stringify(kind)} of ${JSON.stringify(apiVersion)}`;
    throw new Error(`has the kind ${actualKind}: it must be "Policy" of ${JSON.stringify(version)}`);
  }
  const spec = object['spec'] ?? {};
  if (!isJsonObject(spec)) throw new Error('has a spec that is not an object');
  return forAuthenticated(fieldsOf(spec));
}

function fieldsOf(from: JsonObject): Policy {
  const readonly: Json = from['readonly'] ?? false;
  if (typeof readonly !== 'boolean') throw new Error('has a readonly that is neither true nor false');
  const [user = '', group = '', apiGroup = '', resource = '', namespace = '', nonResourcePath = ''] = texts.map(
    (name) => textOf(from, name),
  );
  return { user, group, readonly, apiGroup, resource, namespace, nonResourcePath };
}

function textOf(from: JsonObject, name: string): string {
  const value = from[name] ?? '';
  if (typeof value !== 'string') throw new Error(`has a ${name} that is not a string`);
  return value;
}

/** Any user, or any group, is everybody who is authenticated. */
const forAuthenticated = (policy: Policy): Policy =>
  policy.user === '*' || policy.group === '*' ? { ...policy, user: '', group: systemAuthenticated } : policy;

/** In the former form, what is absent matches everything. */
const formerPolicy = ({ user, group, readonly, resource, namespace }: Policy): Policy =>
  forAuthenticated({
    user,
    group: user === '' && group === '' ? '*' : group,
    readonly,
    apiGroup: '*',
    resource: resource || '*',
    namespace: namespace || '*',
    nonResourcePath: resource === '' && namespace === '' ? '*' : '',
  });
