import {
  type ApiObject,
  isJsonObject,
  type Json,
  type JsonObject,
  type Names,
  StatusError,
  statusError,
} from '../meta/index.ts';
import type { AdmissionPlace, AdmissionRequest } from './types.ts';

// Objects have been decoded against the schema of their kind: only optional fields may be absent.

export const textOf = (value: Json | undefined): string => (typeof value === 'string' ? value : '');
export const numberOf = (value: Json | undefined): number | undefined =>
  typeof value === 'number' ? value : undefined;
export const fieldsOf = (value: Json | undefined): JsonObject => (isJsonObject(value) ? value : {});
export const objectsOf = (value: Json | undefined): JsonObject[] =>
  Array.isArray(value) ? value.filter(isJsonObject) : [];
export const textsOf = (value: Json | undefined): string[] =>
  Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];

/** The object in a field, created if absent. */
export function fieldsAt(object: JsonObject, field: string): JsonObject {
  const found = object[field];
  if (isJsonObject(found)) return found;
  const made: JsonObject = {};
  object[field] = made;
  return made;
}

/** The list in a field, created if absent. */
export function listAt(object: JsonObject, field: string): Json[] {
  const found = object[field];
  if (Array.isArray(found)) return found;
  const made: Json[] = [];
  object[field] = made;
  return made;
}

export const specOf = (object: ApiObject | undefined): JsonObject => fieldsOf(object?.['spec']);
export const annotationOf = ({ metadata }: ApiObject, key: string): string | undefined => {
  const { annotations = {} } = metadata;
  return Object.hasOwn(annotations, key) ? annotations[key] : undefined;
};

export const initContainersOf = (spec: JsonObject): JsonObject[] => objectsOf(spec['initContainers']);
export const containersOf = (spec: JsonObject): JsonObject[] => objectsOf(spec['containers']);
/** Init containers, containers and ephemeral containers, in this order. */
export const allContainersOf = (spec: JsonObject): JsonObject[] => [
  ...initContainersOf(spec),
  ...containersOf(spec),
  ...objectsOf(spec['ephemeralContainers']),
];

/** Whether the pod is a mirror pod: created by a kubelet for a static pod. */
export const isMirrorPod = (pod: ApiObject, { labels }: Names): boolean =>
  annotationOf(pod, `${labels}/config.mirror`) !== undefined;

/** The 403 of a plugin. It names `generateName` while the name has not been generated. */
export const forbidden = ({ resource, name, object }: AdmissionRequest, why: string): StatusError =>
  statusError.forbidden(resource, name || (object?.metadata.generateName ?? 'Unknown'), why);

/** A 500 without a reason: the configuration of the server or of a namespace is invalid. */
export const misconfigured = (why: string): StatusError => new StatusError(500, '', why);

type Operations = readonly AdmissionPlace['operation'][];

/** Matches these operations on these resources; `pods/resize` names a subresource. */
export function on(operations: Operations, ...resources: readonly string[]): (place: AdmissionPlace) => boolean {
  return ({ operation, resource, subresource }) =>
    operations.includes(operation) && resources.includes(subresource === '' ? resource : `${resource}/${subresource}`);
}

/** Several error messages as one, without duplicates: `[a, b]`, or just `a`. */
export function aggregateMessages(messages: readonly string[]): string {
  const texts = [...new Set(messages)];
  return texts.length === 1 ? (texts[0] ?? '') : `[${texts.join(', ')}]`;
}

export const byName = (a: ApiObject, b: ApiObject): number =>
  (a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1;

/** The newest object that one of the annotations marks as the default; of the same age, the first by name. */
export function defaultOf(objects: readonly ApiObject[], keys: readonly string[]): ApiObject | undefined {
  const marked = objects.filter((object) => keys.some((key) => annotationOf(object, key) === 'true'));
  const age = ({ metadata }: ApiObject) => Date.parse(metadata.creationTimestamp ?? '') || 0;
  return marked.sort((a, b) => age(b) - age(a) || byName(a, b))[0];
}
