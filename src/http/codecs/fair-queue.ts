/** Work that waits, and how much of the queue it takes. */
interface Sized {
  readonly owner: string;
  readonly size: number;
}

/** The time that one owner has used while others waited (ms), and its waiting pieces. */
interface Owner<T> {
  used: number;
  held: number;
  /** Ordered by arrival. */
  readonly waiting: T[];
}

/**
 * Work of several owners that waits for a worker who does one piece at a time. The next piece is the oldest of the owner
 * who has used the least time; whoever comes later starts from what the owner served last has used.
 */
export class FairQueue<T extends Sized> {
  readonly #limit: number;
  readonly #owners = new Map<string, Owner<T>>();
  #size = 0;
  #waiting = 0;
  /** The time that the owner of the last piece had used when the piece was taken. */
  #used = 0;

  /** The limit is that of the sizes of all that waits. */
  constructor(limit: number) {
    this.#limit = limit;
  }

  get waiting(): number {
    return this.#waiting;
  }

  /** Adds a piece. The result is what has no place any more: the newest pieces of the owners who hold most of the queue. */
  add(piece: T): T[] {
    const owner = this.#owner(piece.owner);
    owner.waiting.push(piece);
    this.#count(owner, piece, 1);
    const displaced: T[] = [];
    while (this.#size > this.#limit) {
      const most = this.#first((one, other) => one.held >= other.held) as Owner<T>;
      const newest = most.waiting.pop() as T;
      this.#count(most, newest, -1);
      displaced.push(newest);
    }
    return displaced;
  }

  take(): T | undefined {
    const least = this.#first((one, other) => one.used < other.used);
    const piece = least?.waiting.shift();
    if (least === undefined || piece === undefined) return undefined;
    this.#used = least.used;
    this.#count(least, piece, -1);
    return piece;
  }

  /** Counts the time that a piece has taken (ms). */
  charge(name: string, ms: number): void {
    if (this.#waiting > 0) this.#owner(name).used += ms;
    for (const [key, { used, waiting }] of this.#owners) {
      if (this.#waiting === 0 || (waiting.length === 0 && used <= this.#used)) this.#owners.delete(key);
    }
    if (this.#waiting === 0) this.#used = 0;
  }

  /** Takes all that waits. */
  clear(): T[] {
    const left = [...this.#owners.values()].flatMap(({ waiting }) => waiting);
    this.#owners.clear();
    this.#size = 0;
    this.#waiting = 0;
    this.#used = 0;
    return left;
  }

  /** The owner of that name, who has used no less than the one served last, unless it was waiting meanwhile. */
  #owner(name: string): Owner<T> {
    let owner = this.#owners.get(name);
    if (owner === undefined) {
      owner = { used: this.#used, held: 0, waiting: [] };
      this.#owners.set(name, owner);
    } else if (owner.waiting.length === 0) owner.used = Math.max(owner.used, this.#used);
    return owner;
  }

  #count(owner: Owner<T>, { size }: T, sign: 1 | -1): void {
    owner.held += sign * size;
    this.#size += sign * size;
    this.#waiting += sign;
  }

  /** The owner with waiting pieces who comes before all others. */
  #first(isBefore: (one: Owner<T>, other: Owner<T>) => boolean): Owner<T> | undefined {
    let found: Owner<T> | undefined;
    for (const owner of this.#owners.values()) {
      if (owner.waiting.length > 0 && (found === undefined || isBefore(owner, found))) found = owner;
    }
    return found;
  }
}
