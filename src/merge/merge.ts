import { isJsonObject, type Json, type JsonObject, jsonEqual, setKey } from '../meta/index.ts';
import { identityOf } from './fields-of.ts';
import { type ListShape, memberShape, type ObjectShape, type Shape, type StructShape } from './shape.ts';

/**
 * Merges an applied configuration into the live object. Entries of associative lists are matched by their keys and take
 * the order of the configuration; entries of the live object alone keep their position between them. Unchanged values
 * are those of the live object: a configuration that changes nothing gives the live object itself.
 */
export function merge(shape: StructShape, live: JsonObject, applyConfig: JsonObject): JsonObject {
  return merged(shape, live, applyConfig) as JsonObject;
}

function merged(shape: Shape, live: Json | undefined, applyConfig: Json): Json {
  switch (shape.kind) {
    case 'scalar':
      return replaced(live, applyConfig);
    case 'unowned':
      return applyConfig === null && live !== undefined ? live : replaced(live, applyConfig);
    case 'list': {
      if (shape.listType === 'atomic') return replaced(live, applyConfig);
      const old = Array.isArray(live) ? live : [];
      const wanted = Array.isArray(applyConfig) ? applyConfig : [];
      return old.length + wanted.length === 0 ? replaced(live, applyConfig) : mergedList(shape, old, wanted);
    }
    default:
      if (shape.kind !== 'untyped' && shape.atomic) return replaced(live, applyConfig);
      if (isJsonObject(applyConfig)) return mergedObject(shape, isJsonObject(live) ? live : undefined, applyConfig);
      return applyConfig === null && isJsonObject(live) && hasMembers(live) ? live : replaced(live, applyConfig);
  }
}

const replaced = (live: Json | undefined, applyConfig: Json): Json =>
  live !== undefined && jsonEqual(live, applyConfig) ? live : applyConfig;

function hasMembers(value: JsonObject): boolean {
  for (const _ in value) return true;
  return false;
}

function mergedObject(shape: ObjectShape, live: JsonObject | undefined, applyConfig: JsonObject): JsonObject {
  let out: JsonObject | undefined = live === undefined ? {} : undefined;
  for (const key in applyConfig) {
    const before = live !== undefined && Object.hasOwn(live, key) ? live[key] : undefined;
    const inner = memberShape(shape, key);
    const after = inner === undefined ? (applyConfig[key] as Json) : merged(inner, before, applyConfig[key] as Json);
    if (after === before) continue;
    // Spreading keeps `__proto__` as plain data.
    out ??= { ...(live as JsonObject) };
    setKey(out, key, after);
  }
  return out ?? (live as JsonObject);
}

function mergedList(shape: ListShape, live: Json[], applyConfig: Json[]): Json[] {
  if (applyConfig.length === 0) return live;
  const old = live.map((entry) => identityOf(shape, entry));
  const order = applyConfig.map((entry) => identityOf(shape, entry));
  const inStep = old.length === order.length && old.every((element, i) => element === order[i]);
  const out = inStep
    ? applyConfig.map((entry, i) => merged(shape.element, live[i], entry))
    : interleaved(shape, live, old, applyConfig, order);
  return out.length === live.length && out.every((entry, i) => entry === live[i]) ? live : out;
}

/** `old` and `order` are the identities of the live and the applied entries. */
function interleaved(shape: ListShape, live: Json[], old: string[], applyConfig: Json[], order: string[]): Json[] {
  const wanted = new Set(order);
  const known = new Map<string, Json | undefined>();
  // Duplicates of the live list are replaced, not merged.
  for (const [i, element] of old.entries()) known.set(element, known.has(element) ? undefined : live[i]);
  const sharedOrder = order.filter((element) => known.has(element));
  const out: Json[] = [];
  let next = 0;
  let shared = 0;
  const takeWanted = () => {
    const element = order[next] as string;
    if (element === sharedOrder[shared]) shared++;
    out.push(merged(shape.element, known.get(element), applyConfig[next] as Json));
    next++;
  };
  old.forEach((element, i) => {
    if (!wanted.has(element)) out.push(live[i] as Json);
    else if (element === sharedOrder[shared]) {
      const after = shared + 1;
      while (shared < after) takeWanted();
    } else if (shared === sharedOrder.length && next < order.length) takeWanted();
  });
  while (next < order.length) takeWanted();
  return out;
}
