import { isJsonObject, type JsonObject } from '../../meta/index.ts';

/** An entry of `metadata.managedFields`. */
export interface Writer {
  readonly manager: string;
  /** `Apply`, `Update`, and the subresource if there was one: `Update/status`. */
  readonly operation: string;
  /** In RFC 3339. */
  readonly time: string | undefined;
  readonly fields: JsonObject;
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

/** The writers of an object. */
export function writersOf({ metadata }: JsonObject): Writer[] {
  const entries = isJsonObject(metadata) ? metadata['managedFields'] : undefined;
  if (!Array.isArray(entries)) return [];
  return entries.filter(isJsonObject).map(({ manager, operation, subresource, time, fieldsV1 }) => ({
    manager: textOf(manager),
    operation: `${textOf(operation)}${typeof subresource === 'string' ? `/${subresource}` : ''}`,
    time: typeof time === 'string' ? time : undefined,
    fields: isJsonObject(fieldsV1) ? fieldsV1 : {},
  }));
}

/** Who wrote a version: the latest writer among those whose entry differs from that of the version before. */
export function writerOf(object: JsonObject, before: JsonObject | undefined): Writer | undefined {
  const known = new Set((before === undefined ? [] : writersOf(before)).map((writer) => JSON.stringify(writer)));
  const writers = writersOf(object);
  const changed = writers.filter((writer) => writer.manager !== merged && !known.has(JSON.stringify(writer)));
  return (changed.length > 0 ? changed : writers).toSorted(byTime).at(-1);
}

/** The entry into which the server merges the oldest ones. */
const merged = 'ancient-changes';

const byTime = (a: Writer, b: Writer): number => Date.parse(a.time ?? '') - Date.parse(b.time ?? '') || 0;
