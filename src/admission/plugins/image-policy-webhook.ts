import { createHash } from 'node:crypto';
import { parseAnyJsonInSteps } from '../../codec/index.ts';
import {
  encodeText,
  inTurns,
  isJsonObject,
  type Json,
  type JsonObject,
  MAX_DEPTH,
  StatusError,
  type Steps,
  serverTurns,
  setKey,
  type Turns,
} from '../../meta/index.ts';
import type { ObjectOf } from '../../schema/index.ts';
import { Pod } from '../../types/core-v1.ts';
import { forbidden, on, typedRequest } from '../request.ts';
import type { AdmissionPlugin, AdmissionRequest, PluginInitializer } from '../types.ts';

type Initializer = Pick<PluginInitializer, 'names' | 'clock' | 'configurations' | 'reviewImages'>;

/** The decision of the webhook. */
interface Verdict {
  readonly allowed: boolean;
  readonly reason: string;
  readonly auditAnnotations: { readonly [key: string]: string };
}

/** How many verdicts are kept, and the longest answer whose verdict is (bytes). */
const maxVerdicts = 1024;
const maxKeptAnswer = 16 * 1024;
/** How many fields and list items an answer may have. */
const maxMembers = 20_000;
/** How many audit annotations of one answer are kept. */
const maxAnnotations = 100;

/** The seconds of a setting, as ms: 0 stands for the default, -1 for none. */
const ttlOf = (setting: number | undefined, fallback: number): number =>
  setting === -1 ? 0 : (setting || fallback) * 1_000;

/** Asks a webhook whether the images of a pod are allowed. Its verdicts are kept for a time. */
export function imagePolicyWebhook({ names, clock, configurations, reviewImages }: Initializer): AdmissionPlugin {
  const { allowTTL, denyTTL, defaultAllow = false } = configurations.ImagePolicyWebhook?.imagePolicy ?? {};
  const [allowMs, denyMs] = [ttlOf(allowTTL, 300), ttlOf(denyTTL, 30)];
  const domain = `image-policy.${names.domain}`;
  const audit = `imagepolicywebhook.${domain}/`;
  const verdicts = new Map<string, { readonly verdict: Verdict; readonly until: number }>();
  // Of a review only its digest is kept.
  const keep = (spec: string, verdict: Verdict) => {
    const ms = verdict.allowed ? allowMs : denyMs;
    verdicts.delete(spec);
    if (ms > 0) verdicts.set(spec, { verdict, until: clock.monotonic() + ms });
    const [oldest] = verdicts.keys();
    if (verdicts.size > maxVerdicts && oldest !== undefined) verdicts.delete(oldest);
  };
  const ask = async (spec: JsonObject, turns: Turns): Promise<Verdict> => {
    const key = createHash('sha256').update(JSON.stringify(spec)).digest('base64');
    const known = verdicts.get(key);
    if (known !== undefined && clock.monotonic() < known.until) return known.verdict;
    const review = { kind: 'ImageReview', apiVersion: `imagepolicy.${names.domain}/v1alpha1`, metadata: {}, spec };
    const answer = await reviewImages(encodeText(JSON.stringify({ ...review, status: { allowed: false } })));
    const verdict = await inTurns(readVerdict(answer, review), turns);
    if (answer.length <= maxKeptAnswer) keep(key, verdict);
    return verdict;
  };
  return {
    name: 'ImagePolicyWebhook',
    handles: on(['CREATE', 'UPDATE'], 'pods', 'pods/ephemeralcontainers'),
    validate: async (request) => {
      const { object: pod } = typedRequest(Pod, request);
      if (pod === undefined) return;
      let verdict: Verdict;
      try {
        verdict = await ask(specOf(pod, request, domain), request.turns ?? serverTurns());
      } catch (error) {
        if (!defaultAllow) throw forbidden(request, error instanceof Error ? error.message : String(error));
        request.annotate?.(`${audit}failed-open`, 'true');
        pod.metadata.annotations ??= {};
        pod.metadata.annotations[`alpha.${domain}/failed-open`] = 'true';
        return;
      }
      for (const [key, value] of Object.entries(verdict.auditAnnotations)) request.annotate?.(audit + key, value);
      if (verdict.allowed) return;
      const { reason } = verdict;
      throw forbidden(
        request,
        reason === ''
          ? 'one or more images rejected by webhook backend'
          : `image policy webhook backend denied one or more images: ${reason}`,
      );
    },
  };
}

/** The spec of the review: the images, and the annotations for the webhook. */
function specOf({ metadata, spec = {} }: ObjectOf<typeof Pod>, request: AdmissionRequest, domain: string): JsonObject {
  const images =
    request.subresource === ''
      ? [...(spec.containers ?? []), ...(spec.initContainers ?? [])]
      : (spec.ephemeralContainers ?? []);
  const annotations: { [key: string]: string } = {};
  for (const [key, value] of Object.entries(metadata.annotations ?? {})) {
    if (key.includes(`.${domain}/`)) setKey(annotations, key, value);
  }
  return {
    containers: images.map(({ image }) => (image ? { image } : {})),
    ...(Object.keys(annotations).length > 0 && { annotations }),
    namespace: request.namespace,
  };
}

/** @throws Error for an answer that is not an ImageReview */
function* readVerdict(
  answer: Uint8Array,
  { kind, apiVersion }: { readonly kind: string; readonly apiVersion: string },
): Steps<Verdict> {
  const review = yield* readJson(answer);
  if (review === undefined || !isJsonObject(review) || review['kind'] !== kind || review['apiVersion'] !== apiVersion) {
    const limit = `at most ${maxMembers} fields and items`;
    throw new Error(`the image policy webhook must respond with a ${kind} of ${apiVersion}, with ${limit}`);
  }
  const status = review['status'] ?? null;
  const { allowed, reason, auditAnnotations } = isJsonObject(status) ? status : {};
  return {
    allowed: allowed === true,
    reason: typeof reason === 'string' ? reason : '',
    auditAnnotations: isJsonObject(auditAnnotations) ? firstTexts(auditAnnotations) : {},
  };
}

/** Undefined: the answer is not JSON, or exceeds the limits. */
function* readJson(answer: Uint8Array): Steps<Json | undefined> {
  try {
    const { value } = yield* parseAnyJsonInSteps(answer, MAX_DEPTH, maxMembers);
    return value;
  } catch (error) {
    if (error instanceof StatusError) return undefined;
    throw error;
  }
}

function firstTexts(values: JsonObject): Verdict['auditAnnotations'] {
  const texts: { [key: string]: string } = {};
  let count = 0;
  for (const key of Object.keys(values)) {
    const value = values[key];
    if (typeof value !== 'string') continue;
    setKey(texts, key, value);
    if (++count === maxAnnotations) break;
  }
  return texts;
}
