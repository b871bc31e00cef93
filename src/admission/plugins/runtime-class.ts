import { getKey, jsonCopy, setKey } from '../../meta/index.ts';
import { equalQuantities, parseResourceList } from '../../rules/index.ts';
import { Pod, type PodSpec } from '../../types/core-v1.ts';
import { RuntimeClass } from '../../types/node-v1.ts';
import { forbidden, on, typedRequest } from '../request.ts';
import type { AdmissionPlugin, AdmissionRequest, PluginInitializer } from '../types.ts';
import { mergeTolerations } from './tolerations.ts';

/** Sets overhead, node selector and tolerations of a pod from its runtime class. */
export function runtimeClass({ objects }: Pick<PluginInitializer, 'objects'>): AdmissionPlugin {
  const classOf = async (request: AdmissionRequest, { runtimeClassName: name }: PodSpec) => {
    if (name === undefined) return undefined;
    const found = await objects.get(RuntimeClass, '', name);
    if (found !== undefined) return found;
    throw forbidden(request, `pod rejected: RuntimeClass ${JSON.stringify(name)} not found`);
  };
  return {
    name: 'RuntimeClass',
    handles: on(['CREATE'], 'pods'),
    mutate: async (request) => {
      const { spec } = typedRequest(Pod, request).object ?? {};
      if (spec === undefined) return;
      const found = await classOf(request, spec);
      if (found === undefined) return;
      setOverhead(request, spec, found);
      setScheduling(request, spec, found);
    },
    validate: async (request) => {
      const { spec } = typedRequest(Pod, request).object ?? {};
      if (spec === undefined) return;
      const found = await classOf(request, spec);
      const { overhead } = spec;
      if (found?.overhead !== undefined) {
        if (!equalQuantities(fixedOf(found), parseResourceList(overhead))) throw forbidden(request, mismatch);
      } else if (overhead !== undefined) {
        throw forbidden(request, 'pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead');
      }
    },
  };
}

const mismatch = "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead";

const fixedOf = ({ overhead }: RuntimeClass) => parseResourceList(overhead?.podFixed);

function setOverhead(request: AdmissionRequest, spec: PodSpec, found: RuntimeClass): void {
  if (found.overhead === undefined) return;
  const { overhead } = spec;
  if (overhead !== undefined && !equalQuantities(fixedOf(found), parseResourceList(overhead)))
    throw forbidden(request, mismatch);
  const { podFixed } = found.overhead;
  if (podFixed !== undefined) spec.overhead = jsonCopy(podFixed);
}

function setScheduling(request: AdmissionRequest, spec: PodSpec, { scheduling = {} }: RuntimeClass): void {
  const wanted = scheduling.nodeSelector ?? {};
  if (Object.keys(wanted).length > 0) {
    spec.nodeSelector ??= {};
    const selector = spec.nodeSelector;
    for (const [key, value] of Object.entries(wanted)) {
      const given = getKey(selector, key);
      if (given !== undefined && given !== value) {
        const here = `runtimeClass.scheduling.nodeSelector[${key}] = ${value}`;
        throw forbidden(request, `conflict: ${here}; pod.spec.nodeSelector[${key}] = ${given}`);
      }
      setKey(selector, key, value);
    }
  }
  const merged = mergeTolerations(spec.tolerations ?? [], scheduling.tolerations ?? []);
  if (merged.length > 0) spec.tolerations = jsonCopy(merged);
}
