/** Requests that the node of a pod answers: logs, commands, attached containers, forwarded ports. */

import type { ObjectKey } from '../kinds/kind.ts';
import type { Place } from '../kinds/place.ts';
import { failure, readAll } from '../transport/response.ts';
import type { ClientResponse, Signal } from '../transport/transport.ts';

export interface LogOptions {
  /** Required when the pod has several containers. */
  readonly container?: string;
  /** Follows the log until the container ends. */
  readonly follow?: boolean;
  /** Reads the log of the previous instance of the container. */
  readonly previous?: boolean;
  /** Returns only the last lines. */
  readonly tailLines?: number;
  /** Returns only lines that are at most this old (s). */
  readonly sinceSeconds?: number;
  /** Prefixes each line with its time (RFC 3339). */
  readonly timestamps?: boolean;
  readonly limitBytes?: number;
  readonly signal?: Signal;
}

/** The log of a container: its lines, iterable once, or its whole text. */
export interface ContainerLog extends AsyncIterable<string> {
  /** Resolves to the whole text; for a followed log, once it has ended. */
  text(): Promise<string>;
}

export interface AttachOptions {
  /** Required when the pod has several containers. */
  readonly container?: string;
  /** Connects `write` and `endInput` to the standard input. */
  readonly stdin?: boolean;
  /** Allocates a terminal, which sends all output to `stdout`. */
  readonly tty?: boolean;
  readonly signal?: Signal;
}

export interface ExecOptions extends AttachOptions {
  /** The program and its arguments; they do not pass through a shell. */
  readonly command: readonly string[];
}

/** The path of a subresource of a pod. */
export const podPlace = ({ namespace = '', name = '' }: ObjectKey, subresource: string): Place => ({
  apiVersion: 'v1',
  resource: 'pods',
  namespace,
  name,
  subresource,
});

/** The parameters of a command or an attached container. */
export const streamParameters = ({ container, stdin = false, tty = false }: AttachOptions) => ({
  container,
  stdin,
  stdout: true,
  stderr: !tty,
  tty,
});

/** The log in a response. @throws StatusError when the response failed */
export async function containerLog(response: ClientResponse): Promise<ContainerLog> {
  if (response.status >= 300) throw failure(response.status, await readAll(response));
  return {
    text: () => readAll(response),
    async *[Symbol.asyncIterator]() {
      const decoder = new TextDecoder();
      let rest = '';
      for await (const chunk of response.body) {
        const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
        rest = lines.pop() ?? '';
        yield* lines;
      }
      if (rest !== '') yield rest;
    },
  };
}
