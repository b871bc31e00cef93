import { isJsonObject, type Json, type JsonObject, type Names } from '../meta/index.ts';
import {
  type EitherSchema,
  type Field,
  fieldsOf,
  remember,
  resolve,
  type Schema,
  type StructSchema,
  suits,
} from '../schema/index.ts';
import {
  inlinePlan,
  type Layout,
  listPlan,
  mapPlan,
  nothing,
  type Plan,
  putFields,
  putFieldsInSteps,
  singlePlan,
  takeFields,
  takeFieldsInSteps,
} from './protobuf-plans.ts';
import { type Codec, scalarCodecs, unfit } from './protobuf-scalars.ts';
import { SIZED } from './protobuf-wire.ts';

const codecs = new WeakMap<Names, WeakMap<StructSchema, Codec>>();

/** The codec of a struct, one for each `Names`; its fields are compiled on first use. */
export function structCodec(schema: StructSchema, names: Names): Codec {
  const known = remember(codecs, names, () => new WeakMap<StructSchema, Codec>());
  return remember(known, schema, () => makeStruct(schema, names));
}

function makeStruct(schema: StructSchema, names: Names): Codec {
  let layout: Layout | undefined;
  const getLayout = (): Layout => {
    layout ??= layoutOf([...fieldsOf(schema, names)], names);
    return layout;
  };
  return {
    wire: SIZED,
    put: (out, value) => {
      if (value !== undefined && value !== null && !isJsonObject(value)) throw unfit(schema.name);
      putFields(out, getLayout(), value ?? nothing);
    },
    *putInSteps(out, value) {
      if (!isJsonObject(value)) throw unfit(schema.name);
      yield* putFieldsInSteps(out, getLayout(), value);
    },
    take: (input, before) => {
      const target = isJsonObject(before) ? before : {};
      input.descend();
      takeFields(input, getLayout(), target);
      input.depth--;
      return target;
    },
    *takeInSteps(input, before) {
      const target = isJsonObject(before) ? before : {};
      input.descend();
      yield* takeFieldsInSteps(input, getLayout(), target);
      input.depth--;
      return target;
    },
    zero: () => ({}),
  };
}

/** `fields` are those of a message and of its embedded messages, whose fields are inlined in JSON. */
function layoutOf(fields: readonly (readonly [string, Field])[], names: Names): Layout {
  const plans: Plan[] = [];
  const inner = new Map<number, [string, Field][]>();
  for (const [name, field] of fields) {
    if (field.tag === 0) continue;
    if (field.via === undefined) {
      plans.push(fieldPlan(name, field, names));
      continue;
    }
    const { via, ...rest } = field;
    const group = inner.get(via.tag) ?? [];
    inner.set(via.tag, group);
    group.push([name, via.inner === undefined ? rest : { ...rest, via: via.inner }]);
  }
  for (const [tag, group] of inner) plans.push(inlinePlan(tag, layoutOf(group, names)));
  plans.sort((a, b) => a.tag - b.tag);
  return { plans, byTag: new Map(plans.map((plan) => [plan.tag, plan])) };
}

function fieldPlan(name: string, field: Field, names: Names): Plan {
  const schema = resolve(field.schema);
  if (field.protoMessage) return singlePlan(name, { ...field, nullable: true }, wrapped(schema, names));
  if (schema.type === 'list') return listPlan(name, field.tag, elementCodec(schema.element, names));
  if (schema.type === 'map') return mapPlan(name, field.tag, elementCodec(schema.value, names));
  return singlePlan(name, field, elementCodec(schema, names));
}

/** The codec of a single value or of an element of a list or map. */
function elementCodec(elementSchema: Schema, names: Names): Codec {
  const schema = resolve(elementSchema);
  switch (schema.type) {
    case 'struct':
      return structCodec(schema, names);
    case 'either':
      return eitherCodec(schema, names);
    case 'list':
    case 'map':
      return wrapped(schema, names);
    default:
      return scalarCodecs[schema.type];
  }
}

/** A list or map as a single value: a message with the field 1 `items`. */
function wrapped(schema: Schema, names: Names): Codec {
  const name = 'items';
  const layout = layoutOf([[name, { tag: 1, schema }]], names);
  const empty = (): Json => (resolve(schema).type === 'list' ? [] : {});
  return {
    wire: SIZED,
    put: (out, value) => putFields(out, layout, { [name]: value ?? null }),
    putInSteps: (out, value) => putFieldsInSteps(out, layout, { [name]: value ?? null }),
    take: (input) => {
      const target: JsonObject = {};
      takeFields(input, layout, target);
      return target[name] ?? empty();
    },
    *takeInSteps(input) {
      const target: JsonObject = {};
      yield* takeFieldsInSteps(input, layout, target);
      return target[name] ?? empty();
    },
    zero: empty,
  };
}

/**
 * A message with a field for each option. If one option is a boolean, it is true whenever another option is set; of
 * several other options the last one wins.
 */
function eitherCodec({ name, options }: EitherSchema, names: Names): Codec {
  const flag = options.findIndex((option) => resolve(option).type === 'bool');
  const plans = options.map((schema, i) => fieldPlan(String(i), { tag: i + 1, schema, nullable: i !== flag }, names));
  const layout: Layout = { plans, byTag: new Map(plans.map((plan) => [plan.tag, plan])) };
  const chosenFields = (value: Json | undefined): JsonObject => {
    if (value === undefined || value === null) return nothing;
    const chosen = options.findIndex((option) => suits(option, value));
    if (chosen < 0) throw unfit(name);
    return { [flag]: true, [chosen]: value };
  };
  const valueIn = (found: JsonObject): Json | undefined => {
    for (let i = options.length - 1; i >= 0; i--) {
      const value = found[i];
      if (value !== undefined && i !== flag) return value;
    }
    return flag < 0 ? undefined : found[flag] === true;
  };
  return {
    wire: SIZED,
    put: (out, value) => putFields(out, layout, chosenFields(value)),
    putInSteps: (out, value) => putFieldsInSteps(out, layout, chosenFields(value)),
    take: (input) => {
      const found: JsonObject = {};
      takeFields(input, layout, found);
      return valueIn(found);
    },
    *takeInSteps(input) {
      const found: JsonObject = {};
      yield* takeFieldsInSteps(input, layout, found);
      return valueIn(found);
    },
    zero: () => (flag < 0 ? null : false),
  };
}
