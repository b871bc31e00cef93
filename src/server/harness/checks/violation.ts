import type { Operation, WatchSession } from './history.ts';
import type { State } from './states.ts';

export interface Violation {
  /** The violated rule, in a few words. */
  readonly rule: string;
  readonly message: string;
}

export type Report = (rule: string, message: string) => void;

/** A short text for messages. */
export function show(what: Operation | State | WatchSession | undefined): string {
  if (what === undefined) return 'nothing';
  if ('outcome' in what) {
    const { id, client, replica, request, start, end, outcome } = what;
    const { type, ...rest } = outcome;
    const told = type === 'list' ? `list at ${outcome.version}` : `${type} ${JSON.stringify(rest).slice(0, 300)}`;
    return `[#${id} ${client}@${replica} ${start.toFixed(1)}–${end.toFixed(1)} ${JSON.stringify(request)} → ${told}]`;
  }
  if ('watcher' in what) {
    const { watcher, replica, selection, after, start } = what;
    return `[${watcher}@${replica} ${start.toFixed(1)} ${JSON.stringify(selection)} after ${after ?? 'initial events'}]`;
  }
  const { key, from, object } = what;
  return `[${key} ${from} ${object === undefined ? 'absent' : `by #${object.data?.['write']}`}]`;
}
