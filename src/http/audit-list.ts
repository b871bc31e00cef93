import { setImmediate as nextTurn } from 'node:timers/promises';
import { type AuditContext, maxObject } from '../audit/index.ts';
import type { ByteString } from '../meta/index.ts';
import { type ObjectList, type Representation, representList, type Target } from '../registry/index.ts';

/**
 * Records a list as the response object, and returns it once more, because its items can be read only once. Others have a
 * turn after each piece.
 */
export async function auditList(
  audit: AuditContext,
  target: Target,
  list: ObjectList,
  view: Representation,
): Promise<ObjectList> {
  const again: ObjectList = {
    revision: list.revision,
    items: [...list.items],
    continue: () => list.continue(),
    remaining: () => list.remaining(),
  };
  let json = '';
  for (const piece of representList(target, again, view)) {
    json += piece;
    // A longer one is left out of the event.
    if (json.length > maxObject) break;
    await nextTurn();
  }
  audit.responseObject(json as ByteString);
  return again;
}
