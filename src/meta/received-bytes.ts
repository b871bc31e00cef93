/** Pieces below this size (bytes) are copied: a small buffer takes more memory than its bytes and retains its parent. */
const smallBytes = 4 * 1024;
/** The size of the blocks into which small pieces are copied (bytes). */
const blockBytes = 16 * 1024;

/** Collects bytes that arrive in pieces. Takes little more memory than the bytes themselves, however small the pieces are. */
export class ReceivedBytes {
  readonly #pieces: Buffer[] = [];
  #block: Buffer = Buffer.alloc(0);
  /** The range of the block with small pieces that no entry of `#pieces` covers yet. */
  #from = 0;
  #to = 0;
  #size = 0;

  /** The number of bytes received so far. */
  get size(): number {
    return this.#size;
  }

  add(piece: Buffer): void {
    const isFirst = this.#size === 0;
    this.#size += piece.length;
    if (piece.length < smallBytes && !isFirst) this.#copy(piece);
    else {
      this.#endRun();
      this.#pieces.push(piece);
    }
  }

  /** All bytes; a single piece is not copied. */
  whole(): Buffer {
    this.#endRun();
    const [first] = this.#pieces;
    return first !== undefined && this.#pieces.length === 1 ? first : Buffer.concat(this.#pieces, this.#size);
  }

  #copy(piece: Buffer): void {
    if (this.#to + piece.length > this.#block.length) {
      this.#endRun();
      this.#block = Buffer.allocUnsafe(blockBytes);
      this.#from = 0;
      this.#to = 0;
    }
    this.#to += piece.copy(this.#block, this.#to);
  }

  #endRun(): void {
    if (this.#to > this.#from) this.#pieces.push(this.#block.subarray(this.#from, this.#to));
    this.#from = this.#to;
  }
}
