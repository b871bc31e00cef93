/** Numbers the turns of the event loop, so that what happens in one of them can be counted. */
export class LoopTurns {
  #current = 0;
  #asked = false;

  get current(): number {
    if (!this.#asked) {
      this.#asked = true;
      setImmediate(() => {
        this.#asked = false;
        this.#current++;
      });
    }
    return this.#current;
  }
}
