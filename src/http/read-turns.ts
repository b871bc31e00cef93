import { statusError, type Turns } from '../meta/index.ts';
import type { Call } from './call.ts';

/** The turns of a read, whose work fails with a StatusError once its client has disconnected. */
export const readTurns = ({ turns, request }: Pick<Call, 'turns' | 'request'>): Turns => ({
  get over() {
    return turns.over;
  },
  async next() {
    await turns.next();
    if (request.signal.aborted) throw statusError.badRequest('the client has disconnected');
  },
});
