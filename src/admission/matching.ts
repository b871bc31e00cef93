import {
  type JsonObject,
  type LabelSelector,
  type ObjectMeta,
  selectorFromObject,
  statusError,
} from '../meta/index.ts';
import type { MatchResources, RuleWithOperations } from '../types/admissionregistration-v1.ts';
import { Namespace } from '../types/core-v1.ts';
import type { AdmissionOperation, AdmissionRequest, Awaitable, ObjectLookup, ServedKind } from './types.ts';

type Rule = RuleWithOperations & { readonly resourceNames?: readonly string[] };

/** The requests that a webhook or a policy matches. */
export interface MatchCriteria extends Pick<MatchResources, 'namespaceSelector' | 'objectSelector' | 'matchPolicy'> {
  /** Undefined: every request. */
  readonly rules?: readonly Rule[] | undefined;
  readonly excludeResourceRules?: readonly Rule[] | undefined;
}

export interface CompiledMatch {
  readonly rules: readonly CompiledRule[] | undefined;
  readonly excluded: readonly CompiledRule[];
  /** Undefined: every namespace, or every object. */
  readonly namespaces: LabelSelector | undefined;
  readonly objects: LabelSelector | undefined;
  readonly equivalent: boolean;
}

/** A wildcard is undefined. */
interface CompiledRule {
  readonly operations: ReadonlySet<string> | undefined;
  readonly groups: ReadonlySet<string> | undefined;
  readonly versions: ReadonlySet<string> | undefined;
  readonly resources: readonly ResourcePattern[];
  readonly scope: 'Cluster' | 'Namespaced' | undefined;
  readonly names: ReadonlySet<string> | undefined;
}

interface ResourcePattern {
  readonly resource: string | undefined;
  readonly subresource: string | undefined;
}

/** Parses the selectors and rules of criteria that have been validated. */
export function compileMatch({
  rules,
  excludeResourceRules = [],
  namespaceSelector,
  objectSelector,
  matchPolicy,
}: MatchCriteria): CompiledMatch {
  return {
    rules: rules?.map(compileRule),
    excluded: excludeResourceRules.map(compileRule),
    namespaces: selectorOf(namespaceSelector),
    objects: selectorOf(objectSelector),
    equivalent: matchPolicy === 'Equivalent',
  };
}

/** An absent selector selects nothing; defaults have made it an empty one, which selects everything. */
function selectorOf(value: object | null | undefined): LabelSelector | undefined {
  const selector = selectorFromObject((value ?? undefined) as JsonObject | undefined);
  return selector.text === '' ? undefined : selector;
}

function compileRule({
  operations = [],
  apiGroups = [],
  apiVersions = [],
  resources = [],
  resourceNames = [],
  scope,
}: Rule): CompiledRule {
  return {
    operations: unlessAny(operations),
    groups: unlessAny(apiGroups),
    versions: unlessAny(apiVersions),
    resources: resources.map(patternOf),
    scope: scope === 'Cluster' || scope === 'Namespaced' ? scope : undefined,
    names: resourceNames.length === 0 ? undefined : new Set(resourceNames),
  };
}

const unlessAny = (values: readonly string[]) => (values.includes('*') ? undefined : new Set(values));

/** Such as `pods`, `pods/status`, or one with a wildcard on either side of the slash. */
function patternOf(text: string): ResourcePattern {
  const slash = text.indexOf('/');
  const [resource, subresource] = slash < 0 ? [text, ''] : [text.slice(0, slash), text.slice(slash + 1)];
  return {
    resource: resource === '*' ? undefined : resource,
    subresource: subresource === '*' ? undefined : subresource,
  };
}

/**
 * The resource and kind as which a request matches: its own or, with matchPolicy `Equivalent`, that of another version.
 * Undefined: it does not match. Fails with a StatusError 404 when it would match if its namespace existed.
 */
export function matchRequest(
  match: CompiledMatch,
  request: AdmissionRequest,
  objects: Pick<ObjectLookup, 'get'>,
): Awaitable<ServedKind | undefined> {
  if (match.excluded.length > 0 && findMatch(match.excluded, match.equivalent, request) !== undefined) return undefined;
  const served = match.rules === undefined ? request : findMatch(match.rules, match.equivalent, request);
  if (served === undefined) return undefined;
  if (match.objects !== undefined && !selectsObject(match.objects, request)) return undefined;
  return match.namespaces === undefined ? served : servedIn(match.namespaces, served, request, objects);
}

async function servedIn(
  namespaces: LabelSelector,
  served: ServedKind,
  request: AdmissionRequest,
  objects: Pick<ObjectLookup, 'get'>,
): Promise<ServedKind | undefined> {
  return (await selectsNamespace(namespaces, request, objects)) ? served : undefined;
}

function findMatch(rules: readonly CompiledRule[], equivalent: boolean, request: AdmissionRequest) {
  for (const rule of rules) if (suits(rule, request, request)) return request;
  if (!equivalent) return undefined;
  for (const rule of rules) {
    // The request's own is the first.
    const found = request.versions.equivalents.find((other, i) => i > 0 && suits(rule, request, other));
    if (found !== undefined) return found;
  }
  return undefined;
}

function suits(rule: CompiledRule, request: AdmissionRequest, { resource }: ServedKind): boolean {
  const { operations, groups, versions, resources, scope, names } = rule;
  return (
    operations?.has(request.operation) !== false &&
    groups?.has(resource.group) !== false &&
    versions?.has(resource.version) !== false &&
    (scope === undefined || (scope === 'Cluster') === isClusterScoped(request)) &&
    names?.has(request.name) !== false &&
    resources.some(
      (pattern) =>
        (pattern.resource === undefined || pattern.resource === resource.resource) &&
        (pattern.subresource === undefined || pattern.subresource === request.subresource),
    )
  );
}

const isNamespace = ({ resource: { group, resource } }: Pick<ServedKind, 'resource'>): boolean =>
  group === '' && resource === 'namespaces';

const isClusterScoped = (request: AdmissionRequest): boolean => isNamespace(request) || request.namespace === '';

/** The namespace of a request, as webhooks and expressions see it: that of a namespace is the namespace itself. */
export const namespaceOf = (request: Pick<AdmissionRequest, 'resource' | 'name' | 'namespace'>): string =>
  isNamespace(request) ? request.name : request.namespace;

const labelsOf = ({ labels }: ObjectMeta) => labels ?? {};

/** The connect options of a request have no metadata. */
function selectsObject(selector: LabelSelector, { object, oldObject }: AdmissionRequest): boolean {
  const matches = (one: { readonly metadata?: ObjectMeta } | undefined) =>
    one?.metadata !== undefined && selector.matches(labelsOf(one.metadata));
  return matches(object) || matches(oldObject);
}

const writes: readonly AdmissionOperation[] = ['CREATE', 'UPDATE'];

/** Cluster-scoped objects are always selected, but for namespaces: a written one by the labels that it will have. */
async function selectsNamespace(
  selector: LabelSelector,
  request: AdmissionRequest,
  objects: Pick<ObjectLookup, 'get'>,
): Promise<boolean> {
  const { operation, subresource, object } = request;
  if (isNamespace(request) && subresource === '' && writes.includes(operation) && object !== undefined) {
    return selector.matches(labelsOf(object.metadata));
  }
  const name = namespaceOf(request);
  if (name === '') return !isNamespace(request);
  const namespace = await objects.get(Namespace, '', name);
  if (namespace === undefined) throw statusError.notFound({ group: '', resource: 'namespaces' }, name);
  return selector.matches(labelsOf(namespace.metadata));
}
