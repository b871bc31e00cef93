import { type AuditContext, maxObject } from '../audit/index.ts';
import type { ByteString, Turns } from '../meta/index.ts';
import {
  type CachedObject,
  type ObjectList,
  type Representation,
  representList,
  type Target,
} from '../registry/index.ts';

/** Number of objects between two looks at the clock. */
const stride = 256;

/**
 * Records a list as the response object, and returns an equal list, because items can be read only once. Works in turns.
 */
export async function auditList(
  audit: AuditContext,
  target: Target,
  list: ObjectList,
  view: Representation,
  turns: Turns,
): Promise<ObjectList> {
  const items: CachedObject[] = [];
  for (const object of list.items) {
    if (items.length % stride === 0 && turns.over) await turns.next();
    items.push(object);
  }
  const again: ObjectList = {
    revision: list.revision,
    items,
    continue: () => list.continue(),
    remaining: () => list.remaining(),
  };
  let json = '';
  const pieces = representList(target, again, view);
  for (;;) {
    const { value, done } = pieces.next();
    json += value.join('');
    // A longer one is left out of the event.
    if (done === true || json.length > maxObject) break;
    if (turns.over) await turns.next();
  }
  await audit.responseObject(json as ByteString, turns);
  return again;
}
