import {
  frameProtobufWatch,
  type ParsedBody,
  ProtobufList,
  readProtobuf,
  type TypeMeta,
  writeProtobuf,
} from '../codec/index.ts';
import { type JsonObject, type Names, parseGroupVersion, statusError } from '../meta/index.ts';
import type { Resource, StreamEvent } from '../registry/index.ts';
import type { StructSchema } from '../schema/index.ts';
import type { FindType } from './openapi.ts';

/** What is remembered of the frames that were written last (bytes). */
const REMEMBERED = 4 * 1024 * 1024;

/** Where types are declared, by the first label of their group, where it is not that. */
const packages: ReadonlyMap<string, string> = new Map([
  ['', 'core'],
  ['internal', 'apiserverinternal'],
]);

/** Reads and writes the objects of a server in protobuf. */
export class Protobuf {
  readonly #findType: FindType;
  readonly #names: Names;
  /** Frames of events that were just told to somebody, by the version that they were told in. */
  readonly #frames = new Map<string, Map<StreamEvent, Uint8Array>>();
  #remembered = 0;

  constructor(findType: FindType, names: Names) {
    this.#findType = findType;
    this.#names = names;
  }

  /** Whether the objects of a resource have a protobuf form: those of built-in types do. */
  speaks({ versions }: Resource, version: string): boolean {
    const schema = versions.get(version)?.declared.schema;
    return schema !== undefined && this.#findType(schema.name) === schema;
  }

  /** @throws StatusError 400 */
  read(bytes: Uint8Array, expected: TypeMeta): ParsedBody<JsonObject> {
    return readProtobuf(bytes, expected, (given) => this.schemaOf(given), this.#names);
  }

  /** An object or Status, by the kind and version that it says it is of; `like` has the same fields where these are not declared. */
  write(value: JsonObject, like = typeOf(value)): Uint8Array {
    return writeProtobuf(this.known(like), typeOf(value), value, this.#names);
  }

  /** How a list of objects of one type is written, and the schema of these. */
  list(item: TypeMeta): { readonly list: ProtobufList; readonly schema: StructSchema } {
    const schema = this.known(item);
    const listMeta = this.known({ apiVersion: 'v1', kind: 'ListMeta' });
    return { list: new ProtobufList(schema, listMeta, this.#names), schema };
  }

  /** An event; `write` gives its object. Told to many, it is written once. `form` says what `write` would give. */
  frame(event: StreamEvent, form: string, write: () => JsonObject): Uint8Array {
    let known = this.#frames.get(form);
    const found = known?.get(event);
    if (found !== undefined) return found;
    const made = frameProtobufWatch(event.type, this.write(write()));
    this.#remembered += made.length;
    if (this.#remembered > REMEMBERED) {
      this.#frames.clear();
      this.#remembered = made.length;
      known = undefined;
    }
    known ??= new Map<StreamEvent, Uint8Array>();
    this.#frames.set(form, known.set(event, made));
    return made;
  }

  /** The last event of a watch that fails. */
  failure(status: JsonObject): Uint8Array {
    return frameProtobufWatch('ERROR', this.write(status));
  }

  /** The built-in type of a kind: what all groups have in common is declared in one place. */
  schemaOf({ apiVersion, kind }: TypeMeta): StructSchema | undefined {
    const { group, version } = parseGroupVersion(apiVersion) ?? { group: '', version: '' };
    const [label = ''] = group.split('.', 1);
    const folder = packages.get(label) ?? label;
    return this.#findType(`${folder}/${version}.${kind}`) ?? this.#findType(`meta/v1.${kind}`);
  }

  /** The same, of a kind that must be there. */
  known(type: TypeMeta): StructSchema {
    const schema = this.schemaOf(type);
    if (schema === undefined) throw statusError.internal(`${type.kind} has no protobuf form`);
    return schema;
  }
}

const typeOf = ({ apiVersion, kind }: JsonObject): TypeMeta => ({
  apiVersion: apiVersion as string,
  kind: kind as string,
});
