import {
  type ApiObject,
  at,
  escapeHtml,
  isJsonObject,
  type Json,
  type JsonObject,
  jsonCopy,
  type Names,
  type ObjectMeta,
  readJsonText,
  StatusError,
  setKey,
} from '../../meta/index.ts';
import { compile, type StructSchema } from '../../schema/index.ts';
import * as v1 from '../../types/autoscaling-v1.ts';
import { HorizontalPodAutoscalerBehavior } from '../../types/autoscaling-v2.ts';
import { internalForm } from '../shared/internal-go-form.ts';
import { metricFromV1, metricToV1 } from './metrics.conversion.ts';

// autoscaling/v1 has one metric, the CPU utilization. All other fields of the stored v2 object are carried as JSON in
// annotations, so that a round trip through v1 loses nothing.
const annotationNames = ['metrics', 'behavior', 'current-metrics', 'conditions'] as const;

const keyOf = (annotation: (typeof annotationNames)[number], names: Names): string =>
  `autoscaling.alpha.${names.labels}/${annotation}`;

/** Removes the annotations that carry v2 fields in v1. */
export function dropV1Annotations({ metadata }: { metadata: ObjectMeta }, names: Names): void {
  const { annotations = {} } = metadata;
  const keys = annotationNames.map((annotation) => keyOf(annotation, names));
  if (!keys.some((key) => Object.hasOwn(annotations, key))) return;
  setAnnotations(
    metadata,
    Object.entries(annotations).filter(([key]) => !keys.includes(key)),
  );
}

export function toV2(object: ApiObject, names: Names): ApiObject {
  const out = parts(object, 'autoscaling/v2');
  const { spec, status } = out;
  const { targetCPUUtilizationPercentage: target, currentCPUUtilizationPercentage: current } = { ...spec, ...status };
  delete spec['targetCPUUtilizationPercentage'];
  delete status['currentCPUUtilizationPercentage'];
  const carried = (annotation: (typeof annotationNames)[number]) =>
    readJsonText(object.metadata.annotations?.[keyOf(annotation, names)] ?? '');
  const cpu = (side: JsonObject): JsonObject => ({ type: 'Resource', resource: { name: 'cpu', ...side } });

  const metrics = readList(carried('metrics'), v1.MetricSpec, names)?.map((metric) => metricFromV1(metric, 'target'));
  spec['metrics'] = [
    ...(metrics ?? []),
    ...(target === undefined ? [] : [cpu({ target: { type: 'Utilization', averageUtilization: target } })]),
  ];
  const behavior = carried('behavior');
  if (isJsonObject(behavior)) spec['behavior'] = inWireNames(behavior);
  // The CPU metric of the annotation has more fields than the percentage.
  const seen = readList(carried('current-metrics'), v1.MetricStatus, names)?.map((one) => metricFromV1(one, 'current'));
  if (seen !== undefined) status['currentMetrics'] = seen;
  else if (current !== undefined) status['currentMetrics'] = [cpu({ current: { averageUtilization: current } })];
  const conditions = readList(carried('conditions'), v1.HorizontalPodAutoscalerCondition, names);
  if (conditions !== undefined) status['conditions'] = conditions;
  dropV1Annotations(out, names);
  return out;
}

export function fromV2(object: ApiObject, names: Names): ApiObject {
  const out = parts(object, 'autoscaling/v1');
  const { spec, status } = out;
  const [metrics, seen, conditions] = [spec['metrics'], status['currentMetrics'], status['conditions']].map(listOf);
  const utilization = (metric: Json, side: 'target' | 'current') =>
    isCpu(metric) ? at(metric, 'resource', side, 'averageUtilization') : undefined;
  const first = metrics?.find(isCpu);
  const target = first === undefined ? undefined : utilization(first, 'target');
  const current = seen?.map((metric) => utilization(metric, 'current')).findLast((share) => share !== undefined);
  if (target !== undefined) spec['targetCPUUtilizationPercentage'] = target;
  if (current !== undefined) status['currentCPUUtilizationPercentage'] = current;

  const annotations = { ...out.metadata.annotations };
  const carry = (annotation: (typeof annotationNames)[number], value: Json) => {
    annotations[keyOf(annotation, names)] = encode(value);
  };
  const carryList = (annotation: (typeof annotationNames)[number], list: Json[] | undefined, schema: StructSchema) => {
    if (list === undefined || list.length === 0) return;
    carry(annotation, readList(list, schema, names) ?? []);
  };
  const others = metrics?.filter((metric) => utilization(metric, 'target') === undefined);
  carryList(
    'metrics',
    others?.map((metric) => metricToV1(metric, 'target')),
    v1.MetricSpec,
  );
  carryList(
    'current-metrics',
    seen?.map((metric) => metricToV1(metric, 'current')),
    v1.MetricStatus,
  );
  carryList('conditions', conditions, v1.HorizontalPodAutoscalerCondition);
  const { behavior } = spec;
  if (isJsonObject(behavior)) carry('behavior', internalForm(behavior, HorizontalPodAutoscalerBehavior));
  setAnnotations(out.metadata, Object.entries(annotations));
  return compile(v1.HorizontalPodAutoscaler, names).decode(out).value as ApiObject;
}

const isCpu = (metric: Json): boolean => at(metric, 'type') === 'Resource' && at(metric, 'resource', 'name') === 'cpu';

const listOf = (value: Json | undefined): Json[] | undefined => (Array.isArray(value) ? value : undefined);

type Parts = ApiObject & { spec: JsonObject; status: JsonObject };

/** A copy with another apiVersion and empty spec and status. */
function parts(object: ApiObject, apiVersion: string): Parts {
  const { spec, status, ...rest } = jsonCopy(object) as ApiObject;
  const part = (value: Json | undefined): JsonObject => (isJsonObject(value) ? value : {});
  return { ...rest, apiVersion, kind: object.kind, metadata: rest.metadata, spec: part(spec), status: part(status) };
}

function setAnnotations(metadata: ObjectMeta, entries: readonly (readonly [string, string])[]): void {
  if (entries.length === 0) delete metadata.annotations;
  else metadata.annotations = Object.fromEntries([...entries].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** JSON as Go encodes it, HTML escaped. */
const encode = (value: Json): string => escapeHtml(JSON.stringify(value));

/** The decoded entries; undefined when the value is not a list of this type. */
function readList(value: Json | undefined, schema: StructSchema, names: Names): JsonObject[] | undefined {
  if (!Array.isArray(value)) return undefined;
  try {
    return value.map((entry) => compile(schema, names).decode(entry).value as JsonObject);
  } catch (error) {
    if (error instanceof StatusError) return undefined;
    throw error;
  }
}

/** Field names as on the wire: the annotations spell them with a capital. */
function inWireNames(value: Json): Json {
  if (Array.isArray(value)) return value.map(inWireNames);
  if (!isJsonObject(value)) return value;
  const out: JsonObject = {};
  for (const [name, part] of Object.entries(value)) {
    setKey(out, name.charAt(0).toLowerCase() + name.slice(1), inWireNames(part));
  }
  return out;
}
