// test/durations.json: how many seconds the longest test files take, longest first. As a reporter of the test runner
// (npm test -- --durations) this updates the entries of the files that have run. A file without an entry takes less than half
// a second, or is new.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { root } from './setup.mjs';

const path = join(root, 'test/durations.json');

/** @returns {{ [file: string]: number }} */
const read = () => JSON.parse(readFileSync(path, 'utf8'));

/** Seconds by the path of the file, from the root of the project. */
export const durations = read();

/** @param {{ moduleId: string }} module */
export const fileOf = ({ moduleId }) => relative(root, moduleId).replaceAll('\\', '/');

export default class TestDurations {
  /** @param {readonly { moduleId: string, diagnostic(): { duration: number } }[]} modules */
  onTestRunEnd(modules) {
    const measured = modules.map((module) => [fileOf(module), Math.round(module.diagnostic().duration / 1000)]);
    const longest = Object.entries({ ...read(), ...Object.fromEntries(measured) })
      .filter(([file, seconds]) => seconds > 0 && existsSync(join(root, file)))
      .sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1));
    writeFileSync(path, `${JSON.stringify(Object.fromEntries(longest), null, 2)}\n`);
  }
}
