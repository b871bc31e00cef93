// A reporter of the test runner: says every quarter of a minute how long the tests will still take, by the seconds that
// `test/durations.json` has for each file.
import { durations, fileOf } from './test-durations.mjs';

const everyMs = 15_000;

/** @param {{ moduleId: string }} module */
const weightOf = (module) => durations[fileOf(module)] ?? 1;

export default class TestProgress {
  all = 0;
  done = 0;
  began = 0;
  told = 0;

  /** @param {readonly { moduleId: string }[]} modules */
  onTestRunStart(modules) {
    this.all = modules.reduce((sum, module) => sum + weightOf(module), 0);
    this.done = 0;
    this.began = this.told = Date.now();
  }

  /** @param {{ moduleId: string }} module */
  onTestModuleEnd(module) {
    this.done += weightOf(module);
    const now = Date.now();
    // The first files tell little.
    if (now - this.told < everyMs || this.done < this.all / 20) return;
    this.told = now;
    const left = ((now - this.began) / 1000) * (this.all / this.done - 1);
    const text = left < 90 ? `${Math.ceil(left)} s` : `${Math.round(left / 60)} min`;
    console.log(`— ${Math.floor((100 * this.done) / this.all)} % of the tests, about ${text} left`);
  }
}
