// Kills the processes whose ids it is told (`+id`, `-id` when one has exited) when its standard input ends.
import { createInterface } from 'node:readline';

/** @type {Set<number>} */
const running = new Set();
for await (const line of createInterface(process.stdin)) {
  const id = Number(line.slice(1));
  if (line.startsWith('+')) running.add(id);
  else running.delete(id);
}
for (const id of running) {
  try {
    process.kill(id, 'SIGKILL');
  } catch {
    // It has exited.
  }
}
