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

// What plugins read has been decoded against the kind's schema: only what is optional may be absent.

export const textOf = (value: Json | undefined): string => (typeof value === 'string' ? value : '');
export const numberOf = (value: Json | undefined): number | undefined =>
  typeof value === 'number' ? value : undefined;
export const fieldsOf = (value: Json | undefined): JsonObject => (isJsonObject(value) ? value : {});
export const objectsOf = (value: Json | undefined): JsonObject[] =>
  Array.isArray(value) ? value.filter(isJsonObject) : [];
export const textsOf = (value: Json | undefined): string[] =>
  Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];

/** The object below a field, put there when there is none. */
export function fieldsAt(object: JsonObject, field: string): JsonObject {
  const found = object[field];
  if (isJsonObject(found)) return found;
  const made: JsonObject = {};
  object[field] = made;
  return made;
}

/** The list below a field, put there when there is none. */
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

/** Containers of a pod that start before the others. */
export const initContainersOf = (spec: JsonObject): JsonObject[] => objectsOf(spec['initContainers']);
export const containersOf = (spec: JsonObject): JsonObject[] => objectsOf(spec['containers']);
/** All containers of a pod, in the order in which messages name them. */
export const allContainersOf = (spec: JsonObject): JsonObject[] => [
  ...initContainersOf(spec),
  ...containersOf(spec),
  ...objectsOf(spec['ephemeralContainers']),
];

/** Whether the node agent made the pod itself and only shows it here. */
export const isMirror = (pod: ApiObject, { labels }: Names): boolean =>
  annotationOf(pod, `${labels}/config.mirror`) !== undefined;

/** The refusal of a request by a plugin. Where no name is known yet, it tells what one is to begin with. */
export const forbidden = ({ resource, name, object }: AdmissionRequest, why: string): StatusError =>
  statusError.forbidden(resource, name || (object?.metadata.generateName ?? 'Unknown'), why);

/** What is wrong with the server's own configuration, or with that of a namespace: no reason of the wire fits. */
export const misconfigured = (why: string): StatusError => new StatusError(500, '', why);

type Operations = readonly AdmissionPlace['operation'][];

/** Meant for these operations on these resources themselves; `pods/resize` names a subresource. */
export function on(operations: Operations, ...resources: readonly string[]): (place: AdmissionPlace) => boolean {
  return ({ operation, resource, subresource }) =>
    operations.includes(operation) && resources.includes(subresource === '' ? resource : `${resource}/${subresource}`);
}

/** Several findings as one text: the same is told once. */
export function listed(findings: readonly string[]): string {
  const texts = [...new Set(findings)];
  return texts.length === 1 ? (texts[0] ?? '') : `[${texts.join(', ')}]`;
}

export const byName = (a: ApiObject, b: ApiObject): number =>
  (a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1;

/** Of objects that say by an annotation that they are the default, the youngest; of those, the first by name. */
export function defaultOf(objects: readonly ApiObject[], keys: readonly string[]): ApiObject | undefined {
  const marked = objects.filter((object) => keys.some((key) => annotationOf(object, key) === 'true'));
  const age = ({ metadata }: ApiObject) => Date.parse(metadata.creationTimestamp ?? '') || 0;
  return marked.sort((a, b) => age(b) - age(a) || byName(a, b))[0];
}
