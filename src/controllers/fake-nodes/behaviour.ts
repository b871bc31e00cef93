/** The behaviour of the containers of a pod on a fake node, from its annotations. */
import { type Names, parseDuration } from '../../meta/index.ts';
import type { PodObject } from './objects.ts';

/** Times in milliseconds, `Infinity` for ever; undefined where the pod itself decides. */
export interface Behaviour {
  /** From the arrival of the pod on the node to the start of its containers. */
  readonly startDelay: number;
  /** How long each init container runs. */
  readonly initTime: number;
  /** From the start of a container until it is ready; undefined: as long as its probes wait at first. */
  readonly readyDelay: number | undefined;
  /** How long a container runs; undefined: for ever, or a second where it fails or need not run for ever. */
  readonly runTime: number | undefined;
  /** The exit code of runs that fail, and how many of a container fail before those that do not. */
  readonly exitCode: number;
  readonly failures: number;
  /** From the request to end to the end. */
  readonly terminationDelay: number;
}

/** One run of a container. */
export interface Run {
  readonly ms: number;
  readonly exitCode: number;
}

/** How long containers run that end without a configured time (ms). */
const shortRunMs = 1_000;
const defaultFailureCode = 1;

/** An invalid duration, with the value in the second member. */
type Parsed = number | undefined;

const duration = (text: string): Parsed => {
  try {
    const ms = Number(parseDuration(text)) / 1e6;
    return ms >= 0 ? ms : undefined;
  } catch {
    return undefined;
  }
};
const durationOrNever = (text: string): Parsed => (text === 'never' ? Number.POSITIVE_INFINITY : duration(text));
const integer =
  (max: number) =>
  (text: string): Parsed =>
    /^\d{1,9}$/.test(text) && Number(text) <= max ? Number(text) : undefined;

const annotations = {
  'start-delay': { parse: durationOrNever, form: 'a duration such as 5s, or never' },
  'init-time': { parse: durationOrNever, form: 'a duration such as 5s, or never' },
  'ready-delay': { parse: durationOrNever, form: 'a duration such as 5s, or never' },
  'run-time': { parse: durationOrNever, form: 'a duration such as 5s, or never' },
  'exit-code': { parse: integer(255), form: 'a number from 0 to 255' },
  failures: { parse: integer(999_999_999), form: 'a number' },
  'termination-delay': { parse: durationOrNever, form: 'a duration such as 5s, or never' },
};
type AnnotationName = keyof typeof annotations;

/** The behaviour of a pod, with a problem for each annotation whose value makes no sense: its default holds. */
export function behaviourOf(
  { metadata }: PodObject,
  { labels }: Names,
): { readonly behaviour: Behaviour; readonly problems: readonly string[] } {
  const problems: string[] = [];
  const read = (name: AnnotationName): number | undefined => {
    const key = `fake-nodes.${labels}/${name}`;
    const text = metadata.annotations?.[key];
    if (text === undefined) return undefined;
    const { parse, form } = annotations[name];
    const value = parse(text.trim());
    if (value === undefined)
      problems.push(`Annotation ${key} has the value ${JSON.stringify(text)}, but must be ${form}`);
    return value;
  };
  const exitCode = read('exit-code') ?? 0;
  const failures = read('failures') ?? (exitCode === 0 ? 0 : Number.POSITIVE_INFINITY);
  const behaviour = {
    startDelay: read('start-delay') ?? 0,
    initTime: read('init-time') ?? 0,
    readyDelay: read('ready-delay'),
    runTime: read('run-time'),
    exitCode: exitCode === 0 ? defaultFailureCode : exitCode,
    failures,
    terminationDelay: read('termination-delay') ?? 0,
  };
  return { behaviour, problems };
}

/** The run of a container that has been restarted so often. */
export function runOf({ runTime, exitCode, failures }: Behaviour, restartPolicy: string, restarts: number): Run {
  const fails = restarts < failures;
  const ends = fails || restartPolicy !== 'Always';
  return { ms: runTime ?? (ends ? shortRunMs : Number.POSITIVE_INFINITY), exitCode: fails ? exitCode : 0 };
}
