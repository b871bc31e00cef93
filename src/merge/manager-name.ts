import { isPrintable } from '../meta/index.ts';

/** The maximum length of a default manager name, in bytes. */
const maxManagerBytes = 128;

/**
 * The field manager of a request: the `fieldManager` parameter, else the product of the user agent, printable
 * characters only and cut at the limit, else `unknown`.
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
