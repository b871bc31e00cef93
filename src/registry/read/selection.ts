import type { CachedObject } from '../../cache/index.ts';
import {
  type FieldSelector,
  type FieldTerm,
  type LabelRequirement,
  quote,
  type ReceivedSelector,
  statusError,
} from '../../meta/index.ts';
import type { Resource } from '../resource/resource.ts';
import { keyOf } from '../resource/target.ts';
import { isUnconverted } from '../stored/format.ts';
import type { ReadOptions, Target } from '../types.ts';

/** The namespace, name and selectors of a request, compiled once. */
export interface Selection {
  /** Empty: all of them. */
  readonly namespace: string;
  /** Empty: every name. */
  readonly name: string;
  /** An indexed field and the value that the selector requires. */
  readonly field: { readonly path: string; readonly value: string } | undefined;
  /**
   * Whether an object of that namespace and name matches the selectors; undefined without selectors. One that a webhook
   * is yet to convert matches by its stored labels.
   */
  readonly matches: ((object: CachedObject) => boolean) | undefined;
  /** The requirements of `matches` on labels; empty without a label selector. */
  readonly labels: readonly LabelRequirement[];
  /** Whether an object that a webhook has converted matches the field selector; undefined where it matches anyway. */
  readonly matchesConverted: ((object: CachedObject) => boolean) | undefined;
  /** Whether there are selectors: `remainingItemCount` is unknown then. */
  readonly filtered: boolean;
  /** The number of requirements that each object is tested for. */
  readonly cost: number;
}

/** @throws StatusError 400 for a malformed selector, and for a field that is not selectable */
export function select(target: Target, { labelSelector, fieldSelector }: ReadOptions): Selection {
  const { resource } = target;
  const labels = selectorOf(labelSelector);
  const fields = selectorOf(fieldSelector);
  const terms = fields === undefined ? [] : fields.terms;
  for (const { field } of terms) checkField(resource, field);
  const namespace = target.namespace || (resource.definition.namespaced ? required(fields, 'metadata.namespace') : '');
  const name = target.name || required(fields, 'metadata.name');
  const tested = terms.filter((term) => !isImplied(term, target.resource, { namespace, name }));
  const byLabels = labels !== undefined && labels.requirements.length > 0;
  const { format } = resource;
  const byFields =
    tested.length === 0 ? undefined : (object: CachedObject) => tested.every((term) => holds(term, object));
  const converts = byFields !== undefined && format.custom?.webhook !== undefined;
  const mayMatch = converts
    ? (object: CachedObject) => isUnconverted(format, object.bytes) || byFields(object)
    : byFields;
  return {
    namespace,
    name,
    field: indexedField(resource, fields),
    matches: byLabels ? (object) => labels.matches(object.labels) && mayMatch?.(object) !== false : mayMatch,
    labels: labels?.requirements ?? [],
    matchesConverted: converts ? byFields : undefined,
    filtered: byLabels || terms.length > 0,
    cost: (labels?.requirements.length ?? 0) + tested.length,
  };
}

function selectorOf<S>(received: ReceivedSelector<S> | undefined): S | undefined {
  if (received?.error !== undefined) throw received.error;
  return received?.selector;
}

const required = (fields: FieldSelector | undefined, field: string) => fields?.requires(field) ?? '';

function indexedField(resource: Resource, fields: FieldSelector | undefined): Selection['field'] {
  for (const { path, indexed } of fields === undefined ? [] : resource.definition.selectableFields) {
    const value = indexed === true ? fields?.requires(path) : undefined;
    if (value !== undefined) return { path, value };
  }
  return undefined;
}

function checkField({ definition }: Resource, path: string): void {
  const { selectableFields, namespaced, custom } = definition;
  if (path === 'metadata.name') return;
  // A cluster-scoped kind with selectable fields of its own does not support the namespace.
  const own = custom !== undefined || selectableFields.length > 0;
  if (path === 'metadata.namespace' && (namespaced || !own)) return;
  if (selectableFields.some((field) => field.path === path)) return;
  throw statusError.badRequest(
    own
      ? `field label not supported: ${path}`
      : `${quote(path)} is not a known field selector: only "metadata.name", "metadata.namespace"`,
  );
}

/** Whether every object of the namespace and name of a selection has what a term requires. */
function isImplied(
  { field, value, not }: FieldTerm,
  resource: Resource,
  place: Pick<Target, 'namespace' | 'name'>,
): boolean {
  if (not || value === '') return false;
  if (field === 'metadata.namespace') return value === place.namespace;
  return field === 'metadata.name' && value === place.name && keyOf(resource, place) !== undefined;
}

function holds({ field, value, not }: FieldTerm, object: CachedObject): boolean {
  const actual =
    field === 'metadata.name' ? object.name : field === 'metadata.namespace' ? object.namespace : object.fields[field];
  return ((actual ?? '') === value) !== not;
}
