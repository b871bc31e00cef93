import { jsonEqual, type Names } from '../../meta/index.ts';
import type { Subject } from '../../types/rbac-v1.ts';
import { missingRules } from './missing-rules.ts';
import { type BindingObject, isBinding, type PolicyObject, type RoleObject } from './objects.ts';
import { autoUpdate } from './policy.ts';

/** A step after which a default object allows at least what it should. */
export type PolicyStep =
  | { readonly verb: 'create'; readonly object: PolicyObject }
  /** Has the resourceVersion of the stored object. */
  | { readonly verb: 'update'; readonly object: PolicyObject }
  /** A binding to another role: `roleRef` is immutable, so the binding is recreated. */
  | { readonly verb: 'delete'; readonly object: PolicyObject };

/**
 * The steps that complete the stored objects. Additions of users stay, and so do their labels and annotations; objects whose
 * autoupdate annotation is `false` are left alone.
 */
export function reconcilePolicy(
  policy: readonly PolicyObject[],
  stored: readonly PolicyObject[],
  names: Names,
): PolicyStep[] {
  const byKey = new Map(stored.map((object) => [keyOf(object), object]));
  const annotation = autoUpdate(names);
  return policy.flatMap((desiredObject): PolicyStep[] => {
    const currentObject = byKey.get(keyOf(desiredObject));
    if (currentObject === undefined) {
      const seed = seedOf(desiredObject, byKey);
      return [{ verb: 'create', object: (seed && merge(seed, desiredObject, annotation)) ?? seed ?? desiredObject }];
    }
    if (isProtected(currentObject, annotation)) return [];
    if (isBinding(currentObject) && isBinding(desiredObject) && !sameRole(currentObject, desiredObject))
      return [{ verb: 'delete', object: currentObject }];
    const object = merge(currentObject, desiredObject, annotation);
    return object === undefined ? [] : [{ verb: 'update', object }];
  });
}

const keyOf = ({ kind, metadata: { namespace = '', name } }: PolicyObject) => `${kind}/${namespace}/${name}`;

const isProtected = ({ metadata }: PolicyObject, annotation: string) => metadata.annotations?.[annotation] === 'false';

/** The object with what is missing in it; undefined when nothing is, or when it is protected. */
function merge(currentObject: PolicyObject, desiredObject: PolicyObject, annotation: string): PolicyObject | undefined {
  if (isProtected(currentObject, annotation)) return undefined;
  const labels = { ...desiredObject.metadata.labels, ...currentObject.metadata.labels };
  const annotations = { ...desiredObject.metadata.annotations, ...currentObject.metadata.annotations };
  const metadata = { ...currentObject.metadata, labels, annotations };
  const merged =
    isBinding(currentObject) || isBinding(desiredObject)
      ? {
          ...currentObject,
          metadata,
          ...missingSubjects(currentObject as BindingObject, desiredObject as BindingObject),
        }
      : { ...mergeRules(currentObject, desiredObject), metadata };
  return jsonEqual(currentObject, merged) ? undefined : merged;
}

function missingSubjects(currentObject: BindingObject, desiredObject: BindingObject): Pick<BindingObject, 'subjects'> {
  const has = currentObject.subjects ?? [];
  const missing = (desiredObject.subjects ?? []).filter((subject) => !has.some((one) => sameSubject(one, subject)));
  return missing.length === 0 ? {} : { subjects: [...has, ...missing] };
}

/** The role with the missing rules and selectors, and without an aggregation rule that it should not have. */
function mergeRules({ aggregationRule, ...currentObject }: RoleObject, desiredObject: RoleObject): RoleObject {
  const rules = currentObject.rules ?? [];
  const missing = missingRules(rules, desiredObject.rules ?? []);
  const merged = missing.length === 0 ? currentObject : { ...currentObject, rules: [...rules, ...missing] };
  if (desiredObject.aggregationRule === undefined) return merged;
  const selectors = aggregationRule?.clusterRoleSelectors ?? [];
  const missingSelectors = (desiredObject.aggregationRule.clusterRoleSelectors ?? []).filter(
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
 * The part of an older object that a missing one takes over, so that changes by users are not lost when a default object is
 * split: the rules of a user-facing role that is not yet aggregated, and the subjects of the discovery binding.
 */
function seedOf(desiredObject: PolicyObject, byKey: ReadonlyMap<string, PolicyObject>): PolicyObject | undefined {
  const { name } = desiredObject.metadata;
  if (isBinding(desiredObject)) {
    if (name !== 'system:public-info-viewer') return undefined;
    const source = byKey.get(`${desiredObject.kind}//system:discovery`);
    if (source === undefined || !isBinding(source)) return undefined;
    return {
      ...desiredObject,
      metadata: seedMetadata(desiredObject, source),
      ...(source.subjects && { subjects: source.subjects }),
    };
  }
  const [, role] = /^system:aggregate-to-(\w+)$/.exec(name) ?? [];
  const source = role === undefined ? undefined : byKey.get(`${desiredObject.kind}//${role}`);
  if (source === undefined || isBinding(source) || source.aggregationRule !== undefined) return undefined;
  return { ...desiredObject, metadata: seedMetadata(desiredObject, source), rules: source.rules ?? [] };
}

const seedMetadata = ({ metadata: { name } }: PolicyObject, { metadata: { labels, annotations } }: PolicyObject) => ({
  name,
  ...(labels && { labels }),
  ...(annotations && { annotations }),
});
