import { parseAnyJsonInSteps, stringifyJsonInSteps } from '../../codec/index.ts';
import {
  type ApiObject,
  at,
  escapeHtml,
  getKey,
  isJsonObject,
  type Json,
  type JsonObject,
  jsonCopyInSteps,
  type Names,
  type ObjectMeta,
  Pace,
  StatusError,
  type Steps,
  weigh,
} from '../../meta/index.ts';
import { compile, resolve, type Schema, type StructSchema } from '../../schema/index.ts';
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

/** Converts an object of autoscaling/v1, in steps: its annotations may be as long as a body. */
export function* toV2(object: ApiObject, names: Names): Steps<ApiObject> {
  const out = yield* parts(object, 'autoscaling/v2');
  const { spec, status } = out;
  const { targetCPUUtilizationPercentage: target, currentCPUUtilizationPercentage: current } = { ...spec, ...status };
  delete spec['targetCPUUtilizationPercentage'];
  delete status['currentCPUUtilizationPercentage'];
  const carried = (annotation: (typeof annotationNames)[number]) =>
    readText(object.metadata.annotations?.[keyOf(annotation, names)] ?? '');
  const cpu = (side: JsonObject): JsonObject => ({ type: 'Resource', resource: { name: 'cpu', ...side } });

  const metrics = yield* readList(yield* carried('metrics'), v1.MetricSpec, names);
  spec['metrics'] = [
    ...((yield* eachInSteps(metrics, (metric) => metricFromV1(metric, 'target'))) ?? []),
    ...(target === undefined ? [] : [cpu({ target: { type: 'Utilization', averageUtilization: target } })]),
  ];
  const behavior = yield* carried('behavior');
  if (isJsonObject(behavior)) {
    spec['behavior'] = yield* inWireNames(behavior, HorizontalPodAutoscalerBehavior, new Pace());
  }
  // The CPU metric of the annotation has more fields than the percentage.
  const seen = yield* readList(yield* carried('current-metrics'), v1.MetricStatus, names);
  const seenMetrics = yield* eachInSteps(seen, (one) => metricFromV1(one, 'current'));
  if (seenMetrics !== undefined) status['currentMetrics'] = seenMetrics;
  else if (current !== undefined) status['currentMetrics'] = [cpu({ current: { averageUtilization: current } })];
  const conditions = yield* readList(yield* carried('conditions'), v1.HorizontalPodAutoscalerCondition, names);
  if (conditions !== undefined) status['conditions'] = conditions;
  dropV1Annotations(out, names);
  return out;
}

/** Converts a stored object to autoscaling/v1, in steps. */
export function* fromV2(object: ApiObject, names: Names): Steps<ApiObject> {
  const out = yield* parts(object, 'autoscaling/v1');
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
  const carry = function* (annotation: (typeof annotationNames)[number], value: Json) {
    annotations[keyOf(annotation, names)] = escapeHtml(yield* stringifyJsonInSteps(value));
  };
  const carryList = function* (
    annotation: (typeof annotationNames)[number],
    list: Json[] | undefined,
    schema: StructSchema,
  ) {
    if (list === undefined || list.length === 0) return;
    yield* carry(annotation, (yield* readList(list, schema, names)) ?? []);
  };
  const others = metrics?.filter((metric) => utilization(metric, 'target') === undefined);
  const [metricsToV1, seenToV1] = [
    yield* eachInSteps(others, (metric) => metricToV1(metric, 'target')),
    yield* eachInSteps(seen, (metric) => metricToV1(metric, 'current')),
  ];
  yield* carryList('metrics', metricsToV1, v1.MetricSpec);
  yield* carryList('current-metrics', seenToV1, v1.MetricStatus);
  yield* carryList('conditions', conditions, v1.HorizontalPodAutoscalerCondition);
  const { behavior } = spec;
  if (isJsonObject(behavior)) yield* carry('behavior', internalForm(behavior, HorizontalPodAutoscalerBehavior));
  setAnnotations(out.metadata, Object.entries(annotations));
  return (yield* compile(v1.HorizontalPodAutoscaler, names).decodeInSteps(out)).value as ApiObject;
}

const isCpu = (metric: Json): boolean => at(metric, 'type') === 'Resource' && at(metric, 'resource', 'name') === 'cpu';

const listOf = (value: Json | undefined): Json[] | undefined => (Array.isArray(value) ? value : undefined);

type Parts = ApiObject & { spec: JsonObject; status: JsonObject };

/** A copy with another apiVersion and empty spec and status. */
function* parts(object: ApiObject, apiVersion: string): Steps<Parts> {
  const { spec, status, ...rest } = (yield* jsonCopyInSteps(object)) as ApiObject;
  const part = (value: Json | undefined): JsonObject => (isJsonObject(value) ? value : {});
  return { ...rest, apiVersion, kind: object.kind, metadata: rest.metadata, spec: part(spec), status: part(status) };
}

function setAnnotations(metadata: ObjectMeta, entries: readonly (readonly [string, string])[]): void {
  if (entries.length === 0) delete metadata.annotations;
  else metadata.annotations = Object.fromEntries([...entries].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** The JSON of an annotation; undefined when it is invalid, nests too deep or has too many members. */
function* readText(text: string): Steps<Json | undefined> {
  try {
    return (yield* parseAnyJsonInSteps(Buffer.from(text))).value;
  } catch (error) {
    if (error instanceof StatusError) return undefined;
    throw error;
  }
}

function* eachInSteps(list: readonly Json[] | undefined, convert: (item: Json) => Json): Steps<Json[] | undefined> {
  if (list === undefined) return undefined;
  const out: Json[] = [];
  const pace = new Pace();
  for (const item of list) {
    if (pace.over(weigh(item))) yield;
    out.push(convert(item));
  }
  return out;
}

/** The decoded entries; undefined when the value is not a list of this type. */
function* readList(value: Json | undefined, schema: StructSchema, names: Names): Steps<Json[] | undefined> {
  if (!Array.isArray(value)) return undefined;
  const type = compile(schema, names);
  try {
    return yield* eachInSteps(value, (entry) => type.decode(entry).value as JsonObject);
  } catch (error) {
    if (error instanceof StatusError) return undefined;
    throw error;
  }
}

/** The fields of a value of this type, with their names on the wire: the annotations spell them with a capital. */
function* inWireNames(value: Json, schema: Schema, pace: Pace): Steps<Json> {
  if (pace.over()) yield;
  const type = resolve(schema);
  if (type.type === 'list' && Array.isArray(value)) {
    const list: Json[] = [];
    for (const item of value) list.push(yield* inWireNames(item, type.element, pace));
    return list;
  }
  if (type.type !== 'struct' || !isJsonObject(value)) return value;
  const out: JsonObject = {};
  for (const [name, field] of Object.entries(type.fields)) {
    const part = getKey(value, name.charAt(0).toUpperCase() + name.slice(1)) ?? getKey(value, name);
    if (part !== undefined) out[name] = yield* inWireNames(part, field.schema, pace);
  }
  return out;
}
