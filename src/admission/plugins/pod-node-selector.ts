import { annotationOf, getKey, setKey } from '../../meta/index.ts';
import { Namespace, Pod } from '../../types/core-v1.ts';
import { type LabelPairs, parseSelector } from '../configuration/selector.ts';
import { forbidden, misconfigured, on, typedRequest } from '../request.ts';
import type { AdmissionPlugin, AdmissionRequest, PluginInitializer } from '../types.ts';

/**
 * Merges the node selector of the namespace's annotation into its pods, or that of the cluster where there is no such
 * annotation. Pods of a namespace with a selector in the configuration have only the labels in their selectors.
 */
export function podNodeSelector({
  names,
  objects,
  configurations,
}: Pick<PluginInitializer, 'names' | 'objects' | 'configurations'>): AdmissionPlugin {
  const key = `scheduler.alpha.${names.labels}/node-selector`;
  const configured = configurations.PodNodeSelector?.podNodeSelectorPluginConfig ?? {};
  const clusterDefault = getKey(configured, 'clusterDefaultNodeSelector') ?? '';
  /** The node selector of the namespace. @throws StatusError 403 when it conflicts with that of the pod */
  const selectorFor = async (request: AdmissionRequest): Promise<LabelPairs> => {
    const namespace = await objects.get(Namespace, '', request.namespace);
    const selector = readSelector((namespace && annotationOf(namespace, key)) ?? clusterDefault);
    const podSelector = typedRequest(Pod, request).object?.spec?.nodeSelector ?? {};
    if (selector.some(([name, value]) => Object.hasOwn(podSelector, name) && podSelector[name] !== value)) {
      throw forbidden(request, 'pod node label selector conflicts with its namespace node label selector');
    }
    return selector;
  };
  const validate = async (request: AdmissionRequest): Promise<void> => {
    await selectorFor(request);
    const allowed = readSelector(getKey(configured, request.namespace) ?? '');
    if (allowed.length === 0) return;
    const podSelector = Object.entries(typedRequest(Pod, request).object?.spec?.nodeSelector ?? {});
    if (podSelector.every(([name, value]) => allowed.some((pair) => pair[0] === name && pair[1] === value))) return;
    throw forbidden(request, 'pod node label selector labels conflict with its namespace whitelist');
  };
  return {
    name: 'PodNodeSelector',
    handles: on(['CREATE'], 'pods'),
    mutate: async (request) => {
      const selector = await selectorFor(request);
      const { object: pod } = typedRequest(Pod, request);
      if (pod !== undefined && selector.length > 0) {
        pod.spec ??= {};
        pod.spec.nodeSelector ??= {};
        for (const [name, value] of selector) setKey(pod.spec.nodeSelector, name, value);
      }
      return validate(request);
    },
    validate,
  };
}

/** Parses `a=1,b=2`. @throws StatusError 500 when it is invalid */
function readSelector(text: string): LabelPairs {
  const selector = parseSelector(text);
  if (selector !== undefined) return selector;
  const part = text.split(',').find((one) => one.split('=').length !== 2) ?? '';
  throw misconfigured(
    `invalid selector: [${part
      .split('=')
      .map((word) => word.trim())
      .join(' ')}]`,
  );
}
