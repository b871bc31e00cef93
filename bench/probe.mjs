// Loaded into a server process (`node --import`): measures the longest turn of the event loop between the messages
// `begin` and `end`. The length of a turn is its wall-clock time or its CPU time, whichever is less, so that other
// processes on the same machine do not count. To the message `memory` it replies with the bytes that are live after a
// garbage collection.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

function live() {
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

function now() {
  const { user, system } = process.cpuUsage();
  return { clock: performance.now(), computed: (user + system) / 1000 };
}

let longest = 0;
let running = false;

function turn(/** @type {ReturnType<typeof now>} */ last) {
  const next = now();
  longest = Math.max(longest, Math.min(next.clock - last.clock, next.computed - last.computed));
  if (running) setImmediate(turn, next);
  else process.send?.(longest);
}

process.on('message', (message) => {
  if (message === 'memory') {
    process.send?.(live());
    return;
  }
  running = message === 'begin';
  if (!running) return;
  longest = 0;
  process.send?.(0);
  setImmediate(turn, now());
});
// The channel must not keep the server alive.
process.channel?.unref();
