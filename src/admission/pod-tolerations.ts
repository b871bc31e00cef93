import { isJsonObject, type Json, type JsonObject } from '../meta/index.ts';
import { annotationOf, fieldsAt, misconfigured, objectsOf, on, specOf } from './fields.ts';
import { isBestEffort } from './resource-list.ts';
import { isSuperset, mergeTolerations } from './tolerations.ts';
import type { AdmissionPlugin, AdmissionRequest, PluginInitializer } from './types.ts';

/** Adds the default tolerations of the namespace to its pods, and enforces its toleration whitelist. */
export function podTolerations({ names, objects }: Pick<PluginInitializer, 'names' | 'objects'>): AdmissionPlugin {
  const { labels } = names;
  const listIn = async ({ namespace }: AdmissionRequest, key: string): Promise<JsonObject[]> => {
    const found = await objects.get('namespaces', '', namespace);
    return readTolerations(found && annotationOf(found, `scheduler.alpha.${labels}/${key}`));
  };
  const check = async (request: AdmissionRequest): Promise<void> => {
    const given = objectsOf(specOf(request.object)['tolerations']);
    if (given.length === 0) return;
    const allowed = await listIn(request, 'tolerationsWhitelist');
    if (allowed.length === 0 || given.every((one) => allowed.some((wide) => isSuperset(wide, one)))) return;
    const what = 'pod tolerations (possibly merged with namespace default tolerations)';
    throw misconfigured(`${what} conflict with its namespace whitelist`);
  };
  return {
    name: 'PodTolerationRestriction',
    handles: on(['CREATE', 'UPDATE'], 'pods'),
    mutate: async (request) => {
      const { object: pod, operation } = request;
      if (pod === undefined) return;
      const spec = fieldsAt(pod, 'spec');
      const more = operation === 'CREATE' ? await listIn(request, 'defaultTolerations') : [];
      if (!isBestEffort(spec)) {
        more.push({ key: `node.${labels}/memory-pressure`, operator: 'Exists', effect: 'NoSchedule' });
      }
      if (more.length > 0) spec['tolerations'] = mergeTolerations(objectsOf(spec['tolerations']), more);
      return check(request);
    },
    validate: check,
  };
}

const fields = { key: 'string', operator: 'string', value: 'string', effect: 'string', tolerationSeconds: 'number' };

/** Parses the tolerations of an annotation (JSON). @throws StatusError 500 when they are invalid */
function readTolerations(text = ''): JsonObject[] {
  if (text === '') return [];
  let list: Json;
  try {
    list = JSON.parse(text) as Json;
  } catch (error) {
    throw misconfigured(`the tolerations of the namespace cannot be read: ${String(error)}`);
  }
  if (!Array.isArray(list) || !list.every(isJsonObject)) {
    throw misconfigured('the tolerations of the namespace cannot be read: they must be a list of objects');
  }
  return list.map((one) =>
    Object.fromEntries(
      Object.entries(fields).flatMap(([field, type]) => {
        const value = Object.hasOwn(one, field) ? one[field] : undefined;
        return value !== undefined && typeof value === type ? [[field, value]] : [];
      }),
    ),
  );
}
