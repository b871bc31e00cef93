import {
  type ApiObject,
  at,
  isJsonObject,
  type Json,
  type JsonObject,
  jsonCopy,
  type Names,
} from '../../meta/index.ts';

// autoscaling/v1 tells of one metric, the utilization of the CPU. What else the stored v2 object says travels as JSON
// in these annotations, so that an object read as v1 and written back loses nothing.
const carried = [
  { part: 'spec', field: 'metrics', annotation: 'metrics' },
  { part: 'spec', field: 'behavior', annotation: 'behavior' },
  { part: 'status', field: 'currentMetrics', annotation: 'current-metrics' },
  { part: 'status', field: 'conditions', annotation: 'conditions' },
] as const;

export function toV2(object: ApiObject, names: Names): ApiObject {
  const out = parts(object, 'autoscaling/v2');
  const annotations = { ...out.metadata.annotations };
  for (const { part, field, annotation } of carried) {
    const key = `autoscaling.alpha.${names.labels}/${annotation}`;
    const value = parse(annotations[key]);
    delete annotations[key];
    if (value !== undefined) out[part][field] = value;
  }
  setAnnotations(out, annotations);
  fold(out.spec, 'targetCPUUtilizationPercentage', 'metrics', (averageUtilization) => ({
    target: { type: 'Utilization', averageUtilization },
  }));
  fold(out.status, 'currentCPUUtilizationPercentage', 'currentMetrics', (averageUtilization) => ({
    current: { averageUtilization },
  }));
  return out;
}

export function fromV2(object: ApiObject, names: Names): ApiObject {
  const out = parts(object, 'autoscaling/v1');
  unfold(out.spec, 'metrics', 'target', 'targetCPUUtilizationPercentage');
  unfold(out.status, 'currentMetrics', 'current', 'currentCPUUtilizationPercentage');
  const annotations = { ...out.metadata.annotations };
  for (const { part, field, annotation } of carried) {
    const value = out[part][field];
    delete out[part][field];
    if (value === undefined || value === null) continue;
    annotations[`autoscaling.alpha.${names.labels}/${annotation}`] = JSON.stringify(value);
  }
  setAnnotations(out, annotations);
  return out;
}

type Parts = ApiObject & { spec: JsonObject; status: JsonObject };

/** A copy under another version, with both parts there to be filled. */
function parts(object: ApiObject, apiVersion: string): Parts {
  const { spec, status, ...rest } = jsonCopy(object) as ApiObject;
  const part = (value: Json | undefined): JsonObject => (isJsonObject(value) ? value : {});
  return { ...rest, apiVersion, kind: object.kind, metadata: rest.metadata, spec: part(spec), status: part(status) };
}

function setAnnotations(object: ApiObject, annotations: { [key: string]: string }): void {
  if (Object.keys(annotations).length === 0) delete object.metadata.annotations;
  else object.metadata.annotations = annotations;
}

/** JSON of an annotation; undefined when there is none, or none that can be read. */
function parse(text: string | undefined): Json | undefined {
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

/** Turns the percentage of v1 into the first entry of the list of v2. */
function fold(part: JsonObject, percentage: string, list: string, resource: (value: Json) => JsonObject): void {
  const value = part[percentage];
  delete part[percentage];
  if (value === undefined) return;
  const others = part[list];
  part[list] = [
    { type: 'Resource', resource: { name: 'cpu', ...resource(value) } },
    ...(Array.isArray(others) ? others : []),
  ];
}

/** Takes the CPU's utilization out of the list of v2. */
function unfold(part: JsonObject, list: string, side: 'target' | 'current', percentage: string): void {
  const metrics = part[list];
  if (!Array.isArray(metrics)) return;
  const isCpu = (metric: Json) =>
    at(metric, 'type') === 'Resource' &&
    at(metric, 'resource', 'name') === 'cpu' &&
    at(metric, 'resource', side, 'averageUtilization') !== undefined;
  const found = metrics.findIndex(isCpu);
  if (found < 0) return;
  part[percentage] = at(metrics[found], 'resource', side, 'averageUtilization') ?? null;
  const others = metrics.filter((_, i) => i !== found);
  if (others.length === 0) delete part[list];
  else part[list] = others;
}
