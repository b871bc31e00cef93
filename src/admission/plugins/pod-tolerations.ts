import { annotationOf, isJsonObject, readJsonText } from '../../meta/index.ts';
import { qosClass } from '../../rules/index.ts';
import { Namespace, Pod, type Toleration } from '../../types/core-v1.ts';
import { misconfigured, on, typedRequest } from '../request.ts';
import type { AdmissionPlugin, AdmissionRequest, PluginInitializer } from '../types.ts';
import { isSuperset, mergeTolerations } from './tolerations.ts';

/**
 * Adds the default tolerations of the namespace to its pods, and enforces its toleration whitelist. A namespace without
 * the annotation of either has that of the configuration.
 */
export function podTolerations({
  names,
  objects,
  configurations,
}: Pick<PluginInitializer, 'names' | 'objects' | 'configurations'>): AdmissionPlugin {
  const { labels } = names;
  const { default: clusterDefault = [], whitelist = [] } = configurations.PodTolerationRestriction ?? {};
  /** Undefined without the annotation. */
  const listIn = async ({ namespace }: AdmissionRequest, key: string): Promise<Toleration[] | undefined> => {
    const found = await objects.get(Namespace, '', namespace);
    const text = found && annotationOf(found, `scheduler.alpha.${labels}/${key}`);
    return text === undefined ? undefined : readTolerations(text);
  };
  const check = async (request: AdmissionRequest): Promise<void> => {
    const requestedTolerations = typedRequest(Pod, request).object?.spec?.tolerations ?? [];
    if (requestedTolerations.length === 0) return;
    const own = await listIn(request, 'tolerationsWhitelist');
    const allowed = own ?? whitelist;
    if (allowed.length === 0 || requestedTolerations.every((one) => allowed.some((wide) => isSuperset(wide, one))))
      return;
    const what = 'pod tolerations (possibly merged with namespace default tolerations)';
    throw misconfigured(`${what} conflict with its ${own === undefined ? 'cluster' : 'namespace'} whitelist`);
  };
  return {
    name: 'PodTolerationRestriction',
    handles: on(['CREATE', 'UPDATE'], 'pods'),
    mutate: async (request) => {
      const { object: pod, operation } = typedRequest(Pod, request);
      if (pod === undefined) return;
      pod.spec ??= {};
      const { spec } = pod;
      const added = operation === 'CREATE' ? await listIn(request, 'defaultTolerations') : [];
      const more = [...(added ?? clusterDefault)];
      if (qosClass(spec) !== 'BestEffort') {
        more.push({ key: `node.${labels}/memory-pressure`, operator: 'Exists', effect: 'NoSchedule' });
      }
      if (more.length > 0) spec.tolerations = mergeTolerations(spec.tolerations ?? [], more);
      return check(request);
    },
    validate: check,
  };
}

const fields = { key: 'string', operator: 'string', value: 'string', effect: 'string', tolerationSeconds: 'number' };

/** Parses the tolerations of an annotation (JSON). @throws StatusError 500 when they are invalid */
function readTolerations(text: string): Toleration[] {
  if (text === '') return [];
  const list = readJsonText(text);
  if (!Array.isArray(list) || !list.every(isJsonObject)) {
    throw misconfigured('the tolerations of the namespace cannot be read: they must be a JSON list of objects');
  }
  return list.map(
    (one): Toleration =>
      Object.fromEntries(
        Object.entries(fields).flatMap(([field, type]) => {
          const value = Object.hasOwn(one, field) ? one[field] : undefined;
          return value !== undefined && typeof value === type ? [[field, value]] : [];
        }),
      ),
  );
}
