import { type FieldError, fieldError, getKey, isJsonObject, type Json, type Names } from '../../meta/index.ts';
import { eachOf } from './pod-spec/field-rules.ts';
import { jsonFault } from './secret-contents.ts';

/** What is wrong with the pods that a node would rather not run, as an annotation of old tells them. */
export function validateNodeAnnotations(annotations: Record<string, string>, { labels }: Names): FieldError[] {
  const key = `scheduler.alpha.${labels}/preferAvoidPods`;
  const path = 'metadata.annotations';
  const text = getKey(annotations, key) ?? '';
  if (text === '') return [];
  const fault = jsonFault(text);
  if (fault !== undefined) return [fieldError.invalid(`${path}.AvoidPods`, key, fault)];
  const avoided = inner(JSON.parse(text) as Json, 'preferAvoidPods');
  return eachOf(Array.isArray(avoided) ? avoided : [], `${path}.${key}`, (entry, at) => {
    const controller = inner(inner(entry, 'podSignature'), 'podController');
    if (controller === undefined || controller === null) return [fieldError.required(`${at}.PodSignature`)];
    if (inner(controller, 'controller') === true) return [];
    return [fieldError.invalid(`${at}.PodSignature.PodController.Controller`, false, 'must point to a controller')];
  });
}

/** What a value that may be anything has under the name. */
const inner = (value: Json | undefined, name: string): Json | undefined =>
  isJsonObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
