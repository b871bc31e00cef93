/** Items of which the first in an order is taken next. The order of an item must not change while it is here. */
export class Heap<T> {
  readonly #isBefore: (a: T, b: T) => boolean;
  /** A binary heap: no item is before the one at half its place. */
  readonly #items: T[] = [];

  constructor(isBefore: (a: T, b: T) => boolean) {
    this.#isBefore = isBefore;
  }

  get size(): number {
    return this.#items.length;
  }

  add(item: T): void {
    const items = this.#items;
    let place = items.length;
    while (place > 0) {
      const above = (place - 1) >> 1;
      if (!this.#isBefore(item, items[above] as T)) break;
      items[place] = items[above] as T;
      place = above;
    }
    items[place] = item;
  }

  /** Removes and returns the first item; undefined when there is none. */
  take(): T | undefined {
    const items = this.#items;
    const first = items[0];
    const last = items.pop();
    if (last === undefined || items.length === 0) return first;
    let place = 0;
    for (let below = 1; below < items.length; below = 2 * place + 1) {
      if (below + 1 < items.length && this.#isBefore(items[below + 1] as T, items[below] as T)) below++;
      if (!this.#isBefore(items[below] as T, last)) break;
      items[place] = items[below] as T;
      place = below;
    }
    items[place] = last;
    return first;
  }
}
