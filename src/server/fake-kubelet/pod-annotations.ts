/** What pods on fake nodes answer, as their annotations tell. */
import { canonicalQuantity, type Names } from '../../meta/index.ts';
import type { ObjectOf } from '../../schema/index.ts';
import type { Pod } from '../../types/core-v1.ts';

export type PodObject = ObjectOf<typeof Pod>;

/** The value of an annotation of fake nodes: of the container, else of the pod. */
function annotationOf({ metadata }: PodObject, { labels }: Names, name: string, container = ''): string | undefined {
  const { annotations = {} } = metadata;
  const key = `fake-nodes.${labels}/${name}`;
  return annotations[`${key}.${container}`] ?? annotations[key];
}

export interface LogOptions {
  readonly tailLines: number | undefined;
  readonly limitBytes: number | undefined;
  /** A time before each line. */
  readonly timestamps: boolean;
}

/** The log of a container that was started at the time. */
export function containerLog(
  pod: PodObject,
  names: Names,
  container: string,
  started: string,
  { tailLines, limitBytes, timestamps }: LogOptions,
): Buffer {
  const image = pod.spec?.containers?.find(({ name }) => name === container)?.image ?? '';
  const text = annotationOf(pod, names, 'logs', container) ?? `${container} of the image ${image} is not run\n`;
  const all = text === '' ? [] : text.replace(/\n$/, '').split('\n');
  const lines = tailLines === undefined ? all : all.slice(Math.max(0, all.length - tailLines));
  const output = lines.map((line) => `${timestamps ? `${started} ` : ''}${line}\n`).join('');
  return Buffer.from(output).subarray(0, limitBytes);
}

/** What a command in a container prints, and how it exits. */
export interface CommandResult {
  readonly output: string;
  readonly exitCode: number;
}

export function commandResult(
  pod: PodObject,
  names: Names,
  container: string,
  command: readonly string[],
): CommandResult {
  const exitCode = Number(annotationOf(pod, names, 'exec-exit-code', container) ?? 0);
  return {
    output: annotationOf(pod, names, 'exec', container) ?? `${command.join(' ')}\n`,
    exitCode: Number.isInteger(exitCode) && exitCode >= 0 && exitCode <= 255 ? exitCode : 0,
  };
}

/** The body of the response to each HTTP request, through `proxy` or a forwarded port. */
export const httpPage = (pod: PodObject, names: Names): string =>
  annotationOf(pod, names, 'http') ?? `${pod.metadata.namespace}/${pod.metadata.name}\n`;

/** How much a container uses of a resource; undefined without an annotation that is a quantity. */
export function annotatedUsage(
  pod: PodObject,
  names: Names,
  container: string,
  resource: 'cpu' | 'memory',
): string | undefined {
  const text = annotationOf(pod, names, resource, container);
  try {
    return text === undefined ? undefined : canonicalQuantity(text.trim());
  } catch {
    return undefined;
  }
}
