/** The memory for the event windows of all caches (bytes), of which each may have no more than remains free. */
export class WindowMemory {
  readonly limit: number;
  used = 0;

  constructor(limit: number) {
    this.limit = limit;
  }
}
