import { createHash } from 'node:crypto';
import { it } from 'vitest';
import { openMemoryStore } from '../../../store/index.ts';
import { storeWith } from '../../../store/testing/store-with.ts';
import { openServer } from '../../server.ts';
import { readTestOptions } from '../options.ts';
import { withReplacedGlobals } from './replaced-globals.ts';
import { choicesOf } from './seeded-random.ts';
import { VirtualLoop } from './virtual-loop.ts';

const real = performance.now.bind(performance);
async function once(seed: number, count: number) {
  const begin = real();
  const settings = await readTestOptions({});
  const loop = new VirtualLoop();
  const hash = createHash('sha256');
  const lines: string[] = [];
  const note = (text: string) => {
    hash.update(text + '\n');
    lines.push(text);
  };
  const started: number[] = [];
  await withReplacedGlobals(
    { loop, random: choicesOf(seed, 'globals'), refused: (e) => console.log('REFUSED', e.message) },
    () =>
      loop.run(async () => {
        const store = openMemoryStore({ clock: loop });
        store.watch('', 1, {
          batch: (revision, changes) =>
            note(
              `${loop.time} ${revision} ${changes.map((c) => c.key + (c.entry ? createHash('sha1').update(c.entry.value).digest('hex') : '')).join()}`,
            ),
          error: () => {},
        });
        for (let i = 0; i < count; i++) {
          const b = real();
          await openServer(settings, {
            clock: loop,
            random: choicesOf(seed, `server-${i}`),
            store: storeWith(store, { close: async () => {} }),
            identity: `server-${i}`,
          });
          started.push(Math.round(real() - b));
        }
        const b = real();
        await loop.sleep(3_600_000);
        started.push(Math.round(real() - b));
      }, 60_000),
  );
  console.log(
    seed,
    hash.digest('hex').slice(0, 12),
    lines.length,
    started,
    'tasks',
    loop.added,
    Math.round(real() - begin),
    'ms',
  );
  return lines;
}
it('probe', async () => {
  const a = await once(1, 3);
  const b = await once(1, 3);
  for (let i = 0; i < a.length; i++)
    if (a[i] !== b[i]) {
      console.log(i, a[i], b[i]);
      break;
    }
  await once(2, 3);
  await once(2, 3);
});
