// Loaded into a server from outside (`node --import`): how long a turn of its event loop took at the most, between the
// messages `begin` and `end`. A turn counts as long as it took or as long as the process computed in it, whichever is
// less: what others do on the same machine does not count.

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
  running = message === 'begin';
  if (!running) return;
  longest = 0;
  process.send?.(0);
  setImmediate(turn, now());
});
// The channel alone keeps no server alive.
process.channel?.unref();
