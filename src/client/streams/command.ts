import { type JsonObject, StatusError } from '../../meta/index.ts';
import { joined, utf8 } from '../transport/bytes.ts';
import { statusFailure } from '../transport/response.ts';
import type { MessageSocket } from '../transport/transport.ts';

/** A piece of output of a command. */
export interface CommandOutput {
  readonly stream: 'stdout' | 'stderr';
  readonly data: Uint8Array;
}

/**
 * A command that runs in a container, or an attached container. Its output is iterable once. The command keeps running
 * while nobody reads, until the buffers in between are full.
 */
export interface RemoteCommand extends AsyncIterable<CommandOutput> {
  /**
   * Resolves to the exit code once the output has been read to its end. Rejects with the StatusError of the server when the
   * command cannot run, with 503 when the connection is lost before the command ends.
   */
  readonly exitCode: Promise<number>;
  /** Writes to the standard input. Resolves when the connection accepts more data. */
  write(data: Uint8Array | string): Promise<void>;
  /** Closes the standard input. @throws StatusError 501 when the node supports only protocols without that message */
  endInput(): Promise<void>;
  /** Sets the size of the terminal, in characters. */
  resize(columns: number, rows: number): Promise<void>;
  /** Reads the output to its end. Rejects as `exitCode` does. */
  output(): Promise<{ readonly stdout: string; readonly stderr: string; readonly exitCode: number }>;
  /** Closes the connection. Idempotent. */
  close(): void;
}

/** The first byte of each message is the number of its channel. */
const channels = { stdin: 0, stdout: 1, stderr: 2, status: 3, resize: 4, close: 255 } as const;

/** A command over a WebSocket with one of the protocols for commands. */
export function remoteCommand(socket: MessageSocket): RemoteCommand {
  let exited: (code: number) => void = () => {};
  let failed: (error: unknown) => void = () => {};
  const exitCode = new Promise<number>((resolve, reject) => {
    exited = resolve;
    failed = reject;
  });
  // A caller that only reads the output gets the error there.
  exitCode.catch(() => {});
  const send = (channel: number, data: Uint8Array | string) =>
    socket.send(joined([Uint8Array.of(channel), typeof data === 'string' ? utf8(data) : data]));
  async function* outputs(): AsyncGenerator<CommandOutput> {
    try {
      for await (const message of socket.messages) {
        const [channel] = message;
        const data = message.subarray(1);
        if (channel === channels.status) exited(exitCodeOf(data));
        else if (channel === channels.stdout && data.length > 0) yield { stream: 'stdout', data };
        else if (channel === channels.stderr && data.length > 0) yield { stream: 'stderr', data };
      }
      failed(new StatusError(503, 'ServiceUnavailable', 'the connection closed before the command ended'));
    } catch (error) {
      failed(error);
      throw error;
    } finally {
      // The caller has left the loop.
      failed(new StatusError(499, 'ClientClosedRequest', 'the caller stopped reading the output of the command'));
      socket.close();
    }
  }
  const command: RemoteCommand = {
    exitCode,
    [Symbol.asyncIterator]: outputs,
    write: (data) => send(channels.stdin, data),
    endInput: async () => {
      if (socket.protocol.startsWith('v5.')) return send(channels.close, Uint8Array.of(channels.stdin));
      throw new StatusError(501, 'NotImplemented', `the protocol ${socket.protocol} cannot end the standard input`);
    },
    resize: (columns, rows) => send(channels.resize, JSON.stringify({ Width: columns, Height: rows })),
    output: async () => {
      const texts = { stdout: new TextDecoder(), stderr: new TextDecoder() };
      const read = { stdout: '', stderr: '' };
      for await (const { stream, data } of command) read[stream] += texts[stream].decode(data, { stream: true });
      return { ...read, exitCode: await exitCode };
    },
    close: () => socket.close(),
  };
  return command;
}

/** @throws StatusError when the command did not run to an exit code */
function exitCodeOf(data: Uint8Array): number {
  const status = JSON.parse(new TextDecoder().decode(data)) as {
    status?: string;
    reason?: string;
    details?: { causes?: readonly { reason?: string; message?: string }[] };
  };
  if (status.status === 'Success') return 0;
  const cause = status.details?.causes?.find(({ reason }) => reason === 'ExitCode');
  if (status.reason === 'NonZeroExitCode' && cause !== undefined) return Number(cause.message);
  throw (
    statusFailure({ ...(status as JsonObject), kind: 'Status' }) ??
    new StatusError(500, 'InternalError', 'the command failed')
  );
}
