import type { CachedObject } from '../cache/index.ts';
import { stringifyJson } from '../codec/index.ts';
import { type ByteString, encodeText, type JsonObject, type Names, quote, statusError } from '../meta/index.ts';
import { rowText } from './cells.ts';
import type { Column } from './column.ts';
import { encode, fromStorage, isStorageVersion, projectionOf, versionOf } from './convert.ts';
import { metadataText, readObject } from './stored/read.ts';
import type { ObjectList, StreamEvent, Target } from './types.ts';

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

/** The apiVersion of partial metadata and tables, whose fields are the same in each version. */
const metaVersion = (names: Names, version: string): string => JSON.stringify(`meta.${names.domain}/${version}`);

/** The body of a response with one object. */
export function representObject(target: Target, object: CachedObject, representation: Representation): ByteString {
  switch (representation.as) {
    case 'object':
      return encode(target, object);
    case 'metadata':
      return partial(target, object, representation.version);
    case 'table':
      return table(
        target,
        representation.version,
        String(object.revision),
        columnsText(target),
        row(target, object, representation),
      );
  }
}

/**
 * The size of a piece of a list in bytes, the most rows of a table in it, and the most JSON parsed for these. V8 allocates
 * strings of 128 KiB and more as large objects: a list of such pieces takes twice as long.
 */
const pieceBytes = 64 * 1024;
const pieceRows = 50;
const parsedBytes = 256 * 1024;

/** The body of a response with a list, in pieces that each take little time: the caller yields to the event loop between them. */
export function* representList(
  target: Target,
  list: ObjectList,
  representation: Representation,
): Generator<ByteString> {
  const { open, close } = frameOf(target, list, representation);
  let piece = open as string;
  let rows = 0;
  let parsed = 0;
  let separator = '';
  for (const object of list.items) {
    piece += separator + item(target, object, representation);
    separator = ',';
    if (representation.as !== 'object') {
      rows++;
      parsed += object.bytes.length;
    }
    if (piece.length < pieceBytes && rows < pieceRows && parsed < parsedBytes) continue;
    yield piece as ByteString;
    piece = '';
    rows = 0;
    parsed = 0;
  }
  yield (piece + close) as ByteString;
}

function frameOf(
  target: Target,
  list: ObjectList,
  representation: Representation,
): { open: ByteString; close: string } {
  const { names, definition } = target.resource;
  const token = list.continue();
  const remaining = list.remaining();
  const metadata = stringifyJson({
    resourceVersion: String(list.revision),
    ...(token === '' ? {} : { continue: token }),
    ...(remaining === undefined ? {} : { remainingItemCount: remaining }),
  });
  switch (representation.as) {
    case 'object': {
      const { apiVersion } = versionOf(target);
      const head = `{"kind":${JSON.stringify(`${definition.kind}List`)},"apiVersion":${JSON.stringify(apiVersion)}`;
      return { open: encodeText(`${head},"metadata":${metadata},"items":[`), close: ']}' };
    }
    case 'metadata': {
      const head = `{"kind":"PartialObjectMetadataList","apiVersion":${metaVersion(names, representation.version)}`;
      return { open: encodeText(`${head},"metadata":${metadata},"items":[`), close: ']}' };
    }
    case 'table': {
      const head = `{"kind":"Table","apiVersion":${metaVersion(names, representation.version)}`;
      const columns = columnsText(target);
      return {
        open: encodeText(`${head},"metadata":${metadata},"columnDefinitions":${columns},"rows":[`),
        close: ']}',
      };
    }
  }
}

const metadataMark = '"metadata":{';

/** An item of a list, without kind and apiVersion. */
function item(target: Target, object: CachedObject, representation: Representation): string {
  switch (representation.as) {
    case 'object': {
      const { head } = target.resource.format;
      if (isStorageVersion(target) && object.bytes.startsWith(head)) {
        return `{${object.bytes.slice(head.length - metadataMark.length)}`;
      }
      const { kind: _, apiVersion: __, ...rest } = fromStorage(target, readObject(target.resource.format, object));
      return encodeText(stringifyJson(rest));
    }
    case 'metadata':
      return partial(target, object, representation.version);
    case 'table':
      return row(target, object, representation);
  }
}

function partial(target: Target, object: CachedObject, version: string): ByteString {
  const { names, format } = target.resource;
  const head = `{"kind":"PartialObjectMetadata","apiVersion":${metaVersion(names, version)},"metadata":`;
  const projection = projectionOf(target);
  const metadata =
    projection === undefined
      ? metadataText(format, object)
      : encodeText(stringifyJson(projection.read(readObject(format, object)).metadata as JsonObject));
  return `${head}${metadata}}` as ByteString;
}

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

function columnsText(target: Target): string {
  return stringifyJson(
    columnsOf(target).map(({ name, type, format = '', description = '', priority = 0 }) => ({
      name,
      type,
      format,
      description,
      priority,
    })),
  );
}

function table({ resource }: Target, version: string, revision: string, columns: string, rows: string): ByteString {
  const head = `{"kind":"Table","apiVersion":${metaVersion(resource.names, version)}`;
  const metadata = `"metadata":{"resourceVersion":${JSON.stringify(revision)}}`;
  return `${head},${metadata},"columnDefinitions":${encodeText(columns)},"rows":[${rows}]}` as ByteString;
}

/** A row of a table. */
function row(
  target: Target,
  object: CachedObject,
  { version, includeObject, now }: Representation & { as: 'table' },
): ByteString {
  const { names, definition, format } = target.resource;
  const { completion } = definition;
  const shape = { columns: columnsOf(target), projection: projectionOf(target), completion, names, format };
  const included = {
    None: () => 'null',
    Metadata: () => partial(target, object, version),
    Object: () => encode(target, object),
  };
  return `{${rowText(shape, object, now)},"object":${included[includeObject]()}}` as ByteString;
}

/** A frame of a watch, with its line feed. `first`: the first event, which alone has the column definitions of a table. */
export function representEvent(
  target: Target,
  event: StreamEvent,
  representation: Representation,
  first: boolean,
): ByteString {
  const { object, type } = event;
  if (object === undefined) return frame(type, bookmark(target, event, representation, first));
  if (representation.as === 'object' && isStorageVersion(target)) return event.frame;
  if (representation.as !== 'table') return frame(type, representObject(target, object, representation));
  const columns = first ? columnsText(target) : 'null';
  return frame(
    type,
    table(target, representation.version, String(object.revision), columns, row(target, object, representation)),
  );
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
  const text = `{"kind":"PartialObjectMetadata","apiVersion":${metaVersion(names, representation.version)},"metadata":${stringifyJson(metadata)}}`;
  const object = encodeText(text);
  if (representation.as === 'metadata') return object;
  const cells = stringifyJson(columnsOf(target).map(() => ''));
  const columns = first ? columnsText(target) : 'null';
  return table(
    target,
    representation.version,
    metadata.resourceVersion,
    columns,
    `{"cells":${cells},"object":${object}}`,
  );
}
