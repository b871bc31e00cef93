/** The SubjectAccessReview that a webhook is sent, and what it answers. */
import type { Attributes } from '../../auth/index.ts';
import {
  encodeText,
  type FieldTerm,
  isJsonObject,
  type Json,
  type JsonObject,
  type LabelOperator,
  type LabelRequirement,
  type Names,
  quote,
  readJsonTextInSteps,
  type Steps,
  shorten,
} from '../../meta/index.ts';

/** The versions of the review that a webhook may be sent. */
export const reviewVersions = ['v1', 'v1beta1'] as const;
export type ReviewVersion = (typeof reviewVersions)[number];

/** The spec of the review in version v1. Absent: what is empty. */
export function reviewSpec({ user, verb, resource, path, ...selectors }: Attributes): JsonObject {
  const { name, uid = '', groups, extra = {} } = user;
  const target: JsonObject =
    resource === undefined
      ? { nonResourceAttributes: filled({ path, verb }) }
      : { resourceAttributes: { ...filled({ verb, ...placeOf(resource) }), ...selectorsOf(selectors) } };
  return {
    ...target,
    ...filled({ user: name, uid }),
    ...(groups.length === 0 ? {} : { groups: [...groups] }),
    ...(Object.keys(extra).length === 0 ? {} : { extra: extra as JsonObject }),
  };
}

const filled = (texts: { readonly [name: string]: string }): JsonObject =>
  Object.fromEntries(Object.entries(texts).filter(([, text]) => text !== ''));

const placeOf = ({
  namespace,
  group,
  version,
  resource,
  subresource,
  name,
}: NonNullable<Attributes['resource']>): { readonly [name: string]: string } => ({
  namespace,
  group,
  version,
  resource,
  subresource,
  name,
});

function selectorsOf({
  fieldSelector,
  labelSelector,
}: Pick<Attributes, 'fieldSelector' | 'labelSelector'>): JsonObject {
  const fields = fieldSelector?.requirements.map(fieldRequirement) ?? [];
  const labels = labelSelector?.requirements.toSorted(byKey).flatMap(labelRequirement) ?? [];
  return {
    ...(fields.length === 0 ? {} : { fieldSelector: { requirements: fields } }),
    ...(labels.length === 0 ? {} : { labelSelector: { requirements: labels } }),
  };
}

const byKey = (a: LabelRequirement, b: LabelRequirement): number => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0);

const fieldRequirement = ({ field, value, not }: FieldTerm): JsonObject => ({
  key: field,
  operator: not ? 'NotIn' : 'In',
  values: [value],
});

/** The operators of reviews. Others are left out: the webhook sees a wider selector. */
const operators: { readonly [operator in LabelOperator]?: string } = {
  '=': 'In',
  '==': 'In',
  in: 'In',
  '!=': 'NotIn',
  notin: 'NotIn',
  exists: 'Exists',
  '!': 'DoesNotExist',
};

function labelRequirement({ key, operator, values }: LabelRequirement): JsonObject[] {
  const known = operators[operator];
  if (known === undefined) return [];
  return [{ key, operator: known, ...(values.length === 0 ? {} : { values: [...values] }) }];
}

const groupOf = ({ domain }: Names): string => `authorization.${domain}`;

/** The review as JSON. In version v1beta1 the groups have another name. */
export function reviewBody(spec: JsonObject, version: ReviewVersion, names: Names) {
  const { groups, ...rest } = spec;
  const sent = version === 'v1' || groups === undefined ? spec : { ...rest, group: groups };
  const apiVersion = `${groupOf(names)}/${version}`;
  return encodeText(
    JSON.stringify({
      kind: 'SubjectAccessReview',
      apiVersion,
      metadata: {},
      spec: sent,
      status: { allowed: false },
    }),
  );
}

/** The decision of a webhook. */
export interface Verdict {
  readonly allowed: boolean;
  readonly denied: boolean;
  readonly reason: string;
}

/** The longest reason that is kept and shown (characters). */
const maxReason = 4_096;

const reviewKinds = [
  'SubjectAccessReview',
  'LocalSubjectAccessReview',
  'SelfSubjectAccessReview',
  'SelfSubjectRulesReview',
];

/** The verdict of an answer, or why it is none. A status that is absent is not an opinion. */
export function* verdictOf(body: string, version: ReviewVersion, names: Names): Steps<Verdict | string> {
  const answer = (yield* readJsonTextInSteps(body)) ?? null;
  if (!isJsonObject(answer)) {
    return "couldn't get version/kind; json parse error: json: cannot unmarshal the response: it is not a JSON object";
  }
  const group = groupOf(names);
  const { apiVersion = `${group}/${version}`, kind = 'SubjectAccessReview', status = {} } = answer;
  if (typeof apiVersion !== 'string' || typeof kind !== 'string') return notOf('apiVersion and kind', 'strings');
  if (apiVersion !== `${group}/${version}` || kind !== 'SubjectAccessReview') {
    const given = reviewVersions.find((one) => apiVersion === `${group}/${one}`);
    return given === undefined || !reviewKinds.includes(kind)
      ? `no kind ${quote(shorten(kind, 100))} is registered for version ${quote(shorten(apiVersion, 100))}`
      : `converting (${given}.${kind}) to (${version}.SubjectAccessReview): unknown conversion`;
  }
  const { allowed = false, denied = false, reason = '' } = isJsonObject(status) ? withoutNulls(status) : {};
  if (status !== null && !isJsonObject(status)) return notOf('status', 'an object');
  if (typeof allowed !== 'boolean') return notOf('status.allowed', 'a boolean');
  if (typeof denied !== 'boolean') return notOf('status.denied', 'a boolean');
  if (typeof reason !== 'string') return notOf('status.reason', 'a string');
  return { allowed, denied, reason: shorten(reason, maxReason) };
}

const notOf = (field: string, what: string): string => `json: cannot unmarshal ${field} of the response into ${what}`;

const withoutNulls = (given: JsonObject): { readonly [field: string]: Json } =>
  Object.fromEntries(Object.entries(given).filter((entry): entry is [string, Json] => entry[1] !== null));
