// A process that opens a store: node child.mjs <url of the store module> <directory> <task>.
// Writes one line of JSON for each event to its standard output, unbuffered.
import { writeSync } from 'node:fs';

const [, , door = '', path = '', task = '', from = '0'] = process.argv;
/** @type {typeof import('../index.ts')} */
const { openLmdbStore } = await import(door);

const clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after(/** @type {number} */ ms, /** @type {() => void} */ run) {
    const timer = setTimeout(run, ms).unref();
    return () => clearTimeout(timer);
  },
};
const say = (/** @type {unknown} */ event) => writeSync(1, `${JSON.stringify(event)}\n`);
const value = (/** @type {string} */ text, size = 0) => Buffer.from(text.padEnd(size, '.'));

/** Commits to keys of its own in a loop, and reports every answered commit. */
async function write(/** @type {import('../index.ts').Store} */ store, /** @type {number} */ writer) {
  for (let n = Number(from); ; n++) {
    const key = `${writer}/${n % 3}`;
    const size = n % 11 === 0 ? 9000 : (n * 37) % 3000;
    const writes = [n % 7 === 3 ? { key } : { key, value: value(`${n}.`, size) }];
    if (n % 5 === 0) writes.push({ key: `${writer}/twin`, value: value(`${n}.`) });
    const { entry } = await store.get(key);
    const result = await store.commit([{ key, revision: entry?.revision ?? 0 }], writes);
    if (!result.ok) throw new Error('a commit was refused');
    say({
      revision: result.revision,
      writer,
      n,
      keys: writes.map((each) => each.key),
      deletes: n % 7 === 3,
      before: entry?.revision ?? 0,
    });
  }
}

async function compact(/** @type {import('../index.ts').Store} */ store) {
  for (;;) {
    await new Promise((resolve) => setTimeout(resolve, 15));
    await store.compact(Math.max(1, (await store.revision()) - 200));
  }
}

/** Commits until the disk is full; reports the number of commits, the error, and the outcome of one more commit. */
async function fill(/** @type {import('../index.ts').Store} */ store) {
  for (let n = 0; n < 1000; n++) {
    try {
      await store.commit([], [{ key: `fill/${n}`, value: value('', 100_000) }]);
    } catch (/** @type {any} */ error) {
      const { entry } = await store.get(`fill/${n - 1}`);
      say({ committed: n, code: error.code, message: error.message, last: entry?.value.length });
      await store.commit([], [{ key: 'small', value: value('x') }]).then(
        () => say({ again: 'worked' }),
        (/** @type {any} */ again) => say({ again: again.code }),
      );
      break;
    }
  }
  await store.close();
  say('closed');
}

// Switches the user itself and not by its parent: only the superuser may be able to read the Node binary.
const user = Number(process.env['STORE_USER']);
if (user > 0) {
  process.setgid?.(user);
  process.setuid?.(user);
}
try {
  const store = await openLmdbStore({ path, clock, mapSize: 1 << 20 });
  say('open');
  if (task === 'write')
    await Promise.all([...Array.from({ length: 16 }, (_, writer) => write(store, writer)), compact(store)]);
  if (task === 'fill') await fill(store);
  if (task === 'hold') setInterval(() => undefined, 1000);
} catch (/** @type {any} */ error) {
  say({ code: error.code, message: error.message });
}
