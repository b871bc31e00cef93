import type { Json } from '../../src/meta/index.ts';
import type { Client } from '../client.ts';
import type { Random } from '../random.ts';
import type { TestedServer } from '../server.ts';

/** A kind of requests that are made up. */
export interface Generator<Case extends Json = Json> {
  /** Also the folder of its cases in the corpus. */
  readonly name: string;
  /** How many cases go on at the same time. */
  readonly lanes: number;
  /** What is sent, as JSON, so that it can be kept. */
  readonly make: (random: Random) => Case;
  /** Sends it; the result is what is wrong with the answers. What the server does besides is judged by others. */
  readonly play: (server: TestedServer, client: Client, given: Case) => Promise<string | undefined>;
  /** The part of a case that is made smaller, and the case with another one. */
  readonly bytes: (given: Case) => Buffer;
  readonly withBytes: (given: Case, bytes: Buffer) => Case;
}
