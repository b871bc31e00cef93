import { stringifyJson } from '../../codec/index.ts';
import {
  type ApiObject,
  aggregateMessages,
  errorsNow,
  isJsonObject,
  type Json,
  type JsonObject,
  jsonEqual,
  StatusError,
  validateAnnotations,
  validateLabels,
} from '../../meta/index.ts';
import { textIn } from './review.ts';

/**
 * The object that a webhook returned for `original`, with the metadata of the original except for labels and
 * annotations. Throws a StatusError 500 that begins with `which`, such as `conversion webhook for apps/v1, Kind=Pod`.
 */
export function acceptConverted(
  original: ApiObject,
  given: Json | undefined,
  desired: string,
  which: string,
): ApiObject {
  const fail = (why: string) => new StatusError(500, '', why);
  const kind = textIn(given, 'kind');
  if (!isJsonObject(given ?? null) || kind === '')
    throw fail(`Object 'Kind' is missing in '${stringifyJson(given ?? null)}'`);
  const object = given as JsonObject;
  const version = textIn(object, 'apiVersion');
  const invalid = (why: string) => fail(`${which} returned invalid object${why}`);
  if (version !== desired) {
    throw invalid(` at index 0: invalid groupVersion (expected ${desired}, received ${version})`);
  }
  if (kind !== original.kind) throw invalid(` at index 0: invalid kind (expected ${original.kind}, received ${kind})`);
  const { metadata } = object;
  for (const [field, name] of immutable) {
    const [before, after] = [textIn(original.metadata, field), textIn(metadata, field)];
    if (before !== after) throw invalid(`: must have the same ${name}: ${before} != ${after}`);
  }
  const fault = metadataFault(original.metadata, metadata);
  if (fault !== undefined) throw fail(`${which} returned invalid metadata: ${fault}`);
  return { ...object, metadata: restored(original.metadata, metadata as JsonObject) } as ApiObject;
}

const immutable = [
  ['name', 'name'],
  ['namespace', 'namespace'],
  ['uid', 'UID'],
] as const;

/** What is wrong with the metadata that a webhook returned; undefined when it is valid. */
function metadataFault(original: JsonObject, given: Json | undefined): string | undefined {
  if (given === undefined) return 'missing metadata in converted object';
  if (!isJsonObject(given)) return `invalid metadata of type ${goType(given)} in converted object`;
  return (
    mapFault(original, given, 'labels', (labels) => errorsNow(validateLabels(labels, 'metadata.labels'))) ??
    mapFault(original, given, 'annotations', (annotations) =>
      errorsNow(validateAnnotations(annotations, 'metadata.annotation')),
    )
  );
}

type Validate = (map: {
  readonly [key: string]: string;
}) => readonly { readonly field: string; readonly message: string }[];

function mapFault(original: JsonObject, given: JsonObject, field: string, validate: Validate): string | undefined {
  const map = given[field] ?? null;
  if (map === null) return undefined;
  if (!isJsonObject(map)) return `invalid metadata.${field} of type ${goType(map)} in converted object`;
  for (const [key, value] of Object.entries(map)) {
    if (typeof value === 'string') continue;
    return `metadata.${field}[${key}] must be a string, but is ${goType(value)} in converted object`;
  }
  if (jsonEqual(map, original[field] ?? {})) return undefined;
  const errors = validate(map as { readonly [key: string]: string });
  return errors.length === 0 ? undefined : aggregateMessages(errors.map((error) => `${error.field}: ${error.message}`));
}

/** The metadata of the original, in the order of its fields, with labels and annotations of the converted object. */
function restored(original: JsonObject, { labels = null, annotations = null }: JsonObject): JsonObject {
  const { labels: _, annotations: __, ...rest } = original;
  return { ...rest, ...(labels === null ? {} : { labels }), ...(annotations === null ? {} : { annotations }) };
}

/** The Go type of a decoded value, as it stands in messages of the reference server. */
function goType(value: Json): string {
  if (value === null) return '<nil>';
  if (Array.isArray(value)) return '[]interface {}';
  if (typeof value === 'number') return Number.isInteger(value) ? 'int64' : 'float64';
  return { string: 'string', boolean: 'bool', bigint: 'int64' }[typeof value as string] ?? 'map[string]interface {}';
}
