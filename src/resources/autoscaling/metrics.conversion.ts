/** Converts metric sources between v2 and v1, where each value is a field of its own. */
import { at, isJsonObject, type Json, type JsonObject } from '../../meta/index.ts';

/** Target or current value of a metric. */
type Side = 'target' | 'current';

/** Path in v2, with `*` for the side, and field name in v1. */
type Pair = readonly [path: string, field: string];

const resource: readonly Pair[] = [
  ['name', 'name'],
  ['*.averageUtilization', '*AverageUtilization'],
  ['*.averageValue', '*AverageValue'],
];

const sources: { readonly [name: string]: readonly Pair[] } = {
  object: [
    ['describedObject', 'target'],
    ['metric.name', 'metricName'],
    ['metric.selector', 'selector'],
    ['*.value', '*Value'],
    ['*.averageValue', 'averageValue'],
  ],
  pods: [
    ['metric.name', 'metricName'],
    ['metric.selector', 'selector'],
    ['*.averageValue', '*AverageValue'],
  ],
  resource,
  containerResource: [...resource, ['container', 'container']],
  external: [
    ['metric.name', 'metricName'],
    ['metric.selector', 'metricSelector'],
    ['*.value', '*Value'],
    ['*.averageValue', '*AverageValue'],
  ],
};

/** v1 has no target type: it follows from the fields that are set. */
const typeOf: { readonly [name: string]: (target: JsonObject) => string } = {
  object: ({ averageValue }) => (averageValue === undefined ? 'Value' : 'AverageValue'),
  pods: () => 'AverageValue',
  resource: ({ averageUtilization }) => (averageUtilization === undefined ? 'AverageValue' : 'Utilization'),
  containerResource: ({ averageUtilization }) => (averageUtilization === undefined ? 'AverageValue' : 'Utilization'),
  external: ({ value }) => (value === undefined ? 'AverageValue' : 'Value'),
};

export function metricToV1(metric: Json, side: Side): JsonObject {
  return eachSource(metric, (source, name) => {
    const out: JsonObject = {};
    for (const [path, field] of sources[name] ?? []) {
      const value = at(source, ...path.replace('*', side).split('.'));
      if (value !== undefined) out[field.replace('*', side)] = value;
    }
    return out;
  });
}

export function metricFromV1(metric: Json, side: Side): JsonObject {
  return eachSource(metric, (source, name) => {
    const out: JsonObject = {};
    for (const [path, field] of sources[name] ?? []) {
      const value = source[field.replace('*', side)];
      const [head = '', inner] = path.replace('*', side).split('.');
      if (value === undefined) continue;
      if (inner === undefined) out[head] = value;
      else out[head] = { ...(out[head] as JsonObject | undefined), [inner]: value };
    }
    const target = isJsonObject(out[side]) ? out[side] : {};
    if (side === 'target') out[side] = { type: typeOf[name]?.(target) ?? '', ...target };
    return out;
  });
}

function eachSource(metric: Json, convert: (source: JsonObject, name: string) => JsonObject): JsonObject {
  const out: JsonObject = { type: at(metric, 'type') ?? '' };
  for (const name of Object.keys(sources)) {
    const source = at(metric, name);
    if (isJsonObject(source)) out[name] = convert(source, name);
  }
  return out;
}
