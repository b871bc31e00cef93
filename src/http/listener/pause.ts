import type { Readable } from 'node:stream';
import type { Turns } from '../../meta/index.ts';

/** Pauses a flowing stream until the next turn. What arrives until then is read as one piece. */
export function pauseUntilTurn(stream: Readable, turns: Turns): void {
  stream.pause();
  void turns.next().then(() => {
    stream.read();
    stream.resume();
  });
}
