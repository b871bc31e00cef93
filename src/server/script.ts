import { createHash } from 'node:crypto';
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { mkdir, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Script } from 'node:vm';

/** The folder of the build. */
const buildFolder = dirname(fileURLToPath(import.meta.url));

/** The exports of a script, and a function that stores its compiled code. */
export interface LoadedScript<T> {
  readonly exports: T;
  /**
   * Stores what V8 has compiled until this call, for the next starts, unless it is stored already: then the call holds the
   * event loop for about 100 ms. Resolves once it is written. Never rejects: without permission to write next to the
   * script, every start compiles it.
   */
  readonly storeCode: () => Promise<void>;
}

/** Maximum number of code caches of a script and an entry: one for each version and set of options of Node. */
const maxCaches = 4;

/**
 * Loads `NAME.script.cjs` of the build, and the scripts that it requires. A script is a function expression with the parameters
 * of a CommonJS module, followed by a line with its hash. V8 takes its functions from a code cache in the folder `code` next to
 * it, instead of compiling them: whoever can write the cache can also write the script. Each entry `name` has caches of its
 * own, since it calls other functions of the scripts that entries share. A script without a hash has none.
 */
export function loadScript<T>(name: string, folder = buildFolder): LoadedScript<T> {
  const requirePackage = createRequire(join(folder, name));
  const loaded = new Map<string, object>();
  let read: ReturnType<typeof fileReader> | undefined;
  let compiled: { readonly script: Script; readonly cache: string }[] = [];
  const load = (file: string): object => {
    const known = loaded.get(file);
    if (known !== undefined) return known;
    const path = join(folder, file);
    read ??= fileReader();
    // Scripts are ASCII.
    const source = read(path).toString('latin1');
    const key = cacheKey(source);
    const cache = key === undefined ? undefined : join(folder, 'code', `${name}-${file}-${key}`);
    const cachedData = cache === undefined ? undefined : readIfPresent(cache, read);
    const script = new Script(source, { filename: path, ...(cachedData && { cachedData }) });
    const exports = {};
    loaded.set(file, exports);
    if (cache !== undefined && script.cachedDataRejected !== false) compiled.push({ script, cache });
    const required = (id: string): unknown => (id.startsWith('./') ? load(id.slice(2)) : requirePackage(id));
    (script.runInThisContext() as ScriptFunction)(exports, required, path);
    return exports;
  };
  const exports = load(`${name}.script.cjs`) as T;
  // Its memory is as large as the largest file.
  read = undefined;
  return {
    exports,
    async storeCode() {
      const codes = compiled.map(({ script, cache }) => ({ cache, code: script.createCachedData() }));
      compiled = [];
      await Promise.all(codes.map(({ cache, code }) => store(cache, code).catch(() => {})));
    },
  };
}

type ScriptFunction = (exports: object, require: (id: string) => unknown, filename: string) => void;

/** The hash at the end of a script: `//` and 32 hexadecimal digits. */
const hashLine = /\n\/\/([0-9a-f]{32})\n$/;

/** Names the code of this script for this Node with its options: V8 rejects that of other ones. Undefined without a hash. */
function cacheKey(source: string): string | undefined {
  const hash = hashLine.exec(source.slice(-40))?.[1];
  if (hash === undefined) return undefined;
  const { version, arch, execArgv, env } = process;
  const state = JSON.stringify([hash, version, arch, execArgv, env.NODE_OPTIONS]);
  return createHash('sha256').update(state).digest('hex').slice(0, 16);
}

/**
 * Returns a function that reads a file. The bytes are valid until the next call: all files are read into the same memory,
 * since new memory costs more than the reading.
 */
function fileReader(): (path: string) => Buffer {
  let memory = Buffer.alloc(0);
  return (path) => {
    const file = openSync(path, 'r');
    try {
      const { size } = fstatSync(file);
      if (size > memory.length) memory = Buffer.allocUnsafeSlow(size);
      return memory.subarray(0, readSync(file, memory, 0, size, 0));
    } finally {
      closeSync(file);
    }
  };
}

function readIfPresent(path: string, read: (path: string) => Buffer): Buffer | undefined {
  try {
    return read(path);
  } catch {
    return undefined;
  }
}

/** Writes the cache, and removes the oldest ones of the same script. Several processes may do it at the same time. */
async function store(path: string, code: Buffer): Promise<void> {
  const folder = dirname(path);
  await mkdir(folder, { recursive: true, mode: 0o755 });
  const partial = `${path}.${process.pid}`;
  await writeFile(partial, code, { mode: 0o644, flag: 'wx', flush: true });
  await rename(partial, path);
  const script = path.slice(0, path.lastIndexOf('-') + 1);
  const others = (await readdir(folder)).map((file) => join(folder, file)).filter((file) => file.startsWith(script));
  const ages = await Promise.all(others.map(async (file) => ({ file, writtenAt: (await stat(file)).mtimeMs })));
  const oldest = ages.sort((a, b) => b.writtenAt - a.writtenAt).slice(maxCaches);
  await Promise.all(oldest.map(({ file }) => rm(file, { force: true })));
}
