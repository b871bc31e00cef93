import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Random } from './random.ts';

/** The unit that a disk writes as a whole (bytes). */
const sectorBytes = 512;

/** Until the end of a process is in the log (ms). */
const patience = 2_000;

/** A write that has not been flushed. */
interface Write {
  readonly at: number;
  bytes: Buffer;
  /** Whether it is on the disk, as those through a synchronous descriptor are when they return. */
  isDurable: boolean;
  isDone: boolean;
}

/** A file on the disk: what has been flushed, and the writes that may be there or not. */
interface Recorded {
  readonly path: string;
  durable: Buffer;
  writes: Write[];
}

/** A call that has begun; `end` is given what it returns. */
type End = (result: number) => void;

const lastNumber = /, (\d+)(?:\)| <unfinished)/;

/** Whether this machine can record what a process writes. */
export const canRecord = (): boolean =>
  spawnSync('strace', ['-D', '-f', '--seccomp-bpf', '-o', '/dev/null', 'true']).status === 0;

/**
 * Files on a disk that loses power: what processes have written and flushed is recorded by `strace`, so that the files can
 * be given the contents that a disk may have after a power loss. Whatever was flushed is there; of anything else, each
 * sector may be there or not.
 */
export class Disk {
  readonly #files: readonly Recorded[];
  readonly #log: string;
  /** How far the log has been read, and the start of a line that is not complete. */
  #offset = 0;
  #rest = '';
  readonly #descriptors = new Map<number, Recorded>();
  readonly #synchronous = new Set<number>();
  /** Where a descriptor writes next, after it was told where. */
  readonly #positions = new Map<number, number>();
  /** Calls that have not returned, by thread. */
  readonly #calls = new Map<string, End>();
  readonly #ended = new Set<string>();

  /** `log`: where calls are recorded. */
  constructor(files: readonly string[], log: string) {
    this.#files = files.map((path) => ({ path, durable: Buffer.alloc(0), writes: [] }));
    this.#log = log;
  }

  /** The command that runs another one, under its own process id, and records what it writes. */
  get runner(): string[] {
    const calls = 'trace=openat,lseek,writev,pwrite64,fdatasync';
    const options = ['-D', '-A', '-f', '--seccomp-bpf', '-xx', '-s', '16777216', '-e', calls];
    return ['strace', ...options, ...this.#files.flatMap(({ path }) => ['-P', path]), '-o', this.#log];
  }

  /** To be called when a process has ended, before the next one uses the files. @returns when its calls have been read */
  async ended(pid: number): Promise<void> {
    const start = performance.now();
    while (!this.#ended.has(`${pid}`)) {
      const text = await this.#next();
      // A process that is killed before its calls are recorded leaves no line.
      if (text === '' && performance.now() - start > patience) break;
      if (text === '') await sleep(10);
      const lines = (this.#rest + text).split('\n');
      this.#rest = lines.pop() as string;
      for (const line of lines) this.take(line);
    }
    this.#calls.clear();
    for (const { path, durable, writes } of this.#files) {
      const content = existsSync(path) ? readFileSync(path) : Buffer.alloc(0);
      for (const write of writes.filter(({ isDone }) => !isDone)) {
        write.bytes = content.subarray(write.at, write.at + write.bytes.length);
        write.isDone = true;
      }
      if (!apply(Buffer.from(durable), writes).equals(content))
        throw new Error(`${this.#log} misses writes to ${path}`);
    }
  }

  /** Gives the files contents that they may have after a power loss. No process may use them. */
  losePower(random: Random): void {
    for (const [i, content] of this.images(random).entries()) {
      const file = this.#files[i] as Recorded;
      file.durable = content;
      file.writes = [];
      if (existsSync(file.path)) writeFileSync(file.path, content);
    }
  }

  /** Contents that the files may have if power is lost now. */
  images(random: Random): Buffer[] {
    return this.#files.map(({ durable, writes }) => {
      const kept = writes.flatMap((write) => (write.isDurable ? [write] : survivors(write, random)));
      return apply(Buffer.from(durable), kept);
    });
  }

  /** Takes a line of the log. */
  take(line: string): void {
    const [, thread = '', rest = ''] = /^(\d+) +(.*)$/s.exec(line) ?? [];
    if (rest.startsWith('+++')) this.#ended.add(thread);
    if (rest.startsWith('+++') || rest.startsWith('---')) return;
    const returned = /\) += (-?\d+)(?: |$)/.exec(rest.slice(-200))?.[1];
    if (!rest.startsWith('<...')) this.#calls.set(thread, this.#begin(rest));
    if (returned === undefined) return;
    this.#calls.get(thread)?.(Number(returned));
    this.#calls.delete(thread);
  }

  #begin(call: string): End {
    const name = call.slice(0, call.indexOf('('));
    const descriptor = Number.parseInt(call.slice(name.length + 1), 10);
    if (name === 'openat') return this.#open(call);
    if (name === 'lseek') return (position) => this.#positions.set(descriptor, position);
    if (name === 'writev') return this.#write(call, descriptor, this.#positions.get(descriptor) ?? 0);
    if (name === 'pwrite64') return this.#write(call, descriptor, Number(lastNumber.exec(call.slice(-200))?.[1]));
    return name === 'fdatasync' ? this.#flush(descriptor) : () => {};
  }

  #open(call: string): End {
    const path = Buffer.from(/"([^"]*)"/.exec(call)?.[1]?.replaceAll('\\x', '') ?? '', 'hex').toString();
    const file = this.#files.find((each) => each.path === path);
    const isSynchronous = /\bO_D?SYNC\b/.test(call);
    return (descriptor) => {
      if (file === undefined) this.#descriptors.delete(descriptor);
      else this.#descriptors.set(descriptor, file);
      if (isSynchronous) this.#synchronous.add(descriptor);
      else this.#synchronous.delete(descriptor);
    };
  }

  #write(call: string, descriptor: number, at: number): End {
    const texts = [...call.matchAll(/"((?:\\x[0-9a-f]{2})*)"/g)].map(([, text = '']) => text.replaceAll('\\x', ''));
    const write: Write = { at, bytes: Buffer.from(texts.join(''), 'hex'), isDurable: false, isDone: false };
    this.#descriptors.get(descriptor)?.writes.push(write);
    return (count) => {
      write.bytes = write.bytes.subarray(0, Math.max(0, count));
      write.isDurable = this.#synchronous.has(descriptor);
      write.isDone = true;
    };
  }

  /** A flush covers what was written before it began. */
  #flush(descriptor: number): End {
    const file = this.#descriptors.get(descriptor);
    const covered = new Set(file?.writes.filter(({ isDone }) => isDone));
    return (result) => {
      if (file === undefined || result !== 0) return;
      file.durable = apply(
        file.durable,
        file.writes.filter((write) => covered.has(write)),
      );
      file.writes = file.writes.filter((write) => !covered.has(write));
    };
  }

  /** The next lines of the log. */
  async #next(): Promise<string> {
    const log = await open(this.#log, 'r');
    try {
      const { bytesRead, buffer } = await log.read({ buffer: Buffer.alloc(2 ** 20), position: this.#offset });
      this.#offset += bytesRead;
      return buffer.toString('latin1', 0, bytesRead);
    } finally {
      await log.close();
    }
  }
}

/** The content after writes, in their order; changes the given one. Space that was never written is zero. */
function apply(content: Buffer, writes: readonly Pick<Write, 'at' | 'bytes'>[]): Buffer {
  const size = Math.max(content.length, ...writes.map(({ at, bytes }) => (bytes.length === 0 ? 0 : at + bytes.length)));
  const result = size === content.length ? content : Buffer.concat([content, Buffer.alloc(size - content.length)]);
  for (const { at, bytes } of writes) bytes.copy(result, at);
  return result;
}

/** The sectors of a write that are on the disk: all of them, none, or some. */
function survivors({ at, bytes }: Write, random: Random): Pick<Write, 'at' | 'bytes'>[] {
  const kept = random.pick([() => true, () => false, () => random.chance(2)]);
  const pieces: Pick<Write, 'at' | 'bytes'>[] = [];
  for (let from = 0, to = 0; from < bytes.length; from = to) {
    to = Math.min(bytes.length, from + sectorBytes - ((at + from) % sectorBytes));
    if (kept()) pieces.push({ at: at + from, bytes: bytes.subarray(from, to) });
  }
  return pieces;
}
