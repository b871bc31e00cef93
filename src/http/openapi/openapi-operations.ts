import type { JsonObject, Names } from '../../meta/index.ts';
import type { ServedVersion } from '../documents/api-groups.ts';

export type Dialect = 'v2' | 'v3';

/** An operation, independent of the version of OpenAPI. */
export interface Operation {
  readonly method: 'get' | 'post' | 'put' | 'patch' | 'delete' | 'head' | 'options';
  readonly id: string;
  /** The action extension: `list`, `post`, `deletecollection`…; none for discovery. */
  readonly action?: string;
  readonly description: string;
  readonly kind?: { readonly group: string; readonly version: string; readonly kind: string };
  /** Names of the query parameters. */
  readonly query: readonly string[];
  /** Schema name of the request body. */
  readonly body?: string;
  readonly bodyRequired?: boolean;
  readonly consumes: readonly string[];
  readonly produces: readonly string[];
  /** Schema name of the response; absent: text. */
  readonly answer?: string;
  readonly codes: readonly (200 | 201 | 202)[];
}

const listQuery = [
  'allowWatchBookmarks',
  'continue',
  'fieldSelector',
  'labelSelector',
  'limit',
  'resourceVersion',
  'resourceVersionMatch',
  'sendInitialEvents',
  'timeoutSeconds',
  'watch',
];
const writeQuery = ['dryRun', 'fieldManager', 'fieldValidation'];
const deleteQuery = [
  'dryRun',
  'gracePeriodSeconds',
  'ignoreStoreReadErrorWithClusterBreakingPotential',
  'orphanDependents',
  'propagationPolicy',
];

/** The query parameters of operations. */
export const queryOf = {
  get: [],
  list: listQuery,
  watch: listQuery,
  watchlist: listQuery,
  create: writeQuery,
  update: writeQuery,
  patch: [...writeQuery, 'force'],
  delete: deleteQuery,
  deletecollection: [
    ...deleteQuery,
    ...listQuery.filter((name) => name !== 'allowWatchBookmarks' && name !== 'watch'),
  ].sort(),
} as const;

export type QueryType = 'boolean' | 'integer' | 'string';

const types: { readonly [parameter: string]: QueryType } = {
  allowWatchBookmarks: 'boolean',
  force: 'boolean',
  gracePeriodSeconds: 'integer',
  ignoreStoreReadErrorWithClusterBreakingPotential: 'boolean',
  limit: 'integer',
  orphanDependents: 'boolean',
  sendInitialEvents: 'boolean',
  timeoutSeconds: 'integer',
  watch: 'boolean',
};

const descriptions: { readonly [parameter: string]: string } = {
  allowWatchBookmarks: 'The watch may send BOOKMARK events, which tell how far it has come.',
  continue: 'The token of an earlier answer, for the next piece of the list.',
  dryRun: 'All: everything is done but the write itself.',
  fieldManager: 'Name of the actor that makes the change.',
  fieldSelector: 'Restricts the list by the values of fields.',
  fieldValidation: 'What becomes of unknown and duplicate fields: Ignore, Warn or Strict.',
  force: 'Takes over fields that others own. For apply requests.',
  gracePeriodSeconds: 'Seconds until the object is deleted.',
  ignoreStoreReadErrorWithClusterBreakingPotential: 'Deletes an object that can no longer be read.',
  labelSelector: 'Restricts the list by labels.',
  limit: 'The most objects that one answer may hold.',
  orphanDependents: 'Leaves dependents without owner. Use propagationPolicy instead.',
  pretty: 'Writes the answer over several lines.',
  propagationPolicy: 'What becomes of dependents: Orphan, Background or Foreground.',
  resourceVersion: 'How new the answer must be.',
  resourceVersionMatch: 'How resourceVersion is meant: Exact or NotOlderThan.',
  sendInitialEvents: 'The watch begins with what is there, and a bookmark that closes it.',
  timeoutSeconds: 'Ends the watch after this number of seconds.',
  watch: 'Watches for changes instead of listing.',
  name: 'Name of the object.',
  namespace: 'Name of the namespace of the objects.',
  path: 'Path of the request that is passed on.',
};

export type Parameter = JsonObject & { readonly name: string };

export function parameter(name: string, place: 'query' | 'path', dialect: Dialect): Parameter {
  const description = descriptions[name] ?? name;
  return typedParameter(name, types[name] ?? 'string', dialect, { description, place });
}

export function typedParameter(
  name: string,
  type: QueryType,
  dialect: Dialect,
  { description, place = 'query' }: { readonly description: string; readonly place?: 'query' | 'path' },
): Parameter {
  return {
    name,
    in: place,
    description,
    ...(place === 'path' ? { required: true } : {}),
    ...(dialect === 'v3' ? { schema: { type, uniqueItems: true } } : { type, uniqueItems: true }),
  };
}

/** The operation in a version of OpenAPI. */
export function writeOperation(
  operation: Operation,
  version: ServedVersion,
  names: Names,
  dialect: Dialect,
): JsonObject {
  const { action, kind } = operation;
  const query = operation.query.map((name) => parameter(name, 'query', dialect));
  return {
    tags: [tagOf(version, names)],
    description: operation.description,
    operationId: operation.id,
    ...(dialect === 'v3' ? bodyAndAnswers(operation, query) : bodyAndAnswersV2(operation, query)),
    ...(action === undefined ? {} : { [`${names.extension}action`]: action }),
    ...(kind === undefined ? {} : { [`${names.extension}group-version-kind`]: { ...kind } }),
  };
}

const describeCode = { 200: 'OK', 201: 'Created', 202: 'Accepted' } as const;

function bodyAndAnswers(operation: Operation, query: JsonObject[]): JsonObject {
  const ref = (name: string) => ({ schema: { $ref: `#/components/schemas/${name}` } });
  const { body, answer } = operation;
  const content = answer === undefined ? { schema: { type: 'string' } } : ref(answer);
  const responses: JsonObject = {};
  for (const code of operation.codes) {
    responses[code] = {
      description: describeCode[code],
      content: Object.fromEntries([...operation.produces].sort().map((type) => [type, content])),
    };
  }
  responses['401'] = { description: 'Unauthorized' };
  return {
    ...(query.length === 0 ? {} : { parameters: query }),
    ...(body === undefined
      ? {}
      : {
          requestBody: {
            content: Object.fromEntries([...operation.consumes].sort().map((type) => [type, ref(body)])),
            ...(operation.bodyRequired === true ? { required: true } : {}),
          },
        }),
    responses,
  };
}

function bodyAndAnswersV2(operation: Operation, query: JsonObject[]): JsonObject {
  const ref = (name: string) => ({ $ref: `#/definitions/${name}` });
  const { body, answer } = operation;
  const responses: JsonObject = {};
  for (const code of operation.codes) {
    const schema = answer === undefined ? { type: 'string' } : ref(answer);
    responses[code] = { description: describeCode[code], schema };
  }
  responses['401'] = { description: 'Unauthorized' };
  const bodyParameter: JsonObject[] =
    body === undefined
      ? []
      : [
          {
            name: 'body',
            in: 'body',
            ...(operation.bodyRequired === true ? { required: true } : {}),
            schema: ref(body),
          },
        ];
  const parameters = [...bodyParameter, ...query];
  return {
    consumes: [...operation.consumes],
    produces: [...operation.produces],
    schemes: ['https'],
    ...(parameters.length === 0 ? {} : { parameters }),
    responses,
  };
}

/** The group and version in operation ids: `AppsV1`, `CoreV1`, `RbacAuthorizationV1`. */
export function wordOf({ group, version }: { group: string; version: string }, names: Names): string {
  return capital(groupWord(group, names)) + capital(version);
}

export const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);

function tagOf({ group, version }: ServedVersion, names: Names): string {
  return `${groupWord(group, names)}_${version}`;
}

function groupWord(group: string, names: Names): string {
  if (group === '') return 'core';
  const own = group.endsWith(`.${names.domain}`) ? group.slice(0, -names.domain.length - 1) : group;
  return own
    .split(/[.-]/)
    .map((part, i) => (i === 0 ? part : capital(part)))
    .join('');
}
