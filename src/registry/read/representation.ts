import type { CachedObject } from '../../cache/index.ts';
import { stringifyJson, stringifyJsonInSteps } from '../../codec/index.ts';
import {
  type ApiObject,
  atOnce,
  type ByteString,
  encodeText,
  type JsonObject,
  type Names,
  quote,
  type Steps,
  statusError,
} from '../../meta/index.ts';
import { largeBytes, largeEventBytes } from '../context.ts';
import { fromStorageInSteps, isStorageVersion, projectionOf, versionOf } from '../resource/target.ts';
import { isCorrupt, metadataText, readObject, readObjectInSteps } from '../stored/read.ts';
import type { StreamEvent, Target } from '../types.ts';
import { agesAt, hasRow, type RowShape, rowOf } from './cells.ts';
import type { Column } from './column.ts';

/** The form in which objects are sent. */
export type Representation =
  | { readonly as: 'object' }
  /** `PartialObjectMetadata`. */
  | { readonly as: 'metadata'; readonly version: string }
  /** Rows of a `Table`, with ages at the time `now` (ms since 1970). */
  | { readonly as: 'table'; readonly version: string; readonly includeObject: IncludeObject; readonly now: number };
export type IncludeObject = 'None' | 'Metadata' | 'Object';

/** The query parameter `includeObject` of a table. @throws StatusError 400 */
export function readIncludeObject(text: string | undefined): IncludeObject {
  if (text === undefined || text === '') return 'Metadata';
  if (text === 'None' || text === 'Metadata' || text === 'Object') return text;
  throw statusError.badRequest(
    `Unable to convert to Table as requested: includeObject: Invalid value: ${quote(text)}: must be 'Metadata', 'Object', 'None', or empty`,
  );
}

/** The apiVersion of a Table or PartialObjectMetadata. */
export const metaVersion = (names: Names, version: string): string => `meta.${names.domain}/${version}`;

/** An object that has been read for its representation. */
interface ReadObject {
  readonly stored: ApiObject;
  /** Its JSON in the version of the request, where the representation includes that and the cache has another. */
  readonly text?: ByteString;
}

/** Returns whether the representation of an object needs the parsed object. */
export function parseCheck(target: Target, representation: Representation): (object: CachedObject) => boolean {
  const shape = shapeOf(target);
  const always = shape.projection !== undefined || needsText(target, representation);
  const isTable = representation.as === 'table';
  return (object) => !isCorrupt(object) && (always || (isTable && !hasRow(shape, object)));
}

/** Whether a representation is long work: it needs the parsed object, and that is large. */
const needsLongRead = (target: Target, object: CachedObject, representation: Representation): boolean =>
  object.bytes.length >= largeBytes && parseCheck(target, representation)(object);

/** Whether a representation includes the object in a version in which it is not cached. */
const needsText = (target: Target, view: Representation): boolean =>
  (view.as === 'object' || (view.as === 'table' && view.includeObject === 'Object')) && !isStorageVersion(target);

/** Reads a large object in steps, if its representation needs that, for {@link representObject}. */
export function* readForRepresentation(
  target: Target,
  object: CachedObject,
  representation: Representation,
): Steps<ReadObject | undefined> {
  if (!needsLongRead(target, object, representation)) return undefined;
  const stored = yield* readObjectInSteps(target.resource.format, object);
  if (!needsText(target, representation)) return { stored };
  yield;
  const shown = yield* inRequestVersion(target, stored);
  yield;
  return { stored, text: encodeText(yield* stringifyJsonInSteps(shown)) };
}

function* inRequestVersion(target: Target, stored: ApiObject): Steps<ApiObject> {
  projectionOf(target)?.checkRead?.(stored);
  return yield* fromStorageInSteps(target, stored);
}

/** An object in the version of the request, which is not that of its cached bytes. `read`: the object, if it has been read. */
function encodeConverted(target: Target, object: CachedObject, read: ReadObject | undefined): ByteString {
  if (read?.text !== undefined) return read.text;
  const stored = read?.stored ?? readObject(target.resource.format, object);
  return encodeText(stringifyJson(atOnce(inRequestVersion(target, stored))));
}

/** The body of a response with one object. `read`: the object, if it has been read. */
export function representObject(
  target: Target,
  object: CachedObject,
  representation: Representation,
  read?: ReadObject,
): ByteString {
  switch (representation.as) {
    case 'object':
      return isStorageVersion(target) ? object.bytes : encodeConverted(target, object, read);
    case 'metadata':
      return textOf(partialWriter(target, representation.version), object, read);
    case 'table':
      return table(
        target,
        representation.version,
        String(object.revision),
        columnsText(target),
        textOf(rowWriter(target, representation), object, read),
      );
  }
}

/** Appends the texts of an object to `out`. V8 would copy them once more if they were joined here. */
export type WriteItem = (out: ByteString[], object: CachedObject, read: ReadObject | undefined) => void;

/** What a writer writes, as one text. */
export function textOf(write: WriteItem, object: CachedObject, read: ReadObject | undefined): ByteString {
  const out: ByteString[] = [];
  write(out, object, read);
  return out.join('') as ByteString;
}

/** Returns what writes objects as they are in the version of the request. */
export const jsonWriter = (target: Target): WriteItem =>
  isStorageVersion(target)
    ? (out, { bytes }) => out.push(bytes)
    : (out, object, read) => out.push(encodeConverted(target, object, read));

export function partialWriter(target: Target, version: string): WriteItem {
  const { names, format } = target.resource;
  const apiVersion = metaVersion(names, version);
  const head = `{"kind":"PartialObjectMetadata","apiVersion":"${apiVersion}","metadata":` as ByteString;
  const projection = projectionOf(target);
  return (out, object, read) => {
    const metadata =
      projection === undefined
        ? metadataText(format, object)
        : encodeText(stringifyJson(projection.read(read?.stored ?? readObject(format, object)).metadata));
    out.push(head, metadata, close);
  };
}

const close = '}' as ByteString;

const defaultColumns: readonly Column[] = [
  {
    name: 'Name',
    type: 'string',
    format: 'name',
    description: 'The name of the object, unique within its namespace.',
    cell: ({ metadata }) => metadata.name ?? '',
  },
  {
    name: 'Created At',
    type: 'date',
    description: 'When the object was created.',
    cell: ({ metadata }) => metadata.creationTimestamp ?? null,
  },
];

function columnsOf(target: Target): readonly Column[] {
  const { columns = [] } = projectionOf(target) ?? target.resource.definition;
  return columns.length === 0 ? defaultColumns : columns;
}

export const columnDefinitions = (target: Target): JsonObject[] =>
  columnsOf(target).map(({ name, type, format = '', description = '', priority = 0 }) => ({
    name,
    type,
    format,
    description,
    priority,
  }));

const columnsText = (target: Target): string => stringifyJson(columnDefinitions(target));

function table({ resource }: Target, version: string, revision: string, columns: string, rows: string): ByteString {
  const head = `{"kind":"Table","apiVersion":"${metaVersion(resource.names, version)}"`;
  const metadata = `"metadata":{"resourceVersion":${JSON.stringify(revision)}}`;
  return `${head},${metadata},"columnDefinitions":${encodeText(columns)},"rows":[${rows}]}` as ByteString;
}

function shapeOf(target: Target): RowShape {
  const { names, definition, format } = target.resource;
  const { completion } = definition;
  return { columns: columnsOf(target), projection: projectionOf(target), completion, names, format };
}

/** Returns what writes the rows of a table. */
export function rowWriter(
  target: Target,
  { version, includeObject, now }: Representation & { as: 'table' },
): WriteItem {
  const shape = shapeOf(target);
  const age = agesAt(now);
  const include: { readonly [name in IncludeObject]: WriteItem } = {
    None: (out) => out.push('null' as ByteString),
    Metadata: partialWriter(target, version),
    Object: jsonWriter(target),
  };
  const included = include[includeObject];
  return (out, object, read) => {
    for (const part of rowOf(shape, object, now, read?.stored)) {
      out.push(typeof part === 'number' ? (age(part) as ByteString) : part);
    }
    included(out, object, read);
    out.push(close);
  };
}

/** Writes the events of one watch. `isFirst`: the first event, which alone has the column definitions of a table. */
export interface EventWriter<Frame> {
  write(event: StreamEvent, isFirst: boolean): Frame;
  /** The same in steps, for a large event; undefined: `write` takes no longer than a step. */
  writeInSteps(event: StreamEvent, isFirst: boolean): Steps<Frame> | undefined;
}

/** Writes the events of a watch as lines. */
export function eventWriter(target: Target, representation: Representation): EventWriter<ByteString> {
  const isStored = representation.as === 'object' && isStorageVersion(target);
  const write = (event: StreamEvent, isFirst: boolean, read?: ReadObject) => {
    const { object, type } = event;
    if (object === undefined) return frame(type, bookmark(target, event, representation, isFirst));
    if (isStored) return event.frame;
    if (representation.as !== 'table') return frame(type, representObject(target, object, representation, read));
    const columns = isFirst ? columnsText(target) : 'null';
    const rows = textOf(rowWriter(target, representation), object, read);
    return frame(type, table(target, representation.version, String(object.revision), columns, rows));
  };
  function* writeLarge(event: StreamEvent, object: CachedObject, isFirst: boolean): Steps<ByteString> {
    return write(event, isFirst, yield* readForRepresentation(target, object, representation));
  }
  return {
    write,
    writeInSteps: (event, isFirst) => {
      const { object } = event;
      if (isStored || object === undefined || object.bytes.length < largeEventBytes) return undefined;
      return needsLongRead(target, object, representation) ? writeLarge(event, object, isFirst) : undefined;
    },
  };
}

const frame = (type: string, object: ByteString): ByteString => `{"type":"${type}","object":${object}}\n` as ByteString;

/** The object of a bookmark: its resourceVersion, and the annotation of the one that ends the initial events. */
function bookmark(target: Target, event: StreamEvent, representation: Representation, first: boolean): ByteString {
  const { names, definition } = target.resource;
  const metadata = {
    resourceVersion: String(event.revision),
    creationTimestamp: null,
    ...(event.endsInitialEvents === true ? { annotations: { [`${names.domain}/initial-events-end`]: 'true' } } : {}),
  };
  if (representation.as === 'object') {
    return encodeText(stringifyJson({ kind: definition.kind, apiVersion: versionOf(target).apiVersion, metadata }));
  }
  const text = `{"kind":"PartialObjectMetadata","apiVersion":"${metaVersion(names, representation.version)}","metadata":${stringifyJson(metadata)}}`;
  const included = encodeText(text);
  if (representation.as === 'metadata') return included;
  const cells = stringifyJson(columnsOf(target).map(() => ''));
  const columns = first ? columnsText(target) : 'null';
  return table(
    target,
    representation.version,
    metadata.resourceVersion,
    columns,
    `{"cells":${cells},"object":${included}}`,
  );
}
