/** What clients ask of the node of a pod: logs, commands, attached containers, forwarded ports. */

import type { ObjectKey } from '../kinds/kind.ts';
import type { Place } from '../kinds/place.ts';
import { failure, readAll } from '../transport/response.ts';
import type { ClientResponse, Signal } from '../transport/transport.ts';

export interface LogOptions {
  /** Required where the pod has several. */
  readonly container?: string;
  /** Goes on with what is logged later, until the container ends. */
  readonly follow?: boolean;
  /** That of the instance before this one. */
  readonly previous?: boolean;
  /** Only the last lines. */
  readonly tailLines?: number;
  /** Only lines that are not older. */
  readonly sinceSeconds?: number;
  /** Each line begins with its time (RFC 3339). */
  readonly timestamps?: boolean;
  readonly limitBytes?: number;
  readonly signal?: Signal;
}

/** The log of a container: its lines, to be iterated once, or all of its text. */
export interface ContainerLog extends AsyncIterable<string> {
  /** The whole text; of a log that is followed, when it has ended. */
  text(): Promise<string>;
}

export interface AttachOptions {
  /** Required where the pod has several. */
  readonly container?: string;
  /** `write` and `endInput` reach the standard input. */
  readonly stdin?: boolean;
  /** Over a terminal, whose output is all of it `stdout`. */
  readonly tty?: boolean;
  readonly signal?: Signal;
}

export interface ExecOptions extends AttachOptions {
  /** The program and its arguments; no shell is between. */
  readonly command: readonly string[];
}

/** The path of a subresource of a pod. */
export const podPlace = ({ namespace = '', name = '' }: ObjectKey, subresource: string): Place => ({
  ...{ apiVersion: 'v1', resource: 'pods', namespace, name, subresource },
});

/** The parameters of a command or an attached container. */
export const streamParameters = ({ container, stdin = false, tty = false }: AttachOptions) => ({
  container,
  stdin,
  stdout: true,
  stderr: !tty,
  tty,
});

/** The log in a response. @throws StatusError of a failed one */
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
