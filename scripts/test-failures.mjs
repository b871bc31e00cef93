// The tests that failed in a run, for the end of `npm test`: several runs side by side print thousands of lines before it. As
// a reporter of the test runner this writes them to the file that TEST_FAILURES names.
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { fileOf } from './test-durations.mjs';

/**
 * @typedef {object} Failure
 * @property {string} file empty: unknown
 * @property {string} test its full name; empty: the file failed outside of its tests
 * @property {string} message the first lines of its error
 */

/** Reads the failures of a run that has ended, and deletes their file. @param {string} path @returns {Failure[]} */
export function takeFailures(path) {
  if (!existsSync(path)) return [];
  const failures = JSON.parse(readFileSync(path, 'utf8'));
  rmSync(path);
  return failures;
}

/** @param {readonly { message: string }[]} errors */
const messageOf = (errors) => (errors[0]?.message ?? '').split('\n').slice(0, 12).join('\n');

export default class TestFailures {
  /**
   * @param {readonly import('vitest/node').TestModule[]} modules
   * @param {readonly { message: string }[]} errors those that no test has caused
   */
  onTestRunEnd(modules, errors) {
    const path = process.env.TEST_FAILURES;
    if (path === undefined) return;
    const failures = modules.flatMap((module) => [
      ...[module, ...module.children.allSuites()].flatMap((part) =>
        part.errors().map((error) => ({ file: fileOf(module), test: '', message: messageOf([error]) })),
      ),
      ...[...module.children.allTests('failed')].map((test) => ({
        file: fileOf(module),
        test: test.fullName,
        message: messageOf(test.result().errors ?? []),
      })),
    ]);
    failures.push(...errors.map((error) => ({ file: '', test: '', message: messageOf([error]) })));
    writeFileSync(path, JSON.stringify(failures));
  }
}
