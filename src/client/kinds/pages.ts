import type { TypedObject } from './kind.ts';
import type { Place } from './place.ts';
import type { ListOptions, ObjectList, PlaceClient } from './place-client.ts';

/** The default number of objects in a page. */
const pageSize = 500;

/** The pages of a list at one resourceVersion. @throws StatusError 410 when that version is compacted before the last page */
export async function* pagesOf<T extends TypedObject>(
  client: Pick<PlaceClient, 'list'>,
  place: Place,
  options: Omit<ListOptions, 'continue'>,
): AsyncGenerator<ObjectList<T>> {
  let page = await client.list<T>(place, { limit: pageSize, ...options });
  yield page;
  // A complete list of custom objects has an empty token.
  for (let token = page.metadata.continue ?? ''; token !== ''; token = page.metadata.continue ?? '') {
    page = await client.list<T>(place, { limit: pageSize, ...options, continue: token });
    yield page;
  }
}
