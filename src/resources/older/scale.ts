/** The `scale` subresource of the beta versions of workloads, which have a Scale of their own. */
import { type ApiObject, at, isJsonObject, type JsonObject, parseGroupVersion } from '../../meta/index.ts';
import type { Subresource } from '../../registry/index.ts';
import { field, int32, map, string, struct } from '../../schema/index.ts';
import { ObjectMeta, typeMeta } from '../../types/meta-v1.ts';
import { scale } from '../shared/scale.ts';

/** Reads and writes `Scale` of this version, whose status has the labels of a selector, and the selector as a text. */
export function olderScale(groupVersion: string): Subresource {
  const ScaleSpec = struct(`${groupVersion}.ScaleSpec`, { replicas: field(1, int32) });
  const ScaleStatus = struct(`${groupVersion}.ScaleStatus`, {
    replicas: field(1, int32, { required: true, emptyOk: true, always: true }),
    selector: field(2, map(string), groupVersion === 'apps/v1beta1' ? {} : { mapType: 'atomic' }),
    targetSelector: field(3, string),
  });
  const schema = struct(`${groupVersion}.Scale`, {
    ...typeMeta,
    metadata: field(1, ObjectMeta),
    spec: field(2, ScaleSpec),
    status: field(3, ScaleStatus),
  });
  const { group = '', version = '' } = parseGroupVersion(groupVersion) ?? {};
  const { projection, ...current } = scale();
  return {
    ...current,
    name: 'scale',
    verbs: ['get', 'patch', 'update'],
    group,
    version,
    schema,
    projection: {
      ...projection,
      read: (object) => {
        const shown = projection.read(object);
        return { ...shown, apiVersion: groupVersion, status: statusOf(object, shown) };
      },
    },
  };
}

function statusOf(object: ApiObject, { status }: ApiObject): JsonObject {
  const { selector: targetSelector, ...rest } = isJsonObject(status) ? status : {};
  if (targetSelector === undefined) return rest;
  const labels = at(object, 'spec', 'selector', 'matchLabels');
  const expressions = at(object, 'spec', 'selector', 'matchExpressions');
  const isPlain = isJsonObject(labels) && (!Array.isArray(expressions) || expressions.length === 0);
  return { ...rest, ...(isPlain ? { selector: labels } : {}), targetSelector };
}
