// Loaded into a server from outside (`node --expose-gc --import`): tells over IPC how long a turn of its event loop took
// at the most since it was asked last, and how much memory it holds after a collection.
import { readFileSync } from 'node:fs';
import { performance } from 'node:perf_hooks';

const everyMs = 10;

/** Milliseconds that the main thread has computed; on systems that do not tell, that all threads have. */
function computed() {
  try {
    return Number(readFileSync('/proc/thread-self/schedstat', 'utf8').split(' ')[0]) / 1e6;
  } catch {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1000;
  }
}

let last = { clock: performance.now(), computed: computed() };
let longest = 0;

/** A turn counts as long as it took or as long as the thread computed in it, whichever is less. */
function turn() {
  const now = { clock: performance.now(), computed: computed() };
  longest = Math.max(longest, Math.min(now.clock - last.clock - everyMs, now.computed - last.computed));
  last = now;
}
setInterval(turn, everyMs).unref();

/** @returns {number} bytes */
function memory() {
  globalThis.gc?.();
  globalThis.gc?.();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

/** @type {{ [ask: string]: () => number }} */
const answers = {
  turn: () => {
    const told = longest;
    longest = 0;
    return told;
  },
  memory,
  resident: () => process.memoryUsage.rss(),
};

process.on('message', (/** @type {{ ask: string, id: number }} */ { ask, id }) => {
  turn();
  process.send?.({ id, answer: answers[ask]?.() });
  // A collection that was asked for is no turn of the server's own.
  last = { clock: performance.now(), computed: computed() };
});
// Whoever has started the server to try it is gone, and nobody else knows of it.
process.on('disconnect', () => process.exit(1));
// The channel alone keeps no server alive.
process.channel?.unref();
