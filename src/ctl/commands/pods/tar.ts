/** Archives of files in the format ustar (POSIX.1-1988), with names of up to 255 bytes. */

/** A file or a folder of an archive. */
export interface TarEntry {
  /** With slashes, relative; a folder ends with a slash. */
  readonly name: string;
  readonly mode: number;
  readonly content: Uint8Array;
}

const blockBytes = 512;
/** Offset and length of the fields of a header. */
const fields = {
  name: [0, 100],
  mode: [100, 8],
  uid: [108, 8],
  gid: [116, 8],
  size: [124, 12],
  mtime: [136, 12],
  checksum: [148, 8],
  type: [156, 1],
  magic: [257, 8],
  prefix: [345, 155],
} as const;

const types = { file: '0', oldFile: '\0', folder: '5', longName: 'L', extended: 'x', global: 'g' } as const;

const padded = (length: number): number => Math.ceil(length / blockBytes) * blockBytes;

/** The blocks of an entry. @throws RangeError when the name does not fit */
export function writeEntry({ name, mode, content }: TarEntry): Uint8Array {
  const { prefix, rest } = splitName(name);
  const out = Buffer.alloc(blockBytes + padded(content.length));
  const put = (field: keyof typeof fields, text: string) => out.write(text, fields[field][0]);
  const number = (value: number, length: number) => `${value.toString(8).padStart(length - 1, '0')}\0`;
  put('name', rest);
  put('prefix', prefix);
  put('mode', number(mode & 0o7777, 8));
  put('uid', number(0, 8));
  put('gid', number(0, 8));
  put('size', number(content.length, 12));
  put('mtime', number(0, 12));
  put('type', name.endsWith('/') ? types.folder : types.file);
  put('magic', 'ustar\x0000');
  put('checksum', `${checksumOf(out).toString(8).padStart(6, '0')}\0 `);
  out.set(content, blockBytes);
  return out;
}

/** The end of an archive. */
export const endOfArchive = (): Uint8Array => new Uint8Array(2 * blockBytes);

function splitName(name: string): { readonly prefix: string; readonly rest: string } {
  if (Buffer.byteLength(name) <= fields.name[1]) return { prefix: '', rest: name };
  for (let slash = name.indexOf('/'); slash > 0; slash = name.indexOf('/', slash + 1)) {
    const [prefix, rest] = [name.slice(0, slash), name.slice(slash + 1)];
    if (rest !== '' && Buffer.byteLength(rest) <= fields.name[1] && Buffer.byteLength(prefix) <= fields.prefix[1])
      return { prefix, rest };
  }
  throw new RangeError(`the name ${JSON.stringify(name)} is too long for an archive`);
}

/** The sum of the bytes of a header, in which the checksum counts as spaces. */
function checksumOf(header: Uint8Array): number {
  const [start, length] = fields.checksum;
  let sum = 0;
  for (let i = 0; i < blockBytes; i++) sum += i >= start && i < start + length ? 0x20 : (header[i] ?? 0);
  return sum;
}

/** Reads an archive that arrives in chunks of any size. @throws RangeError for what is not an archive */
export class TarReader {
  #chunks: Uint8Array[] = [];
  #size = 0;
  /** The bytes that the next header and its file need. */
  #needed = blockBytes;
  #longName: string | undefined;
  readonly #maxBytes: number;

  /** `maxBytes`: the largest file that is read. */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Yields the entries that end in this chunk. */
  *read(chunk: Uint8Array): Generator<TarEntry> {
    this.#chunks.push(chunk);
    this.#size += chunk.length;
    if (this.#size < this.#needed) return;
    let rest = Buffer.concat(this.#chunks);
    for (;;) {
      const header = rest.subarray(0, blockBytes);
      this.#needed = blockBytes;
      if (header.length < blockBytes) break;
      const isEnd = header.every((byte) => byte === 0);
      const size = isEnd ? 0 : sizeOf(header);
      if (size > this.#maxBytes) {
        throw new RangeError(`the archive has a file of ${size} bytes, limit is ${this.#maxBytes}`);
      }
      this.#needed = blockBytes + padded(size);
      if (rest.length < this.#needed) break;
      const entry = isEnd ? undefined : this.#entry(header, rest.subarray(blockBytes, blockBytes + size));
      rest = rest.subarray(this.#needed);
      if (entry !== undefined) yield entry;
    }
    this.#chunks = [rest];
    this.#size = rest.length;
  }

  #entry(header: Buffer, content: Buffer): TarEntry | undefined {
    const type = textOf(header, 'type');
    if (type === types.longName) {
      this.#longName = content.toString().replace(/\0.*$/s, '');
      return undefined;
    }
    const [prefix, rest] = [textOf(header, 'prefix'), textOf(header, 'name')];
    const name = this.#longName ?? (prefix === '' ? rest : `${prefix}/${rest}`);
    this.#longName = undefined;
    // Links and devices are left out: a link could lead out of the folder.
    if (type !== types.file && type !== '' && type !== types.folder) return undefined;
    const isFolder = type === types.folder || name.endsWith('/');
    return {
      name: isFolder && !name.endsWith('/') ? `${name}/` : name,
      mode: Number.parseInt(textOf(header, 'mode'), 8) & 0o777,
      content,
    };
  }
}

const textOf = (header: Buffer, field: keyof typeof fields): string => {
  const [start, length] = fields[field];
  return header
    .toString('utf8', start, start + length)
    .replace(/\0.*$/s, '')
    .trim();
};

function sizeOf(header: Buffer): number {
  const size = Number.parseInt(textOf(header, 'size') || '0', 8);
  if (Number.isNaN(size) || Number.parseInt(textOf(header, 'checksum'), 8) !== checksumOf(header)) {
    throw new RangeError('the container did not send an archive');
  }
  return size;
}
