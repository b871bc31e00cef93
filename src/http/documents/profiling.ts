import { Session } from 'node:inspector/promises';
import { type Clock, encodeText, statusError } from '../../meta/index.ts';
import { pageNotFound, textAnswer } from '../answers.ts';
import type { Query } from '../request-info.ts';
import type { ApiResponse } from '../types.ts';

/** Profiles of the running process, below `/debug/pprof/`. */
export interface Profiler {
  /** Undefined when the path is not one of its own. @throws StatusError */
  serve(path: string, query: Query, signal: AbortSignal): Promise<ApiResponse> | undefined;
}

/** A profile: the inspector commands that start and stop it. */
interface Recording {
  readonly enable: string;
  readonly start: string;
  readonly stop: string;
  readonly help: string;
  readonly file: string;
}

const recordings = new Map<string, Recording>([
  [
    'heap',
    {
      enable: 'HeapProfiler.enable',
      start: 'HeapProfiler.startSampling',
      stop: 'HeapProfiler.stopSampling',
      help: 'what was allocated during the time and is still in use, by a sample',
      file: 'heap.heapprofile',
    },
  ],
  [
    'profile',
    {
      enable: 'Profiler.enable',
      start: 'Profiler.start',
      stop: 'Profiler.stop',
      help: 'where the processor time went, by a sample',
      file: 'profile.cpuprofile',
    },
  ],
]);

const root = '/debug/pprof';
const defaultSeconds = 30;
const maxSeconds = 300;

/** One profile at a time, because profiling slows the server down. */
export function createProfiler(clock: Clock): Profiler {
  let busy = false;
  const record = async (recording: Recording, query: Query, signal: AbortSignal): Promise<ApiResponse> => {
    const seconds = secondsOf(query.get('seconds'));
    if (busy) return textAnswer(429, 'another profile is being taken: try again later\n');
    busy = true;
    const session = new Session();
    try {
      session.connect();
      await session.post(recording.enable);
      await session.post(recording.start);
      await pause(clock, seconds * 1000, signal);
      const { profile } = (await session.post(recording.stop)) as unknown as { readonly profile: object };
      const headers = {
        'cache-control': 'no-cache, private',
        'content-type': 'application/json',
        'content-disposition': `attachment; filename="${recording.file}"`,
        'x-content-type-options': 'nosniff',
      };
      return { status: 200, headers, body: encodeText(JSON.stringify(profile)) };
    } finally {
      session.disconnect();
      busy = false;
    }
  };
  return {
    serve(path, query, signal) {
      if (path === root || path === `${root}/`) return Promise.resolve(index);
      if (!path.startsWith(`${root}/`)) return undefined;
      const recording = recordings.get(path.slice(root.length + 1));
      return recording === undefined ? Promise.resolve(pageNotFound) : record(recording, query, signal);
    },
  };
}

const index = textAnswer(
  200,
  [...recordings]
    .map(([name, { help }]) => `${root}/${name}?seconds=${defaultSeconds}  ${help}; for the developer tools of V8\n`)
    .join(''),
);

function secondsOf(text: string | null): number {
  if (text === null) return defaultSeconds;
  const seconds = /^\d{1,3}$/.test(text) ? Number(text) : 0;
  if (seconds >= 1 && seconds <= maxSeconds) return seconds;
  throw statusError.badRequest(`seconds must be a whole number from 1 to ${maxSeconds}`);
}

/** Resolves after the duration, or when the client disconnects. */
function pause(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const cancel = clock.after(ms, resolve);
    signal.addEventListener(
      'abort',
      () => {
        cancel();
        resolve();
      },
      { once: true },
    );
  });
}
