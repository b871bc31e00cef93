import {
  type ApiObject,
  type ByteString,
  type Clock,
  inTurns,
  type Names,
  peerTurns,
  type Random,
  StatusError,
} from '../../meta/index.ts';
import type { ConvertObjects } from '../../registry/index.ts';
import { acceptConverted } from './converted-object.ts';
import { type Review, readAnswerInSteps, reviewVersionOf, writeReview } from './review.ts';

/**
 * Posts a body of JSON to a webhook and returns the body of its response. Rejects with an Error whose message says why
 * there is none.
 */
export type PostReview = (body: ByteString) => Promise<Uint8Array>;

export interface WebhookConverterOptions {
  readonly names: Names;
  readonly random: Pick<Random, 'uuid'>;
  readonly clock: Pick<Clock, 'monotonic'>;
  /** Receives the versions of each conversion, and its duration. */
  readonly observe: (from: string, to: string, succeeded: boolean, seconds: number) => void;
  /** `conversionReviewVersions` of the definition. */
  readonly reviewVersions: readonly string[];
  readonly post: PostReview;
  /**
   * Brings an object to the normal form of its version in place: what is sent, and what a webhook returned. The values
   * in it are shared with others, and must not be changed.
   */
  readonly normalize: (object: ApiObject) => void;
}

/** Converts the objects of a definition by its webhook, and verifies what it returns. */
export function webhookConverter(options: WebhookConverterOptions): ConvertObjects {
  const { clock, observe } = options;
  const convert = converterOf(options);
  return async (objects, desired) => {
    const start = clock.monotonic();
    let succeeded = false;
    try {
      const converted = await convert(objects, desired);
      succeeded = true;
      return converted;
    } finally {
      const from = versionIn(objects[0]?.apiVersion ?? '');
      observe(from, versionIn(desired), succeeded, (clock.monotonic() - start) / 1_000);
    }
  };
}

const versionIn = (apiVersion: string): string => apiVersion.slice(apiVersion.indexOf('/') + 1);

function converterOf(options: WebhookConverterOptions): ConvertObjects {
  const { names, random, post, normalize } = options;
  const version = reviewVersionOf(options.reviewVersions);
  return async (originals, desired) => {
    const [first] = originals;
    if (first === undefined) return [];
    if (version === undefined) throw new StatusError(500, '', 'no supported conversion review versions');
    const objects = originals.map((object) => {
      const copy = { ...object };
      normalize(copy);
      return copy;
    });
    const which = `conversion webhook for ${first.apiVersion}, Kind=${first.kind}`;
    const review: Review = { version, uid: random.uuid(), desired, objects };
    const converted = await post(writeReview(review, names))
      .then((body) => inTurns(readAnswerInSteps(review, body, names), peerTurns('conversion webhooks')))
      .catch((error: unknown) => {
        const why = error instanceof Error ? error.message : 'unknown failure';
        throw new StatusError(500, '', `${which} failed: ${why}`, undefined, { cause: error });
      });
    if (converted.length !== objects.length) {
      throw new StatusError(500, '', `${which} returned ${converted.length} objects, expected ${objects.length}`);
    }
    return objects.map((original, i) => {
      const object = acceptConverted(original, converted[i], desired, which);
      normalize(object);
      return object;
    });
  };
}
