import { type ApiObject, type FieldError, fieldError, type JsonObject, statusError, type User } from '../meta/index.ts';
import { type Selectors, selectorErrors } from './review-selectors.ts';
import type { Authorizer, NonResourceRule, ResourceRule, ReviewHandler } from './types.ts';

interface ResourceAttributes extends Selectors {
  readonly namespace?: string;
  readonly verb?: string;
  readonly group?: string;
  readonly version?: string;
  readonly resource?: string;
  readonly subresource?: string;
  readonly name?: string;
}

interface PathAttributes {
  readonly path?: string;
  readonly verb?: string;
}

/** What is to be decided: exactly one of the two. */
interface Question {
  readonly resourceAttributes?: ResourceAttributes | null;
  readonly nonResourceAttributes?: PathAttributes | null;
}

/** The same, and about whom. */
interface SubjectQuestion extends Question {
  readonly user?: string;
  readonly uid?: string;
  readonly groups?: readonly string[];
  readonly extra?: { readonly [key: string]: readonly string[] };
}

/** May some user do it? `group` is that of the review. */
export function subjectAccessReview(authorize: Authorizer, group: string): ReviewHandler {
  return (posted) => {
    const spec = posted['spec'] as SubjectQuestion;
    refuse(group, [...questionErrors(spec), ...subjectErrors(spec), ...metadataErrors(posted, false)]);
    return decided(posted, spec, subjectOf(spec), authorize);
  };
}

/** May some user do it in the namespace of the review? */
export function localAccessReview(authorize: Authorizer, group: string): ReviewHandler {
  return (posted, { namespace }) => {
    const spec = posted['spec'] as SubjectQuestion;
    refuse(group, [
      ...questionErrors(spec),
      ...subjectErrors(spec),
      ...metadataErrors(posted, true),
      ...placeErrors(spec, namespace),
    ]);
    return decided(posted, spec, subjectOf(spec), authorize);
  };
}

/** May who asks do it? */
export function selfAccessReview(authorize: Authorizer, group: string): ReviewHandler {
  return (posted, { requester }) => {
    const spec = posted['spec'] as Question;
    refuse(group, [...questionErrors(spec), ...metadataErrors(posted, false)]);
    return decided(posted, spec, requester, authorize);
  };
}

/** What may who asks do in a namespace? */
export function selfRulesReview({ rulesFor }: Authorizer): ReviewHandler {
  return async (posted, { requester }) => {
    const { namespace = '' } = posted['spec'] as { readonly namespace?: string };
    if (namespace === '') throw statusError.badRequest('no namespace on request');
    const rules = await rulesFor?.(requester, namespace);
    const { resourceRules = [], nonResourceRules = [], incomplete = true } = rules ?? {};
    const status: JsonObject = {
      resourceRules: resourceRules.map(copyLists),
      nonResourceRules: nonResourceRules.map(copyLists),
      incomplete,
      ...(incomplete ? { evaluationError: 'not every authorizer can list its rules' } : {}),
    };
    return { ...posted, spec: {}, status };
  };
}

const copyLists = (rule: ResourceRule | NonResourceRule): JsonObject =>
  Object.fromEntries(Object.entries(rule).map(([field, values]: [string, readonly string[]]) => [field, [...values]]));

async function decided(posted: ApiObject, spec: Question, user: User, authorize: Authorizer): Promise<ApiObject> {
  const { allowed, reason } = await authorize({ user, ...attributesOf(spec) });
  return { ...posted, status: { allowed, ...(reason === '' ? {} : { reason }) } };
}

function attributesOf({ resourceAttributes, nonResourceAttributes }: Question) {
  if (resourceAttributes === undefined || resourceAttributes === null) {
    const { path = '', verb = '' } = nonResourceAttributes ?? {};
    return { verb, path, resource: undefined };
  }
  const { group = '', version = '', resource = '', subresource = '', namespace = '', name = '' } = resourceAttributes;
  const { verb = '' } = resourceAttributes;
  return { verb, path: '', resource: { group, version, resource, subresource, namespace, name } };
}

const subjectOf = ({ user = '', uid = '', groups = [], extra = {} }: SubjectQuestion): User => ({
  name: user,
  groups,
  extra,
  ...(uid === '' ? {} : { uid }),
});

// Validation

/** Clients know these refusals without the kind. */
function refuse(group: string, errors: readonly FieldError[]): void {
  if (errors.length > 0) throw statusError.invalid({ group, kind: '' }, '', errors);
}

/** The value is shown as clients know it. */
const pathError = ({ path = '', verb = '' }: PathAttributes, why: string): FieldError =>
  fieldError.invalid('spec.nonResourceAttributes', { Path: path, Verb: verb }, why);

function questionErrors({ resourceAttributes, nonResourceAttributes }: Question): FieldError[] {
  const ofResource = resourceAttributes ?? undefined;
  const ofPath = nonResourceAttributes ?? undefined;
  const found: FieldError[] = [];
  if (ofResource !== undefined && ofPath !== undefined) {
    found.push(pathError(ofPath, 'cannot be specified in combination with resourceAttributes'));
  }
  if (ofResource === undefined && ofPath === undefined) {
    const why = 'exactly one of nonResourceAttributes or resourceAttributes must be specified';
    found.push(fieldError.invalid('spec.resourceAttributes', null, why));
  }
  return [...found, ...selectorErrors(ofResource ?? {}, 'spec.resourceAttributes')];
}

function subjectErrors({ user = '', groups = [] }: SubjectQuestion): FieldError[] {
  if (user !== '' || groups.length > 0) return [];
  return [fieldError.invalid('spec.user', user, 'at least one of user or group must be specified')];
}

function metadataErrors({ metadata }: ApiObject, local: boolean): FieldError[] {
  const { managedFields: _, namespace = '', ...rest } = metadata as JsonObject;
  const given = Object.values(rest).some((value) => value !== undefined && value !== null && value !== '');
  if (!given && (local || namespace === '')) return [];
  const why = local ? 'must be empty except for namespace' : 'must be empty';
  return [fieldError.invalid('metadata', metadata as JsonObject, why)];
}

function placeErrors({ resourceAttributes, nonResourceAttributes }: Question, namespace: string): FieldError[] {
  const found: FieldError[] = [];
  const { namespace: asked = '' } = resourceAttributes ?? { namespace };
  if (asked !== namespace) {
    found.push(fieldError.invalid('spec.resourceAttributes.namespace', asked, 'must match metadata.namespace'));
  }
  if (nonResourceAttributes !== undefined && nonResourceAttributes !== null) {
    found.push(pathError(nonResourceAttributes, 'disallowed on this kind of request'));
  }
  return found;
}
