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
  convertedMetadata: Json | undefined,
  desired: string,
  which: string,
): ApiObject {
  const fail = (why: string) => new StatusError(500, '', why);
  const kind = textIn(convertedMetadata, 'kind');
  if (!isJsonObject(convertedMetadata ?? null) || kind === '')
    throw fail(`Object 'Kind' is missing in '${stringifyJson(convertedMetadata ?? null)}'`);
  const object = convertedMetadata as JsonObject;
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
  const problem = metadataProblem(original.metadata, metadata);
  if (problem !== undefined) throw fail(`${which} returned invalid metadata: ${problem}`);
  return { ...object, metadata: restored(original.metadata, metadata as JsonObject) } as ApiObject;
}

const immutable = [
  ['name', 'name'],
  ['namespace', 'namespace'],
  ['uid', 'UID'],
] as const;

/** The problem of the metadata that a webhook returned; undefined when it is valid. */
function metadataProblem(original: JsonObject, converted: Json | undefined): string | undefined {
  if (converted === undefined) return 'missing metadata in converted object';
  if (!isJsonObject(converted)) return `invalid metadata of type ${goType(converted)} in converted object`;
  return (
    mapProblem(original, converted, 'labels', (labels) => errorsNow(validateLabels(labels, 'metadata.labels'))) ??
    mapProblem(original, converted, 'annotations', (annotations) =>
      errorsNow(validateAnnotations(annotations, 'metadata.annotation')),
    )
  );
}

type Validate = (map: {
  readonly [key: string]: string;
}) => readonly { readonly field: string; readonly message: string }[];

function mapProblem(
  original: JsonObject,
  converted: JsonObject,
  field: string,
  validate: Validate,
): string | undefined {
  const map = converted[field] ?? null;
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
