import type { Compaction, Item } from './history.ts';
import { versionOf } from './objects.ts';
import type { State, States } from './states.ts';
import type { Judged } from './sweep.ts';
import { type Report, show } from './violation.ts';

/** Checks that reads show what was there, no older than they may be. */
export function checkReads(judged: readonly Judged[], states: States, report: Report): void {
  for (const one of judged) {
    if (one.operation.request.verb === 'get') checkGet(one, states, report);
    if (one.claim.type === 'listed') checkList(one, states, report);
  }
}

function checkGet({ operation, claim, floor, possible }: Judged, states: States, report: Report): void {
  const { request, outcome } = operation;
  if (claim.type !== 'saw' || request.verb !== 'get') return;
  const shown = states.of(request.key).filter(claim.holds);
  const [seen] = possible;
  if (shown.length === 0) report('invented', `${show(operation)}: never so`);
  else if (seen === undefined) report('stale read', `${show(operation)}: shows ${show(shown.at(-1))} after ${floor}`);
  else if (outcome.type === 'object' && seen.object !== undefined && !states.same(outcome.object, seen.object)) {
    report('not what is stored', `${show(operation)}: ${JSON.stringify(outcome.object)} and ${show(seen)}`);
  }
}

function checkList({ operation, floor }: Judged, states: States, report: Report): void {
  const { request, outcome } = operation;
  if (request.verb !== 'list' || outcome.type !== 'list') return;
  const { version, items } = outcome;
  if (version < floor) report('stale read', `${show(operation)}: after ${floor}`);
  if (request.isExact === true && version !== request.version) report('wrong version', show(operation));
  const expected = states.listed(request.selection, version);
  const difference = differenceOf(expected, items, states);
  if (difference !== undefined) report('list is not the state', `${show(operation)}: ${difference}`);
}

/** The first difference between states and the objects that should show them, in the same order. */
export function differenceOf(expected: readonly State[], shown: readonly Item[], states: States): string | undefined {
  for (let i = 0; i < Math.max(expected.length, shown.length); i++) {
    const [state, item] = [expected[i], shown[i]];
    if (
      state?.object !== undefined &&
      item !== undefined &&
      versionOf(item) === state.from &&
      states.same(item, state.object)
    ) {
      continue;
    }
    return `${show(state)} and ${item === undefined ? 'nothing' : `${item.metadata.namespace}/${item.metadata.name} at ${versionOf(item)}`}`;
  }
  return undefined;
}

/** Checks that only versions are called too old that the store had compacted. */
export function checkExpiries(judged: readonly Judged[], compactions: readonly Compaction[], report: Report): void {
  for (const { operation } of judged) {
    const { request, outcome, end } = operation;
    if (outcome.type !== 'refused' || outcome.code !== 410) continue;
    const version = outcome.version ?? (request.verb === 'list' ? request.version : undefined);
    if (version === undefined) report('unexpected answer', show(operation));
    else if (!isCompacted(version, end, compactions)) report('not compacted', show(operation));
  }
}

/** Whether a version had been compacted at a time, as far as the store was asked later. */
export function isCompacted(version: number, time: number, compactions: readonly Compaction[]): boolean {
  const asked = compactions.find(({ start }) => start >= time);
  return asked === undefined || version < asked.revision;
}
