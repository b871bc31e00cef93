import type { CachedObject } from '../../cache/index.ts';
import { readOwnJson, stringifyJson } from '../../codec/index.ts';
import { type ByteString, decodeText, encodeText, type JsonObject, type Steps } from '../../meta/index.ts';
import { largeBytes } from '../context.ts';
import { listKindOf } from '../resource/definition.ts';
import { isStorageVersion, versionOf } from '../resource/target.ts';
import { headOf } from '../stored/format.ts';
import type { ObjectList, Target } from '../types.ts';
import {
  columnDefinitions,
  jsonWriter,
  metaVersion,
  parseCheck,
  partialWriter,
  type Representation,
  readForRepresentation,
  rowWriter,
  textOf,
  type WriteItem,
} from './representation.ts';

/**
 * The size of a piece of a list in bytes, the most objects that are parsed for it, and their bytes. V8 allocates strings of
 * 128 KiB and more as large objects: a list of such pieces takes twice as long.
 */
const pieceBytes = 112 * 1024;
const maxParsed = 50;
const maxParsedBytes = 256 * 1024;

/** How a list is written around and between its items. */
export interface ListLayout {
  readonly head: ByteString;
  /** Before the first item, and before every other one. */
  readonly first: string;
  readonly separator: string;
  readonly tail: ByteString;
  /** In place of `tail`, in a list without items. */
  readonly emptyTail: ByteString;
  /** Rewrites the JSON of an item; undefined: it is copied. */
  readonly item?: (json: ByteString) => ByteString | Steps<ByteString>;
}

/** A piece of a list: texts that follow each other, which whoever sends them joins. */
export type ListPiece = readonly ByteString[];

/**
 * A list in pieces, as JSON unless `layout` says otherwise. It yields all but the last one, which it returns. No piece takes
 * long to make, and an item that is written in steps gives an empty piece for each of them: a caller may pause between them.
 */
export function* representList(
  target: Target,
  list: ObjectList,
  representation: Representation,
  layout: ListLayout = jsonLayout(listFields(target, list, representation)),
): Generator<ListPiece, ListPiece> {
  const { head, first, separator, tail, emptyTail, item } = layout;
  const { prefix, rest } = itemWriter(target, representation);
  const isParsed = parseCheck(target, representation);
  const begin = (before: string) => (item === undefined ? before + prefix : before) as ByteString;
  const [beforeFirst, beforeOther] = [begin(first), begin(separator)];
  const piece = new PieceBuilder(head);
  let items = 0;
  for (const objects of inLoadedGroups(list.items)) {
    for (const object of objects) {
      const isLong = representation.as !== 'metadata' && object.bytes.length >= largeBytes;
      const read = isLong ? yield* inEmptyPieces(readForRepresentation(target, object, representation)) : undefined;
      if (isParsed(object)) piece.countParsed(object.bytes.length);
      piece.add(items++ === 0 ? beforeFirst : beforeOther);
      if (item === undefined) piece.addItem(rest, object, read);
      else {
        const text = item((prefix + textOf(rest, object, read)) as ByteString);
        piece.add(typeof text === 'string' ? text : yield* inEmptyPieces(text));
      }
      if (piece.isFull) yield piece.take();
    }
  }
  piece.add(items === 0 ? emptyTail : tail);
  return piece.take();
}

const groupSize = 32;

/**
 * Returns objects in groups, after it has read the first byte of each. The processor loads the objects of a group side by side
 * then; a list that reads each where it is written waits for the memory of one after another.
 */
function* inLoadedGroups(objects: Iterable<CachedObject>): Generator<readonly CachedObject[]> {
  let group: CachedObject[] = [];
  for (const object of objects) {
    group.push(object);
    if (group.length < groupSize) continue;
    checkFirstBytes(group);
    yield group;
    group = [];
  }
  checkFirstBytes(group);
  yield group;
}

const openingBrace = 0x7b;

/** Reads the first byte of each object, in a check: V8 drops a read whose result is not used. */
function checkFirstBytes(group: readonly CachedObject[]): void {
  for (const { key, bytes } of group) {
    if (bytes.charCodeAt(0) !== openingBrace) throw new Error(`the cached bytes of ${key} are not an object`);
  }
}

/** The next piece of a list. The frame of a generator would hold a piece that it has yielded until it goes on. */
class PieceBuilder {
  #texts: ByteString[];
  #size: number;
  #parsed = 0;
  #parsedBytes = 0;

  constructor(head: ByteString) {
    this.#texts = [head];
    this.#size = head.length;
  }

  add(text: ByteString): void {
    if (text === '') return;
    this.#texts.push(text);
    this.#size += text.length;
  }

  /** Adds the texts that `write` writes for an object. */
  addItem(write: WriteItem, object: CachedObject, read: Parameters<WriteItem>[2]): void {
    const texts = this.#texts;
    const start = texts.length;
    write(texts, object, read);
    for (let i = start; i < texts.length; i++) this.#size += (texts[i] as ByteString).length;
  }

  /** An object of this size (bytes) is parsed for the piece. */
  countParsed(size: number): void {
    this.#parsed++;
    this.#parsedBytes += size;
  }

  get isFull(): boolean {
    return this.#size >= pieceBytes || this.#parsed >= maxParsed || this.#parsedBytes >= maxParsedBytes;
  }

  take(): ListPiece {
    const texts = this.#texts;
    this.#texts = [];
    this.#size = 0;
    this.#parsed = 0;
    this.#parsedBytes = 0;
    return texts;
  }
}

/** The result of all steps; each of them gives an empty piece. */
function* inEmptyPieces<T>(steps: Steps<T>): Generator<ListPiece, T> {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
    yield [];
  }
}

function jsonLayout(fields: JsonObject): ListLayout {
  const tail = ']}' as ByteString;
  const head = encodeText(stringifyJson(fields).slice(0, -tail.length));
  return { head, first: '', separator: ',', tail, emptyTail: tail };
}

/** The fields of a list in wire order. The last one, `items` or the `rows` of a table, is empty. */
export function listFields(target: Target, list: ObjectList, representation: Representation): JsonObject {
  const { names, definition } = target.resource;
  const token = list.continue();
  const remaining = list.remaining();
  const isObjects = representation.as === 'object';
  const metadata = {
    resourceVersion: String(list.revision),
    // The reference server has no type of its own for lists of custom objects, and so always writes the field.
    ...(token === '' && !(isObjects && definition.custom !== undefined) ? {} : { continue: token }),
    ...(remaining === undefined ? {} : { remainingItemCount: remaining }),
  };
  if (isObjects) {
    return { kind: listKindOf(definition), apiVersion: versionOf(target).apiVersion, metadata, items: [] };
  }
  const apiVersion = metaVersion(names, representation.version);
  if (representation.as === 'metadata') return { kind: 'PartialObjectMetadataList', apiVersion, metadata, items: [] };
  return { kind: 'Table', apiVersion, metadata, columnDefinitions: columnDefinitions(target), rows: [] };
}

/** Writes the items of a list, which have no kind and apiVersion of their own, or the rows of a table. */
interface ItemWriter {
  /** The start of every item: a text that is joined with it costs a copy of the item. */
  readonly prefix: string;
  readonly rest: WriteItem;
}

function itemWriter(target: Target, representation: Representation): ItemWriter {
  switch (representation.as) {
    case 'object':
      return objectWriter(target);
    case 'metadata':
      return { prefix: '', rest: partialWriter(target, representation.version) };
    case 'table':
      return { prefix: '', rest: rowWriter(target, representation) };
  }
}

const metadataMark = '"metadata":{';

function objectWriter(target: Target): ItemWriter {
  const { definition, format } = target.resource;
  // Items of custom resources keep kind and apiVersion.
  if (definition.custom !== undefined) return { prefix: '', rest: jsonWriter(target) };
  if (isStorageVersion(target)) {
    const start = format.head.length - metadataMark.length;
    return { prefix: '{', rest: (out, { bytes }) => out.push(bytes.slice(start) as ByteString) };
  }
  const head = headOf(definition.kind, versionOf(target).apiVersion);
  const start = head.length - metadataMark.length;
  const withoutType = (text: ByteString): ByteString => {
    if (text.startsWith(head)) return text.slice(start) as ByteString;
    const { kind: _, apiVersion: __, ...others } = readOwnJson(decodeText(text)) as JsonObject;
    return encodeText(stringifyJson(others)).slice(1) as ByteString;
  };
  const write = jsonWriter(target);
  const rest: WriteItem = (out, object, read) => out.push(withoutType(textOf(write, object, read)));
  return { prefix: '{', rest };
}
