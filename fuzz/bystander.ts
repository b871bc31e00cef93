import { fork } from 'node:child_process';
import { once } from 'node:events';
import type { TestedServer } from './server.ts';

/** The input of the process of a bystander. */
export interface BystanderJob {
  /** The data directory of the server, with its certificates. */
  readonly folder: string;
  readonly port: number;
  readonly pid: number;
  /** The path of a config map that it reads and writes, as the owner of a token. */
  readonly path: string;
  readonly token: string;
}

/** How long the server made a bystander wait for one kind of request, without what a busy machine added (ms). */
export interface Waited {
  readonly method: string;
  readonly path: string;
  /** The longest wait. */
  readonly longest: number;
  /** The longest wait, as far as the main thread of the server computed in it: no load of the machine adds to it. */
  readonly computed: number;
}

/** The findings of a bystander. */
export interface BystanderReport {
  readonly waits: readonly Waited[];
  /** Responses other than 200, and broken connections. */
  readonly faults: readonly string[];
}

/** Another client of a server, in a process of its own. */
export interface Bystander {
  /** Starts its requests, `pace` times as long after each other as in its rhythm. Resolves once the first are answered. */
  begin(pace: number): Promise<void>;
  /** Ends its requests; resolves once all of them have been answered. */
  end(): Promise<BystanderReport>;
  /** Ends the process at once. */
  kill(): void;
}

/** Resolves once the bystander has been answered; it then waits for `begin`. */
export async function startBystander(
  { folder, port, pid }: TestedServer,
  path: string,
  token: string,
): Promise<Bystander> {
  const job: BystanderJob = { folder, port, pid, path, token };
  const child = fork('fuzz/bystander.mjs', [JSON.stringify(job)], { execArgv: [] });
  // A message that could not be sent: the process has ended, which is told where a message is expected.
  child.on('error', () => {});
  const ended = once(child, 'exit').then(([code]) => {
    throw new Error(`the bystander ended with ${code}`);
  });
  ended.catch(() => {});
  const message = () => Promise.race([new Promise<unknown>((resolve) => child.once('message', resolve)), ended]);
  await message();
  return {
    begin: async (pace) => {
      const begun = message();
      child.send({ pace });
      await begun;
    },
    end: () => {
      const report = message();
      child.send('end');
      return report as Promise<BystanderReport>;
    },
    kill: () => void child.kill('SIGKILL'),
  };
}
