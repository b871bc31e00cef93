/** Who wrote the versions of an object, by the audit logs of a server: local files of events in JSON, one a line. */
import { createReadStream } from 'node:fs';
import { at, isJsonObject, type Json, type JsonObject } from '../../meta/index.ts';
import { CommandError } from '../errors.ts';
import { jsonText } from '../output/json.ts';

/** The longest line that is read (bytes). An event with a longer one is skipped. */
const maxLine = 8 * 1024 * 1024;

const writes = new Set(['create', 'update', 'patch', 'delete']);

/**
 * The users whose successful writes returned one of these versions of an object, by version. Only events of the level
 * RequestResponse have the version of the response; others name nobody. Several users share a version where one of them wrote
 * what was there already. @throws CommandError when a file cannot be read
 */
export async function usersOfVersions(
  files: readonly string[],
  uid: string,
  versions: ReadonlySet<string>,
): Promise<Map<string, Set<string>>> {
  const users = new Map<string, Set<string>>();
  for (const file of files) {
    for await (const line of linesOf(file)) {
      // Parsing is slow, and most lines are about other objects.
      const event = line.includes(uid) ? eventOf(line) : undefined;
      const version = event === undefined ? undefined : writtenVersion(event, uid);
      if (event === undefined || version === undefined || !versions.has(version)) continue;
      users.set(version, (users.get(version) ?? new Set()).add(userOf(event)));
    }
  }
  return users;
}

/** The version that a successful write returned; undefined for other events and other objects. */
function writtenVersion(event: JsonObject, uid: string): string | undefined {
  const { verb, stage, requestURI } = event;
  const code = at(event, 'responseStatus', 'code');
  const isWrite = stage === 'ResponseComplete' && typeof verb === 'string' && writes.has(verb);
  if (!isWrite || typeof code !== 'number' || code >= 300 || jsonText(requestURI).includes('dryRun=')) return undefined;
  const metadata = at(event, 'responseObject', 'metadata');
  return isJsonObject(metadata) && metadata['uid'] === uid ? jsonText(metadata['resourceVersion']) : undefined;
}

function userOf(event: JsonObject): string {
  const user = jsonText(at(event, 'user', 'username'));
  const impersonated = jsonText(at(event, 'impersonatedUser', 'username'));
  return impersonated === '' ? user : `${impersonated} (by ${user})`;
}

function eventOf(line: string): JsonObject | undefined {
  try {
    const value = JSON.parse(line) as Json;
    return isJsonObject(value) ? value : undefined;
  } catch {
    // The server may be writing the last line, and other programs may write to the same file.
    return undefined;
  }
}

/** The lines of a file without those that are too long. In memory is one line and one chunk. @throws CommandError */
async function* linesOf(file: string): AsyncGenerator<string> {
  let rest = '';
  let isSkipped = false;
  try {
    for await (const chunk of createReadStream(file, 'utf8')) {
      const [first = '', ...lines] = String(chunk).split('\n');
      rest = isSkipped ? '' : rest + first;
      for (const line of lines) {
        if (!isSkipped) yield rest;
        isSkipped = false;
        rest = line;
      }
      isSkipped ||= rest.length > maxLine;
    }
  } catch (cause) {
    throw new CommandError(`${file} cannot be read: ${(cause as Error).message}`, { cause });
  }
  if (!isSkipped) yield rest;
}
