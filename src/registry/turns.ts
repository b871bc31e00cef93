import { serverTurns, type Turns } from '../meta/index.ts';

/** From this size on (bytes) a write or an encoding is long work, which runs in turns. */
export const largeBytes = 8 * 1024;

/** Who carries out a request, as far as its computing time is concerned. */
interface Timed {
  readonly turns?: Turns | undefined;
}

/** The turns of a write whose body and stored object have these sizes (bytes); undefined: it is short. */
export const turnsOf = ({ turns }: Timed, body: number, stored = 0): Turns | undefined =>
  body >= largeBytes || stored >= largeBytes ? (turns ?? serverTurns()) : undefined;
