import { jsonEqual, type Names } from '../../meta/index.ts';
import type { Subject } from '../../types/rbac-v1.ts';
import { missingRules } from './missing-rules.ts';
import { autoUpdate, type BindingObject, isBinding, type PolicyObject, type RoleObject } from './policy.ts';

/** What a default object needs so that it allows at least what it should. */
export type PolicyStep =
  | { readonly verb: 'create'; readonly object: PolicyObject }
  /** Has the resourceVersion of the stored object. */
  | { readonly verb: 'update'; readonly object: PolicyObject }
  /** A binding to another role: `roleRef` is immutable, so it is created anew. */
  | { readonly verb: 'delete'; readonly object: PolicyObject };

/**
 * What is missing in the stored objects. Additions of users stay, and so does what they set in labels and annotations;
 * objects whose autoupdate annotation is `false` are left alone.
 */
export function reconcilePolicy(
  policy: readonly PolicyObject[],
  stored: readonly PolicyObject[],
  names: Names,
): PolicyStep[] {
  const byKey = new Map(stored.map((object) => [keyOf(object), object]));
  const annotation = autoUpdate(names);
  return policy.flatMap((wanted): PolicyStep[] => {
    const held = byKey.get(keyOf(wanted));
    if (held === undefined) {
      const seed = seedOf(wanted, byKey);
      return [{ verb: 'create', object: (seed && merge(seed, wanted, annotation)) ?? seed ?? wanted }];
    }
    if (isProtected(held, annotation)) return [];
    if (isBinding(held) && isBinding(wanted) && !sameRole(held, wanted)) return [{ verb: 'delete', object: held }];
    const object = merge(held, wanted, annotation);
    return object === undefined ? [] : [{ verb: 'update', object }];
  });
}

const keyOf = ({ kind, metadata: { namespace = '', name } }: PolicyObject) => `${kind}/${namespace}/${name}`;

const isProtected = ({ metadata }: PolicyObject, annotation: string) => metadata.annotations?.[annotation] === 'false';

/** The object with what is missing in it; undefined when nothing is, or when it is protected. */
function merge(held: PolicyObject, wanted: PolicyObject, annotation: string): PolicyObject | undefined {
  if (isProtected(held, annotation)) return undefined;
  const labels = { ...wanted.metadata.labels, ...held.metadata.labels };
  const annotations = { ...wanted.metadata.annotations, ...held.metadata.annotations };
  const metadata = { ...held.metadata, labels, annotations };
  const merged =
    isBinding(held) || isBinding(wanted)
      ? { ...held, metadata, ...missingSubjects(held as BindingObject, wanted as BindingObject) }
      : { ...mergeRules(held, wanted), metadata };
  return jsonEqual(held, merged) ? undefined : merged;
}

function missingSubjects(held: BindingObject, wanted: BindingObject): Pick<BindingObject, 'subjects'> {
  const has = held.subjects ?? [];
  const missing = (wanted.subjects ?? []).filter((subject) => !has.some((one) => sameSubject(one, subject)));
  return missing.length === 0 ? {} : { subjects: [...has, ...missing] };
}

/** The role with the missing rules and selectors, and without an aggregation rule that it should not have. */
function mergeRules({ aggregationRule, ...held }: RoleObject, wanted: RoleObject): RoleObject {
  const rules = held.rules ?? [];
  const missing = missingRules(rules, wanted.rules ?? []);
  const merged = missing.length === 0 ? held : { ...held, rules: [...rules, ...missing] };
  if (wanted.aggregationRule === undefined) return merged;
  const selectors = aggregationRule?.clusterRoleSelectors ?? [];
  const missingSelectors = (wanted.aggregationRule.clusterRoleSelectors ?? []).filter(
    (selector) => !selectors.some((one) => jsonEqual(one, selector)),
  );
  if (missingSelectors.length === 0 && aggregationRule !== undefined) return { ...merged, aggregationRule };
  return {
    ...merged,
    aggregationRule: { ...aggregationRule, clusterRoleSelectors: [...selectors, ...missingSelectors] },
  };
}

const sameRole = ({ roleRef: a }: BindingObject, { roleRef: b }: BindingObject) =>
  a.apiGroup === b.apiGroup && a.kind === b.kind && a.name === b.name;

const sameSubject = (a: Subject, b: Subject) =>
  a.kind === b.kind &&
  a.name === b.name &&
  (a.apiGroup ?? '') === (b.apiGroup ?? '') &&
  (a.namespace ?? '') === (b.namespace ?? '');

/**
 * What a missing object takes over from an older one, so that changes by users are not lost when a default object is
 * split: the rules of a user-facing role that is not yet aggregated, and the subjects of the discovery binding.
 */
function seedOf(wanted: PolicyObject, byKey: ReadonlyMap<string, PolicyObject>): PolicyObject | undefined {
  const { name } = wanted.metadata;
  if (isBinding(wanted)) {
    if (name !== 'system:public-info-viewer') return undefined;
    const source = byKey.get(`${wanted.kind}//system:discovery`);
    if (source === undefined || !isBinding(source)) return undefined;
    return { ...wanted, metadata: seedMetadata(wanted, source), ...(source.subjects && { subjects: source.subjects }) };
  }
  const [, role] = /^system:aggregate-to-(\w+)$/.exec(name) ?? [];
  const source = role === undefined ? undefined : byKey.get(`${wanted.kind}//${role}`);
  if (source === undefined || isBinding(source) || source.aggregationRule !== undefined) return undefined;
  return { ...wanted, metadata: seedMetadata(wanted, source), rules: source.rules ?? [] };
}

const seedMetadata = ({ metadata: { name } }: PolicyObject, { metadata: { labels, annotations } }: PolicyObject) => ({
  name,
  ...(labels && { labels }),
  ...(annotations && { annotations }),
});
