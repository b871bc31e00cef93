import { pageNotFound, textAnswer } from '../answers.ts';
import type { Call } from '../call.ts';
import type { ApiResponse } from '../types.ts';

/** A setting that can be changed while the server runs. */
export interface RunningFlag {
  format(): string;
  /** Changes it; the problem, as the rest of a sentence, when the text is invalid. */
  set(text: string): string | undefined;
}

/** Settings by their names below `/debug/flags/`. */
export type RunningFlags = ReadonlyMap<string, RunningFlag>;

const root = '/debug/flags';
/** The longest value (bytes). */
const maxBytes = 4_096;

/** Shows and changes settings; undefined when the path is of none. @throws StatusError for a body that does not arrive */
export function serveRunningFlags(
  flags: RunningFlags,
  { request, info: { path } }: Pick<Call, 'request' | 'info'>,
): ApiResponse | Promise<ApiResponse> | undefined {
  if (path === root || path === `${root}/`)
    return textAnswer(200, [...flags.keys()].map((name) => `${root}/${name}\n`).join(''));
  if (!path.startsWith(`${root}/`)) return undefined;
  const name = path.slice(root.length + 1);
  const flag = flags.get(name);
  if (flag === undefined) return pageNotFound;
  if (request.method === 'GET') return textAnswer(200, `${flag.format()}\n`);
  if (request.method !== 'PUT') return textAnswer(406, 'unsupported http method\n');
  return change(name, flag, request);
}

async function change(name: string, flag: RunningFlag, request: Call['request']): Promise<ApiResponse> {
  const text = Buffer.from(await request.body(maxBytes))
    .toString()
    .trim();
  const problem = flag.set(text);
  if (problem !== undefined) return textAnswer(400, `${name} ${problem}\n`);
  return textAnswer(200, `successfully set ${name} to ${flag.format()}\n`);
}
