/** Checks the history of a run with several clients and servers; pure functions. */
import type { History } from './history.ts';
import { checkExpiries, checkReads } from './reads.ts';
import { States } from './states.ts';
import { sweep } from './sweep.ts';
import type { Violation } from './violation.ts';
import { checkWatches } from './watches.ts';
import { checkRefusals, checkWrites } from './writes.ts';

export type { Violation } from './violation.ts';

/**
 * What a history shows not to hold:
 * - writes to each object are linearizable, and reads without a version consistent;
 * - every change is that of one request, which was not refused, and every answered write is there as it was answered;
 * - a refusal had its cause in the state of the object;
 * - lists show the state at their version, reads at a version that or a later one;
 * - watches tell every change after their start, once, in order and as what it was, unless their version was compacted.
 */
export function check(history: History): Violation[] {
  const found: Violation[] = [];
  const report = (rule: string, message: string) => found.push({ rule, message });
  const states = new States(history);
  const swept = sweep(history, states);
  checkWrites(swept.operations, states, report);
  checkRefusals(swept.operations, report);
  checkReads(swept.operations, states, report);
  checkExpiries(swept.operations, history.compactions, report);
  checkWatches(history, states, swept, report);
  return found;
}
