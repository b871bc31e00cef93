/** Arrays by the id of a node. */

/** Sets an entry. The array has no holes: one that is set far beyond its end would become a hash table. */
export function setAt<T>(table: (T | undefined)[], id: number, value: T | undefined): void {
  while (table.length < id) table.push(undefined);
  table[id] = value;
}
