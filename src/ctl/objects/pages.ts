import { isJsonObject, type JsonObject, StatusError } from '../../meta/index.ts';
import type { Cluster } from '../cluster/cluster.ts';
import { type SelectorValues, targetUrl } from './selection.ts';
import type { Target } from './targets.ts';

export interface PageOptions {
  readonly selectors?: Partial<SelectorValues>;
  /** The number of objects of a page; 0: all in one. */
  readonly chunkSize?: number;
  readonly accept?: string;
  readonly includeObject?: 'Object' | undefined;
}

const defaultChunk = 500;

/** The object of a target, or the pages of its list. */
export async function* pagesOfTarget(
  cluster: Cluster,
  target: Target,
  options: PageOptions = {},
): AsyncGenerator<JsonObject> {
  const { selectors = {}, chunkSize = defaultChunk, accept, includeObject } = options;
  const limit = target.name === undefined && chunkSize > 0 ? chunkSize : undefined;
  for (let token: string | undefined; ; ) {
    const url = targetUrl(target, selectors, { limit, continue: token, includeObject });
    const page = await cluster.send({ url, ...(accept === undefined ? {} : { accept }) }).catch((error: unknown) => {
      throw target.name === undefined ? namingSelectors(error, target, selectors) : error;
    });
    yield page;
    const { metadata = null } = page;
    const next = target.name === undefined && isJsonObject(metadata) ? metadata['continue'] : undefined;
    if (typeof next !== 'string' || next === '') return;
    token = next;
  }
}

/** The objects of a target, complete with `apiVersion` and `kind`. */
export async function objectsOfTarget(
  cluster: Cluster,
  target: Target,
  options: PageOptions = {},
): Promise<JsonObject[]> {
  const { name: type, apiVersion, kind } = target.resource;
  const objects: JsonObject[] = [];
  const read = async () => {
    for await (const page of pagesOfTarget(cluster, target, options)) {
      if (target.name !== undefined) return [page];
      const { items } = page;
      for (const item of Array.isArray(items) ? items : []) {
        if (isJsonObject(item)) objects.push({ apiVersion, kind, ...item });
      }
    }
    return objects;
  };
  return cluster.progress.during(() => readingText(type, objects.length), read);
}

/** The text that shows the progress of a list. */
export const readingText = (type: string, count: number): string =>
  `Reading ${type}${count === 0 ? '' : `: ${count} so far`}`;

/** A failed list names what was searched. */
function namingSelectors(error: unknown, { resource }: Target, selectors: Partial<SelectorValues>): unknown {
  if (!(error instanceof StatusError) || (error.code !== 400 && error.code !== 404)) return error;
  const { group, version, name } = resource;
  const type = JSON.stringify(`${group}/${version}, Resource=${name}`);
  const { selector = '', fieldSelector = '' } = selectors;
  const what =
    selector === '' && fieldSelector === ''
      ? `Unable to list ${type}`
      : `Unable to find ${type} that match label selector ${JSON.stringify(selector)}, field selector ${JSON.stringify(fieldSelector)}`;
  return new StatusError(error.code, error.reason, `${what}: ${error.message}`, error.details);
}
