import { statusError, type Turns } from '../meta/index.ts';
import type { Call } from './call.ts';

/** The turns of a read, whose work fails with a StatusError once its client has disconnected. */
export class ReadTurns implements Turns {
  readonly #call: Pick<Call, 'turns' | 'request'>;

  constructor(call: Pick<Call, 'turns' | 'request'>) {
    this.#call = call;
  }

  get over(): boolean {
    return this.#call.turns.over;
  }

  async next(): Promise<void> {
    const { turns, request } = this.#call;
    await turns.next();
    if (request.signal.aborted) throw statusError.badRequest('the client has disconnected');
  }
}
