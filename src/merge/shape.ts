import { type Json, type JsonObject, type Names, setKey } from '../meta/index.ts';
import { type Field, fieldsOf as fieldsOfStruct, resolve, type Schema, type StructSchema } from '../schema/index.ts';
import { type Element, fieldElement, type ListKey } from './path.ts';

/** What ownership and merging need to know of a type. Every walk goes over shapes; nothing else here reads a schema. */
export type Shape = ScalarShape | StructShape | MapShape | ListShape | FreeShape | UnownedShape;

/** One value with one owner. `anything`: of any structure, which no walk enters. */
export interface ScalarShape {
  readonly kind: 'scalar';
  readonly accepts: 'string' | 'number' | 'boolean' | 'scalar' | 'anything';
}

export interface StructShape {
  readonly kind: 'struct';
  readonly atomic: boolean;
  /** Nobody owns the struct itself, only what is in it. */
  readonly bare: boolean;
  readonly fields: ReadonlyMap<string, FieldShape>;
}

export interface FieldShape {
  readonly element: Element;
  readonly shape: Shape;
}

export interface MapShape {
  readonly kind: 'map';
  readonly atomic: boolean;
  readonly value: Shape;
}

/** A `map` is a list of entries told apart by keys, a `set` one of scalars. */
export interface ListShape {
  readonly kind: 'list';
  readonly listType: 'atomic' | 'set' | 'map';
  readonly keys: readonly ListKey[];
  readonly element: Shape;
}

/** A value without a schema: its objects are granular, its lists atomic. */
export interface FreeShape {
  readonly kind: 'free';
}

/** A field that has no owner: the server's, or the object's identity. */
interface UnownedShape {
  readonly kind: 'unowned';
}

/** A shape whose values are JSON objects. */
export type ObjectShape = StructShape | MapShape | FreeShape;

/** The shape of a member of an object; undefined for one that nobody declares. */
export function memberShape(shape: ObjectShape, key: string): Shape | undefined {
  if (shape.kind === 'struct') return shape.fields.get(key)?.shape;
  return shape.kind === 'map' ? shape.value : free;
}

export const free: FreeShape = { kind: 'free' };
const unowned: UnownedShape = { kind: 'unowned' };
const scalars: { readonly [A in ScalarShape['accepts']]: ScalarShape } = {
  string: { kind: 'scalar', accepts: 'string' },
  number: { kind: 'scalar', accepts: 'number' },
  boolean: { kind: 'scalar', accepts: 'boolean' },
  scalar: { kind: 'scalar', accepts: 'scalar' },
  anything: { kind: 'scalar', accepts: 'anything' },
};

const unownedRoot = ['apiVersion', 'kind'];
const unownedMetadata = [
  'name',
  'namespace',
  'creationTimestamp',
  'selfLink',
  'uid',
  'clusterName',
  'generation',
  'managedFields',
  'resourceVersion',
];

/** Makes the shapes of the schemas under certain names, each struct once and its fields on first use. */
class Shapes {
  readonly #names: Names;
  readonly #structs = new WeakMap<StructSchema, { granular?: StructShape; atomic?: StructShape }>();
  readonly #objects = new WeakMap<StructSchema, StructShape>();
  readonly #zeros = new WeakMap<StructSchema, JsonObject>();

  constructor(names: Names) {
    this.#names = names;
  }

  /** The shape of whole objects of a type. */
  object(schema: StructSchema): StructShape {
    let shape = this.#objects.get(schema);
    if (shape === undefined) {
      const fields = new Map(this.#fields(schema));
      for (const name of unownedRoot) fields.set(name, disowned(name));
      const metadata = fields.get('metadata');
      if (metadata?.shape.kind === 'struct') {
        const inner = new Map(metadata.shape.fields);
        for (const name of unownedMetadata) inner.set(name, disowned(name));
        fields.set('metadata', { ...metadata, shape: { kind: 'struct', atomic: false, bare: true, fields: inner } });
      }
      shape = { kind: 'struct', atomic: false, bare: true, fields };
      this.#objects.set(schema, shape);
    }
    return shape;
  }

  #fields(schema: StructSchema): ReadonlyMap<string, FieldShape> {
    const fields = new Map<string, FieldShape>();
    for (const [name, field] of fieldsOfStruct(schema, this.#names)) {
      fields.set(name, { element: fieldElement(name), shape: this.#field(field) });
    }
    return fields;
  }

  #field(field: Field): Shape {
    const schema = resolve(field.schema);
    switch (schema.type) {
      case 'list':
        return this.#list(field, schema.element);
      case 'map':
        return { kind: 'map', atomic: field.mapType === 'atomic', value: this.#shape(schema.value) };
      case 'struct':
        return this.#struct(schema, (field.mapType ?? schema.structType) === 'atomic');
      default:
        return this.#shape(schema);
    }
  }

  /** The shape of a schema that no field marks. */
  #shape(unresolved: Schema): Shape {
    const schema = resolve(unresolved);
    switch (schema.type) {
      case 'list':
        return { kind: 'list', listType: 'atomic', keys: [], element: this.#shape(schema.element) };
      case 'map':
        return { kind: 'map', atomic: false, value: this.#shape(schema.value) };
      case 'struct':
        return this.#struct(schema, schema.structType === 'atomic');
      case 'any':
      case 'either':
        return free;
      case 'object':
        return scalars.anything;
      case 'bool':
        return scalars.boolean;
      case 'int32':
      case 'int64':
      case 'double':
        return scalars.number;
      case 'string':
      case 'bytes':
      case 'duration':
        return scalars.string;
      default:
        return scalars.scalar;
    }
  }

  #struct(schema: StructSchema, atomic: boolean): StructShape {
    let known = this.#structs.get(schema);
    if (known === undefined) {
      known = {};
      this.#structs.set(schema, known);
    }
    const make = () => new LazyStruct(atomic, () => this.#fields(schema));
    if (atomic) {
      known.atomic ??= make();
      return known.atomic;
    }
    known.granular ??= make();
    return known.granular;
  }

  #list(field: Field, elementSchema: Schema): ListShape {
    const merged = field.patchStrategy?.split(',').includes('merge') ?? false;
    const listType = field.listType ?? (!merged ? 'atomic' : field.patchMergeKey === undefined ? 'set' : 'map');
    const names = field.listMapKeys ?? (field.patchMergeKey === undefined ? [] : [field.patchMergeKey]);
    return {
      kind: 'list',
      listType,
      keys: listType === 'map' ? this.#keys(names, elementSchema) : [],
      element: this.#shape(elementSchema),
    };
  }

  #keys(names: readonly string[], elementSchema: Schema): ListKey[] {
    const element = resolve(elementSchema);
    const fields = element.type === 'struct' ? fieldsOfStruct(element, this.#names) : undefined;
    return [...names].sort().map((name) => {
      const field = fields?.get(name);
      return { name, label: `${JSON.stringify(name)}:`, default: field?.default ?? (field && this.#zero(field)) };
    });
  }

  /** What the field is where nobody filled it in; undefined where it is absent. */
  #zero(field: Field): Json | undefined {
    const schema = resolve(field.schema);
    if (field.nullable === true) return field.always === true ? null : undefined;
    if (schema.type === 'struct') return this.zero(schema);
    if (Object.hasOwn(alwaysWritten, schema.type)) return alwaysWritten[schema.type];
    if (field.always !== true) return undefined;
    return zeros[schema.type] ?? null;
  }

  /** A value of a struct that nobody filled in: the same one each time, which nobody may change. */
  zero(schema: StructSchema): JsonObject {
    const known = this.#zeros.get(schema);
    if (known !== undefined) return known;
    const zero: JsonObject = {};
    for (const [name, field] of fieldsOfStruct(schema, this.#names)) {
      const value = this.#zero(field);
      if (value !== undefined) setKey(zero, name, value);
    }
    this.#zeros.set(schema, zero);
    return zero;
  }
}

const zeros: { readonly [type in Schema['type']]?: Json } = {
  string: '',
  bytes: '',
  bool: false,
  int32: 0,
  int64: 0,
  double: 0,
};
/** Zero values that are written in any case. */
const alwaysWritten: { readonly [type in Schema['type']]?: Json } = {
  time: null,
  microTime: null,
  duration: '0s',
  quantity: '0',
  intOrString: 0,
  any: null,
  object: null,
};

const disowned = (name: string): FieldShape => ({ element: fieldElement(name), shape: unowned });

/** A struct whose fields are looked up on first use, so that a struct may contain itself. */
class LazyStruct implements StructShape {
  readonly kind = 'struct';
  readonly atomic: boolean;
  readonly bare = false;
  #make: (() => ReadonlyMap<string, FieldShape>) | undefined;
  #fields: ReadonlyMap<string, FieldShape> | undefined;

  constructor(atomic: boolean, make: () => ReadonlyMap<string, FieldShape>) {
    this.atomic = atomic;
    this.#make = make;
  }

  get fields(): ReadonlyMap<string, FieldShape> {
    if (this.#fields === undefined) {
      this.#fields = this.#make?.() ?? new Map();
      this.#make = undefined;
    }
    return this.#fields;
  }
}

const shapes = new WeakMap<Names, Shapes>();

function shapesUnder(names: Names): Shapes {
  let known = shapes.get(names);
  if (known === undefined) {
    known = new Shapes(names);
    shapes.set(names, known);
  }
  return known;
}

/** The shape of whole objects of a type; the same one each time. */
export function objectShape(schema: StructSchema, names: Names): StructShape {
  return shapesUnder(names).object(schema);
}

/** An object of a type before anyone filled it in: what a new object is compared with. Nobody may change it. */
export function zeroObject(schema: StructSchema, names: Names): JsonObject {
  return shapesUnder(names).zero(schema);
}
