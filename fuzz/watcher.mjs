// Loaded into a server process (`node --expose-gc --import`): reports over IPC the longest turn of the event loop since
// the last request, and the memory after a garbage collection.
import { readFileSync } from 'node:fs';
import { performance } from 'node:perf_hooks';

const everyMs = 10;

/** CPU time of the main thread (ms); of all threads where the system does not report it. */
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

/** The length of a turn is its wall-clock time or its CPU time, whichever is less. */
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

/** Computes for a second in one turn, to check what watches the server. */
function hold() {
  const began = computed();
  while (computed() - began < 1_000);
  return computed() - began;
}

/** @type {{ [ask: string]: () => number }} */
const answers = {
  turn: () => {
    const result = longest;
    longest = 0;
    return result;
  },
  memory,
  hold,
  resident: () => process.memoryUsage.rss(),
};

process.on('message', (/** @type {{ ask: string, id: number }} */ { ask, id }) => {
  turn();
  process.send?.({ id, answer: answers[ask]?.() });
  // A requested garbage collection does not count as a turn.
  last = { clock: performance.now(), computed: computed() };
});
// The parent process is gone: exit with it.
process.on('disconnect', () => process.exit(1));
// The channel must not keep the server alive.
process.channel?.unref();
