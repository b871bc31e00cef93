/** The handlers of the reviews of the group authorization: what a user may do. */
import {
  type ApiObject,
  type FieldError,
  fieldError,
  type JsonObject,
  type ReviewHandler,
  statusError,
  type User,
} from '../meta/index.ts';
import { type ReviewSelectors, reviewedSelectors, selectorErrors } from './review-selectors.ts';
import type { Attributes, Authorizer, NonResourceRule, ResourceRule } from './types.ts';

interface ResourceAttributes extends ReviewSelectors {
  readonly namespace?: string;
  readonly verb?: string;
  readonly group?: string;
  readonly version?: string;
  readonly resource?: string;
  readonly subresource?: string;
  readonly name?: string;
}

interface NonResourceAttributes {
  readonly path?: string;
  readonly verb?: string;
}

/** Exactly one of the two must be set. */
interface ReviewSpec {
  readonly resourceAttributes?: ResourceAttributes | null;
  readonly nonResourceAttributes?: NonResourceAttributes | null;
}

/** The same, with the subject. */
interface SubjectReviewSpec extends ReviewSpec {
  readonly user?: string;
  readonly uid?: string;
  readonly groups?: readonly string[];
  readonly extra?: { readonly [key: string]: readonly string[] };
}

/** Handler of SubjectAccessReview. `group` is the API group of the review. */
export function subjectAccessReview(authorize: Authorizer, group: string): ReviewHandler {
  return (posted) => {
    const spec = posted['spec'] as SubjectReviewSpec;
    throwIfInvalid(group, [...specErrors(spec), ...subjectErrors(spec), ...metadataErrors(posted, false)]);
    return withDecision(posted, spec, subjectOf(spec), authorize);
  };
}

/** Handler of LocalSubjectAccessReview: limited to the namespace of the request. */
export function localAccessReview(authorize: Authorizer, group: string): ReviewHandler {
  return (posted, { namespace }) => {
    const spec = posted['spec'] as SubjectReviewSpec;
    throwIfInvalid(group, [
      ...specErrors(spec),
      ...subjectErrors(spec),
      ...metadataErrors(posted, true),
      ...namespaceErrors(spec, namespace),
    ]);
    return withDecision(posted, spec, subjectOf(spec), authorize);
  };
}

/** Handler of SelfSubjectAccessReview: the subject is the requester. */
export function selfAccessReview(authorize: Authorizer, group: string): ReviewHandler {
  return (posted, { requester }) => {
    const spec = posted['spec'] as ReviewSpec;
    throwIfInvalid(group, [...specErrors(spec), ...metadataErrors(posted, false)]);
    return withDecision(posted, spec, requester, authorize);
  };
}

/** Handler of SelfSubjectRulesReview: the rules of the requester in a namespace. */
export function selfRulesReview({ rulesFor }: Authorizer): ReviewHandler {
  return async (posted, { requester }) => {
    const { namespace = '' } = posted['spec'] as { readonly namespace?: string };
    if (namespace === '') throw statusError.badRequest('no namespace on request');
    const rules = await rulesFor?.(requester, namespace);
    const { resourceRules = [], nonResourceRules = [], incomplete = true } = rules ?? {};
    const { evaluationError = incomplete ? 'not every authorizer can list its rules' : '' } = rules ?? {};
    const status: JsonObject = {
      resourceRules: resourceRules.map(copyLists),
      nonResourceRules: nonResourceRules.map(copyLists),
      incomplete,
      ...(evaluationError === '' ? {} : { evaluationError }),
    };
    return { ...posted, metadata: {}, spec: {}, status };
  };
}

const copyLists = (rule: ResourceRule | NonResourceRule): JsonObject =>
  Object.fromEntries(Object.entries(rule).map(([field, values]: [string, readonly string[]]) => [field, [...values]]));

async function withDecision(
  posted: ApiObject,
  spec: ReviewSpec,
  user: User,
  authorize: Authorizer,
): Promise<ApiObject> {
  const attributes: Attributes = { user, ...attributesOf(spec) };
  const { allowed, denied = false, reason, error } = await authorize(attributes);
  const evaluationError = evaluationErrorOf(attributes, error);
  const status = {
    allowed,
    ...(denied ? { denied } : {}),
    ...(reason === '' ? {} : { reason }),
    ...(evaluationError === '' ? {} : { evaluationError }),
  };
  return { ...posted, status };
}

/** Says what failed, and which selectors were ignored, in whole or in part. */
function evaluationErrorOf(attributes: Attributes, error: string | undefined): string {
  const ignored = (['fieldSelector', 'labelSelector'] as const)
    .filter((field) => attributes[field]?.error !== undefined)
    .map((field) => {
      const partially = attributes[field]?.requirements.length === 0 ? '' : 'partially ';
      return `spec.resourceAttributes.${field} ${partially}ignored due to parse error`;
    });
  return [...(error === undefined ? [] : [error]), ...ignored].join('; ');
}

function attributesOf({ resourceAttributes, nonResourceAttributes }: ReviewSpec): Omit<Attributes, 'user'> {
  if (resourceAttributes === undefined || resourceAttributes === null) {
    const { path = '', verb = '' } = nonResourceAttributes ?? {};
    return { verb, path, resource: undefined };
  }
  const { group = '', version = '', resource = '', subresource = '', namespace = '', name = '' } = resourceAttributes;
  const { verb = '' } = resourceAttributes;
  return {
    verb,
    path: '',
    resource: { group, version: version === '' ? '*' : version, resource, subresource, namespace, name },
    ...reviewedSelectors(resourceAttributes),
  };
}

const subjectOf = ({ user = '', uid = '', groups = [], extra = {} }: SubjectReviewSpec): User => ({
  name: user,
  groups,
  extra,
  ...(uid === '' ? {} : { uid }),
});

// Validation

/** The reference server leaves out the kind in these errors. */
function throwIfInvalid(group: string, errors: readonly FieldError[]): void {
  if (errors.length > 0) throw statusError.invalid({ group, kind: '' }, '', errors);
}

/** The value is printed with Go field names, as by the reference server. */
const nonResourceError = ({ path = '', verb = '' }: NonResourceAttributes, why: string): FieldError =>
  fieldError.invalid('spec.nonResourceAttributes', { Path: path, Verb: verb }, why);

function specErrors({ resourceAttributes, nonResourceAttributes }: ReviewSpec): FieldError[] {
  const ofResource = resourceAttributes ?? undefined;
  const ofNonResource = nonResourceAttributes ?? undefined;
  const found: FieldError[] = [];
  if (ofResource !== undefined && ofNonResource !== undefined) {
    found.push(nonResourceError(ofNonResource, 'cannot be specified in combination with resourceAttributes'));
  }
  if (ofResource === undefined && ofNonResource === undefined) {
    const why = 'exactly one of nonResourceAttributes or resourceAttributes must be specified';
    found.push(fieldError.invalid('spec.resourceAttributes', null, why));
  }
  return [...found, ...selectorErrors(ofResource ?? {}, 'spec.resourceAttributes')];
}

function subjectErrors({ user = '', groups = [] }: SubjectReviewSpec): FieldError[] {
  if (user !== '' || groups.length > 0) return [];
  return [fieldError.invalid('spec.user', user, 'at least one of user or group must be specified')];
}

function metadataErrors({ metadata }: ApiObject, local: boolean): FieldError[] {
  const { managedFields: _, namespace = '', ...rest } = metadata;
  const hasMetadata = Object.values(rest).some((value) => value !== undefined && value !== null && value !== '');
  if (!hasMetadata && (local || namespace === '')) return [];
  const why = local ? 'must be empty except for namespace' : 'must be empty';
  return [fieldError.invalid('metadata', metadata, why)];
}

function namespaceErrors({ resourceAttributes, nonResourceAttributes }: ReviewSpec, namespace: string): FieldError[] {
  const found: FieldError[] = [];
  const { namespace: requestedNamespace = '' } = resourceAttributes ?? { namespace };
  if (requestedNamespace !== namespace) {
    found.push(
      fieldError.invalid('spec.resourceAttributes.namespace', requestedNamespace, 'must match metadata.namespace'),
    );
  }
  if (nonResourceAttributes !== undefined && nonResourceAttributes !== null) {
    found.push(nonResourceError(nonResourceAttributes, 'disallowed on this kind of request'));
  }
  return found;
}
