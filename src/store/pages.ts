import { serverTurns, type Turns } from '../meta/index.ts';
import type { ListRange, ListResult, Store } from './store.ts';

/** Maximum number of entries of one page. */
const pageEntries = 500;

/**
 * Returns the pages of a range, all at one revision, until `range.limit` entries have been read; at least one page. Each
 * page may wait for its turn.
 */
export async function* pagesOf(
  store: Pick<Store, 'list'>,
  range: ListRange,
  turns: Turns = serverTurns(),
): AsyncGenerator<ListResult> {
  let { limit = Number.POSITIVE_INFINITY } = range;
  for (let next = range; ; ) {
    if (turns.over) await turns.next();
    const page = await store.list({ ...next, limit: Math.min(limit, pageEntries) });
    yield page;
    const after = page.entries.at(-1)?.key;
    limit -= page.entries.length;
    if (!page.more || after === undefined || limit === 0) return;
    next = { ...range, after, revision: page.revision };
  }
}
