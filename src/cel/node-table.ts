/** Arrays indexed by node ids. */

/** Sets an entry and fills the gap before it: an array with large holes would become a hash table. */
export function setAt<T>(table: (T | undefined)[], id: number, value: T | undefined): void {
  while (table.length < id) table.push(undefined);
  table[id] = value;
}
