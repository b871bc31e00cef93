import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { damaged } from './failure.ts';
import { type Change, decodePayload, groupsIn, idBytes, type LoggedGroup, tailOf } from './log-format.ts';
import { decodeState, type State } from './records.ts';

export const logFile = 'log';

/** The mark of the log in the tree: which log it is, and its last group that is in the tree. */
export interface LogMark {
  readonly id: Buffer;
  readonly sequence: number;
}

/** Commits that became durable together. */
export interface Group {
  /** Its place in the log. */
  readonly sequence: number;
  /** The state after it, except `swept`, which changes with the tree only. */
  readonly state: State;
  readonly changes: readonly Change[];
}

export const encodeMark = ({ id, sequence }: LogMark): Buffer => {
  const bytes = Buffer.alloc(idBytes + 6);
  bytes.set(id);
  bytes.writeUIntBE(sequence, idBytes, 6);
  return bytes;
};
export const decodeMark = (bytes: Buffer): LogMark => ({
  id: Buffer.from(bytes.subarray(0, idBytes)),
  sequence: bytes.readUIntBE(idBytes, 6),
});

/**
 * The groups of the log that are not in the tree. Undefined when one is missing before a later one. Fails as `damaged` when
 * there is no log, and otherwise as the file system does.
 */
export async function readTail(path: string, { id, sequence }: LogMark): Promise<LoggedGroup[] | undefined> {
  const file = join(path, logFile);
  if (!existsSync(file)) throw damaged(file, 'it is missing, and has commits that are nowhere else');
  return tailOf(groupsIn(await readFile(file), id), sequence);
}

/** `before`: the state of the tree. */
export function decodeGroups(path: string, tail: readonly LoggedGroup[], before: State): Group[] {
  let { marks } = before;
  return tail.map(({ sequence, payload }) => {
    const decoded = decodePayload(payload);
    const state = decodeState(decoded.state, decoded.marks);
    if (state === undefined) throw damaged(join(path, logFile), `group ${sequence} has no state`);
    if (decoded.marks !== undefined) ({ marks } = state);
    return { sequence, state: { ...state, marks, swept: before.swept }, changes: decoded.changes };
  });
}

export const lostGroup = (path: string, { sequence }: LogMark) =>
  damaged(join(path, logFile), `a group after number ${sequence} is missing before later ones`);
