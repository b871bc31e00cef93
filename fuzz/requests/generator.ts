import type { Json } from '../../src/meta/index.ts';
import type { Client } from '../client.ts';
import type { Random } from '../random.ts';
import type { TestedServer } from '../server.ts';

/** A generator of requests. */
export interface Generator<Case extends Json = Json> {
  /** Also its folder in the corpus. */
  readonly name: string;
  /** Concurrent cases. */
  readonly lanes: number;
  /** Generates a case, which can be serialised as JSON. */
  readonly make: (random: Random) => Case;
  /** Sends a case; the result is the violation in its responses. The state of the server is checked elsewhere. */
  readonly play: (server: TestedServer, client: Client, given: Case) => Promise<string | undefined>;
  /** The part of a case that is minimised, and the case with it replaced. */
  readonly bytes: (given: Case) => Buffer;
  readonly withBytes: (given: Case, bytes: Buffer) => Case;
}
