import type { CachedObject } from '../cache/index.ts';
import { stringifyJson } from '../codec/index.ts';
import { type ByteString, encodeText, type JsonObject, type Names, quote, statusError } from '../meta/index.ts';
import { metadataText, readObject } from './bytes.ts';
import { rowText } from './cells.ts';
import type { Column } from './column.ts';
import { encode, fromStorage, isStorageVersion, projectionOf, versionOf } from './convert.ts';
import type { ObjectList, StreamEvent, Target } from './types.ts';

/** In which shape objects are shown. */
export type Representation =
  | { readonly as: 'object' }
  /** Their metadata alone: `PartialObjectMetadata`. */
  | { readonly as: 'metadata'; readonly version: string }
  /** Rows of a `Table`, made at the time `now` (ms since 1970). */
  | { readonly as: 'table'; readonly version: string; readonly includeObject: IncludeObject; readonly now: number };
export type IncludeObject = 'None' | 'Metadata' | 'Object';

/** What a table is to hold besides its cells. @throws StatusError 400 */
export function readIncludeObject(text: string | undefined): IncludeObject {
  if (text === undefined || text === '') return 'Metadata';
  if (text === 'None' || text === 'Metadata' || text === 'Object') return text;
  throw statusError.badRequest(
    `Unable to convert to Table as requested: includeObject: Invalid value: ${quote(text)}: must be 'Metadata', 'Object', 'None', or empty`,
  );
}

/** The group and version of metadata and tables: they are spoken in each of theirs alike. */
const metaVersion = (names: Names, version: string): string => JSON.stringify(`meta.${names.domain}/${version}`);

/** One object, as the body of an answer. */
export function representObject(target: Target, object: CachedObject, view: Representation): ByteString {
  switch (view.as) {
    case 'object':
      return encode(target, object);
    case 'metadata':
      return partial(target, object, view.version);
    case 'table':
      return table(target, view.version, String(object.revision), columnsText(target), row(target, object, view));
  }
}

/**
 * Pieces of a list are about this long, and hold so many rows of a table at the most, made from so much JSON. Strings of
 * 128 KiB and more are large objects of the engine: putting a list together from such takes twice as long.
 */
const pieceBytes = 64 * 1024;
const pieceRows = 50;
const readBytes = 256 * 1024;

/**
 * A list, as the body of an answer, piece by piece. No piece takes long to make: whoever lets others run between two
 * of them holds no one up.
 */
export function* representList(target: Target, list: ObjectList, view: Representation): Generator<ByteString> {
  const { open, close } = frameOf(target, list, view);
  let piece = open as string;
  let rows = 0;
  let read = 0;
  let separator = '';
  for (const object of list.items) {
    piece += separator + item(target, object, view);
    separator = ',';
    if (view.as !== 'object') {
      rows++;
      read += object.bytes.length;
    }
    if (piece.length < pieceBytes && rows < pieceRows && read < readBytes) continue;
    yield piece as ByteString;
    piece = '';
    rows = 0;
    read = 0;
  }
  yield (piece + close) as ByteString;
}

function frameOf(target: Target, list: ObjectList, view: Representation): { open: ByteString; close: string } {
  const { names, definition } = target.resource;
  const token = list.continue();
  const remaining = list.remaining();
  const metadata = stringifyJson({
    resourceVersion: String(list.revision),
    ...(token === '' ? {} : { continue: token }),
    ...(remaining === undefined ? {} : { remainingItemCount: remaining }),
  });
  switch (view.as) {
    case 'object': {
      const { apiVersion } = versionOf(target);
      const head = `{"kind":${JSON.stringify(`${definition.kind}List`)},"apiVersion":${JSON.stringify(apiVersion)}`;
      return { open: encodeText(`${head},"metadata":${metadata},"items":[`), close: ']}' };
    }
    case 'metadata': {
      const head = `{"kind":"PartialObjectMetadataList","apiVersion":${metaVersion(names, view.version)}`;
      return { open: encodeText(`${head},"metadata":${metadata},"items":[`), close: ']}' };
    }
    case 'table': {
      const head = `{"kind":"Table","apiVersion":${metaVersion(names, view.version)}`;
      const columns = columnsText(target);
      return {
        open: encodeText(`${head},"metadata":${metadata},"columnDefinitions":${columns},"rows":[`),
        close: ']}',
      };
    }
  }
}

const metadataMark = '"metadata":{';

/** An object inside a list: its kind and version are those of the list. */
function item(target: Target, object: CachedObject, view: Representation): string {
  switch (view.as) {
    case 'object': {
      const { head } = target.resource.format;
      if (isStorageVersion(target) && object.bytes.startsWith(head)) {
        return `{${object.bytes.slice(head.length - metadataMark.length)}`;
      }
      const { kind: _, apiVersion: __, ...rest } = fromStorage(target, readObject(object));
      return encodeText(stringifyJson(rest));
    }
    case 'metadata':
      return partial(target, object, view.version);
    case 'table':
      return row(target, object, view);
  }
}

function partial(target: Target, object: CachedObject, version: string): ByteString {
  const { names, format } = target.resource;
  const head = `{"kind":"PartialObjectMetadata","apiVersion":${metaVersion(names, version)},"metadata":`;
  const view = projectionOf(target);
  const metadata =
    view === undefined
      ? metadataText(format, object)
      : encodeText(stringifyJson(view.read(readObject(object)).metadata as JsonObject));
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

/** One row, as bytes. */
function row(
  target: Target,
  object: CachedObject,
  { version, includeObject, now }: Representation & { as: 'table' },
): ByteString {
  const { names, definition } = target.resource;
  const shape = { columns: columnsOf(target), view: projectionOf(target), completion: definition.completion, names };
  const shown = {
    None: () => 'null',
    Metadata: () => partial(target, object, version),
    Object: () => encode(target, object),
  };
  return `{${rowText(shape, object, now)},"object":${shown[includeObject]()}}` as ByteString;
}

/** One event of a watch, with its line feed. `first`: the columns of a table are told with its first event alone. */
export function representEvent(target: Target, event: StreamEvent, view: Representation, first: boolean): ByteString {
  const { object, type } = event;
  if (object === undefined) return frame(type, bookmark(target, event, view, first));
  if (view.as === 'object' && isStorageVersion(target)) return event.frame;
  if (view.as !== 'table') return frame(type, representObject(target, object, view));
  const columns = first ? columnsText(target) : 'null';
  return frame(type, table(target, view.version, String(object.revision), columns, row(target, object, view)));
}

const frame = (type: string, object: ByteString): ByteString => `{"type":"${type}","object":${object}}\n` as ByteString;

/** The object of a bookmark: nothing but a version, and whether the initial events end with it. */
function bookmark(target: Target, event: StreamEvent, view: Representation, first: boolean): ByteString {
  const { names, definition } = target.resource;
  const metadata = {
    resourceVersion: String(event.revision),
    creationTimestamp: null,
    ...(event.endsInitialEvents === true ? { annotations: { [`${names.domain}/initial-events-end`]: 'true' } } : {}),
  };
  if (view.as === 'object') {
    return encodeText(stringifyJson({ kind: definition.kind, apiVersion: versionOf(target).apiVersion, metadata }));
  }
  const text = `{"kind":"PartialObjectMetadata","apiVersion":${metaVersion(names, view.version)},"metadata":${stringifyJson(metadata)}}`;
  const shown = encodeText(text);
  if (view.as === 'metadata') return shown;
  const cells = stringifyJson(columnsOf(target).map(() => ''));
  const columns = first ? columnsText(target) : 'null';
  return table(target, view.version, metadata.resourceVersion, columns, `{"cells":${cells},"object":${shown}}`);
}
