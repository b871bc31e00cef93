import { type ApiObject, type JsonObject, jsonCopy, setKey } from '../meta/index.ts';
import { fieldsAt, fieldsOf, forbidden, objectsOf, on, specOf, textOf } from './fields.ts';
import { equalResourceLists, parseResourceList } from './resource-list.ts';
import { mergeTolerations } from './tolerations.ts';
import type { AdmissionPlugin, AdmissionRequest, PluginInitializer } from './types.ts';

/** Sets overhead, node selector and tolerations of a pod from its runtime class. */
export function runtimeClass({ names, objects }: Pick<PluginInitializer, 'names' | 'objects'>): AdmissionPlugin {
  const classOf = async (request: AdmissionRequest, pod: ApiObject): Promise<ApiObject | undefined> => {
    const name = specOf(pod)['runtimeClassName'];
    if (name === undefined) return undefined;
    const found = await objects.get(`runtimeclasses.node.${names.domain}`, '', textOf(name));
    if (found !== undefined) return found;
    throw forbidden(request, `pod rejected: RuntimeClass ${JSON.stringify(textOf(name))} not found`);
  };
  return {
    name: 'RuntimeClass',
    handles: on(['CREATE'], 'pods'),
    mutate: async (request) => {
      const { object: pod } = request;
      const found = pod === undefined ? undefined : await classOf(request, pod);
      if (pod === undefined || found === undefined) return;
      const spec = specOf(pod);
      setOverhead(request, spec, found);
      setScheduling(request, spec, fieldsOf(found['scheduling']));
    },
    validate: async (request) => {
      const { object: pod } = request;
      if (pod === undefined) return;
      const found = await classOf(request, pod);
      const { overhead } = specOf(pod);
      if (found?.['overhead'] !== undefined) {
        if (!equalResourceLists(fixedOf(found), parseResourceList(overhead))) throw forbidden(request, mismatch);
      } else if (overhead !== undefined) {
        throw forbidden(request, 'pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead');
      }
    },
  };
}

const mismatch = "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead";

const fixedOf = ({ overhead }: ApiObject) => parseResourceList(fieldsOf(overhead)['podFixed']);

function setOverhead(request: AdmissionRequest, spec: JsonObject, found: ApiObject): void {
  if (found['overhead'] === undefined) return;
  const { overhead } = spec;
  if (overhead !== undefined && !equalResourceLists(fixedOf(found), parseResourceList(overhead)))
    throw forbidden(request, mismatch);
  const { podFixed } = fieldsOf(found['overhead']);
  if (podFixed !== undefined) spec['overhead'] = jsonCopy(podFixed);
}

function setScheduling(request: AdmissionRequest, spec: JsonObject, scheduling: JsonObject): void {
  const wanted = fieldsOf(scheduling['nodeSelector']);
  if (Object.keys(wanted).length > 0) {
    const selector = fieldsAt(spec, 'nodeSelector');
    for (const [key, value] of Object.entries(wanted)) {
      if (Object.hasOwn(selector, key) && selector[key] !== value) {
        const here = `runtimeClass.scheduling.nodeSelector[${key}] = ${textOf(value)}`;
        throw forbidden(request, `conflict: ${here}; pod.spec.nodeSelector[${key}] = ${textOf(selector[key])}`);
      }
      setKey(selector, key, value);
    }
  }
  const merged = mergeTolerations(objectsOf(spec['tolerations']), objectsOf(scheduling['tolerations']));
  if (merged.length > 0) spec['tolerations'] = jsonCopy(merged);
}
