import type { CallWebhook, PluginInitializer } from '../admission/index.ts';
import type { Clock, Random } from '../meta/index.ts';
import { mayRecover, pausesOf } from './webhook-retries.ts';

interface Options {
  readonly call: CallWebhook;
  /** Before the second attempt. */
  readonly backoffMs: number;
  readonly clock: Clock;
  readonly random: Random;
}

/** The timeout of each attempt (ms). */
const timeoutMs = 30_000;

/** Posts to the webhook of ImagePolicyWebhook, again after a pause when it may answer later. */
export function imageReviewer({ call, backoffMs, clock, random }: Options): PluginInitializer['reviewImages'] {
  return async (body) => {
    const pauses = pausesOf(backoffMs, random);
    for (let attempt = 0; ; attempt++) {
      try {
        return await call(body, timeoutMs);
      } catch (error) {
        const ms = pauses[attempt];
        if (ms === undefined || !mayRecover(error)) throw error;
        await new Promise<void>((resolve) => {
          clock.after(ms, resolve);
        });
      }
    }
  };
}
