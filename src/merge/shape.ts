import { type Json, type JsonObject, type Names, setKey } from '../meta/index.ts';
import {
  type Field,
  type FieldOptions,
  fieldOf,
  fieldsOf,
  resolve,
  type Schema,
  type StructSchema,
} from '../schema/index.ts';
import { fieldElement, type ListKey, type PathElement } from './path.ts';

/**
 * The merge schema of a type. Comparison, merge and field sets work on shapes; only this file reads the full schema.
 */
export type Shape = ScalarShape | StructShape | MapShape | ListShape | UntypedShape | UnownedShape;

/** A leaf. `anything`: an opaque value of any structure. */
export interface ScalarShape {
  readonly kind: 'scalar';
  readonly accepts: 'string' | 'number' | 'boolean' | 'scalar' | 'anything';
}

export interface StructShape {
  readonly kind: 'struct';
  readonly atomic: boolean;
  /** The struct itself is never in a field set, only its fields are. */
  readonly bare: boolean;
  readonly fields: LazyFields;
  /** Fields that are not declared are untyped. */
  readonly open: boolean;
}

export interface FieldShape {
  readonly element: PathElement;
  readonly shape: Shape;
}

export interface MapShape {
  readonly kind: 'map';
  readonly atomic: boolean;
  readonly value: Shape;
}

/** `map`: an associative list with keys; `set`: an associative list of scalars. */
export interface ListShape {
  readonly kind: 'list';
  readonly listType: 'atomic' | 'set' | 'map';
  readonly keys: readonly ListKey[];
  readonly element: Shape;
}

/** A value without a schema: its objects are granular maps, its lists atomic. */
export interface UntypedShape {
  readonly kind: 'untyped';
}

/** A field that is stripped from field sets: it is set by the server or part of the object's identity. */
interface UnownedShape {
  readonly kind: 'unowned';
}

/** A shape whose values are JSON objects. */
export type ObjectShape = StructShape | MapShape | UntypedShape;

/** The shape of a member of an object; undefined for an undeclared field. */
export function memberShape(shape: ObjectShape, key: string): Shape | undefined {
  if (shape.kind === 'struct') return shape.fields.get(key)?.shape ?? (shape.open ? untyped : undefined);
  return shape.kind === 'map' ? shape.value : untyped;
}

export const untyped: UntypedShape = { kind: 'untyped' };
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

type ListOptions = Pick<FieldOptions, 'listType' | 'listMapKeys' | 'patchStrategy' | 'patchMergeKey'>;

/** Compiles schemas to shapes for one set of names: each struct once, its fields on first use. */
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
      const own = unownedFields(unownedRoot);
      const declared = fieldOf(schema, 'metadata', this.#names);
      const metadata = declared && resolve(declared.schema);
      if (metadata?.type === 'struct') {
        const fields = new LazyFields(this, metadata, unownedFields(unownedMetadata));
        own.set('metadata', { element: fieldElement('metadata'), shape: structShape(fields, false, true, false) });
      }
      shape = structShape(new LazyFields(this, schema, own), false, true, schema.open === true);
      this.#objects.set(schema, shape);
    }
    return shape;
  }

  /** Undefined for a field that is not declared. */
  field(struct: StructSchema, name: string): FieldShape | undefined {
    const field = fieldOf(struct, name, this.#names);
    return field && { element: fieldElement(name), shape: this.#field(field) };
  }

  #field(field: Field): Shape {
    const schema = resolve(field.schema);
    switch (schema.type) {
      case 'list':
        return this.#list({ ...schema, ...field }, schema.element);
      case 'map':
        return {
          kind: 'map',
          atomic: (field.mapType ?? schema.mapType) === 'atomic',
          value: this.#shape(schema.value),
        };
      case 'struct':
        return this.#struct(schema, (field.mapType ?? schema.structType) === 'atomic');
      default:
        return this.#shape(schema);
    }
  }

  /** The shape of a schema outside a field. */
  #shape(unresolved: Schema): Shape {
    const schema = resolve(unresolved);
    switch (schema.type) {
      case 'list':
        return this.#list(schema, schema.element);
      case 'map':
        return { kind: 'map', atomic: schema.mapType === 'atomic', value: this.#shape(schema.value) };
      case 'struct':
        return this.#struct(schema, schema.structType === 'atomic');
      case 'any':
      case 'either':
        return untyped;
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
    const make = () => structShape(new LazyFields(this, schema), atomic, false, schema.open === true);
    if (atomic) {
      known.atomic ??= make();
      return known.atomic;
    }
    known.granular ??= make();
    return known.granular;
  }

  #list(field: ListOptions, elementSchema: Schema): ListShape {
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
    return [...names].sort().map((name) => {
      const field = element.type === 'struct' ? fieldOf(element, name, this.#names) : undefined;
      return { name, label: `${JSON.stringify(name)}:`, default: field?.default ?? (field && this.#zero(field)) };
    });
  }

  /** The value that encoding writes for an unset field; undefined when it is omitted. */
  #zero(field: Field): Json | undefined {
    const schema = resolve(field.schema);
    if (field.nullable === true) return field.always === true ? null : undefined;
    if (schema.type === 'struct') return this.zero(schema);
    if (Object.hasOwn(alwaysWritten, schema.type)) return alwaysWritten[schema.type];
    if (field.always !== true) return undefined;
    return zeros[schema.type] ?? null;
  }

  /** The zero value of a struct: the same object each time, not to be changed. */
  zero(schema: StructSchema): JsonObject {
    const known = this.#zeros.get(schema);
    if (known !== undefined) return known;
    const zero: JsonObject = {};
    for (const [name, field] of fieldsOf(schema, this.#names)) {
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
/** Zero values that are always encoded. */
const alwaysWritten: { readonly [type in Schema['type']]?: Json } = {
  time: null,
  microTime: null,
  duration: '0s',
  quantity: '0',
  intOrString: 0,
  any: null,
  object: null,
};

/** One literal for all: objects of one hidden class are faster. */
const structShape = (fields: LazyFields, atomic: boolean, bare: boolean, open: boolean): StructShape => ({
  kind: 'struct',
  atomic,
  bare,
  fields,
  open,
});

const unownedFields = (names: readonly string[]) =>
  new Map(names.map((name): [string, FieldShape] => [name, { element: fieldElement(name), shape: unowned }]));

/**
 * The shapes of the fields of a struct, each compiled when it is first asked for: a struct may contain itself, and custom
 * types have many more fields than their objects.
 */
class LazyFields {
  readonly #shapes: Shapes;
  readonly #struct: StructSchema;
  #made: Map<string, FieldShape> | undefined;

  /** `made`: those that are not as declared. */
  constructor(shapes: Shapes, struct: StructSchema, made?: Map<string, FieldShape>) {
    this.#shapes = shapes;
    this.#struct = struct;
    this.#made = made;
  }

  /** Undefined for a field that is not declared. */
  get(name: string): FieldShape | undefined {
    const known = this.#made?.get(name);
    if (known !== undefined) return known;
    const made = this.#shapes.field(this.#struct, name);
    if (made === undefined) return undefined;
    this.#made ??= new Map();
    this.#made.set(name, made);
    return made;
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

/** The shape of the objects of a type; the same one each time. */
export function objectShape(schema: StructSchema, names: Names): StructShape {
  return shapesUnder(names).object(schema);
}

/** The zero object of a type, which a new object is compared with. Not to be changed. */
export function zeroObject(schema: StructSchema, names: Names): JsonObject {
  return shapesUnder(names).zero(schema);
}
