// A reporter of the test runner: says every quarter of a minute how long the tests will still take, from how long each
// file took when it was last run.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { root } from './setup.mjs';

const memory = join(root, 'node_modules/.cache/orch/test-seconds.json');
const everyMs = 15_000;
/** What a file counts that has not been run yet (seconds): those in `test` start programs. */
const unknown = (/** @type {string} */ file) => (file.startsWith('test') ? 12 : 1);

/** @returns {{ [file: string]: number }} */
function remembered() {
  try {
    return JSON.parse(readFileSync(memory, 'utf8'));
  } catch {
    return {};
  }
}

/** @param {{ moduleId: string }} module */
const fileOf = ({ moduleId }) => relative(root, moduleId);

export default class TestProgress {
  seconds = remembered();
  all = 0;
  done = 0;
  began = 0;
  told = 0;

  /** @param {readonly { moduleId: string }[]} modules */
  onTestRunStart(modules) {
    this.all = modules.reduce((sum, module) => sum + this.#weight(module), 0);
    this.done = 0;
    this.began = this.told = Date.now();
  }

  /** @param {{ moduleId: string, diagnostic(): { duration: number } }} module */
  onTestModuleEnd(module) {
    this.done += this.#weight(module);
    this.seconds[fileOf(module)] = Math.round(module.diagnostic().duration / 100) / 10;
    const now = Date.now();
    // The first files tell little.
    if (now - this.told < everyMs || this.done < this.all / 20) return;
    this.told = now;
    const left = ((now - this.began) / 1000) * (this.all / this.done - 1);
    const text = left < 90 ? `${Math.ceil(left)} s` : `${Math.round(left / 60)} min`;
    console.log(`— ${Math.floor((100 * this.done) / this.all)} % of the tests, about ${text} left`);
  }

  onTestRunEnd() {
    mkdirSync(dirname(memory), { recursive: true });
    writeFileSync(memory, JSON.stringify(this.seconds));
  }

  /** @param {{ moduleId: string }} module */
  #weight(module) {
    const file = fileOf(module);
    return this.seconds[file] ?? unknown(file);
  }
}
