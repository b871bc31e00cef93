import { isPrintable } from '../meta/index.ts';

/** How long the name of a manager may be, in bytes. */
const maxManagerBytes = 128;

/**
 * The name under which a request owns what it writes: the one it gives, else the product of its user agent, printable
 * and cut at the limit, else `unknown`.
 */
export function managerName(fieldManager: string | undefined, userAgent: string | undefined): string {
  if (fieldManager !== undefined && fieldManager !== '') return fieldManager;
  let name = '';
  let bytes = 0;
  for (const character of (userAgent ?? '').split('/', 1)[0] ?? '') {
    if (!isPrintable(character)) continue;
    bytes += Buffer.byteLength(character);
    if (bytes > maxManagerBytes) break;
    name += character;
  }
  return name === '' ? 'unknown' : name;
}
