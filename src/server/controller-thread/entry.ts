// The entry of the controller thread: loads ./worker.ts, which the build makes a script.
import { systemClock } from '../clock.ts';
import { collectWhenIdle } from '../idle-collection.ts';
import { loadScript } from '../script.ts';

/** Delay after which the controllers have started, and their compiled code is stored (ms). */
const startedMs = 2_000;

const { storeCode } = loadScript('controllers');
systemClock.after(startedMs, () => void storeCode());
collectWhenIdle(systemClock);
