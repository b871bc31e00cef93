import { parseAnyJsonInSteps, stringifyJson } from '../../codec/index.ts';
import {
  type ApiObject,
  type ByteString,
  encodeText,
  getKey,
  isJsonObject,
  type Json,
  type JsonObject,
  MAX_DEPTH,
  type Names,
  parseGroupVersion,
  StatusError,
  type Steps,
} from '../../meta/index.ts';

/** A request to a conversion webhook. */
export interface Review {
  readonly version: ReviewVersion;
  readonly uid: string;
  /** Such as `apps/v1`. */
  readonly desired: string;
  readonly objects: readonly ApiObject[];
}

const reviewVersions = ['v1', 'v1beta1'] as const;
type ReviewVersion = (typeof reviewVersions)[number];

/** The first version that is known; undefined when none is. */
export const reviewVersionOf = (accepted: readonly string[]): ReviewVersion | undefined =>
  accepted.find((one): one is ReviewVersion => (reviewVersions as readonly string[]).includes(one));

const apiVersionOf = (version: ReviewVersion, { domain }: Names) => `apiextensions.${domain}/${version}`;

/** An answer without content, which the reference server sends along. */
const noResponse = { uid: '', convertedObjects: null, result: { metadata: {} } };

export function writeReview({ version, uid, desired, objects }: Review, names: Names): ByteString {
  const request = { uid, desiredAPIVersion: desired, objects: objects as readonly JsonObject[] as JsonObject[] };
  const apiVersion = apiVersionOf(version, names);
  return encodeText(stringifyJson({ kind: 'ConversionReview', apiVersion, request, response: noResponse }));
}

/** The maximum number of items and fields of a response: one for ten bytes of the largest. */
const maxAnswerMembers = 800_000;

/** Levels of nesting around an object in a review. */
const reviewDepth = 4;

/** The objects in the answer to a review. Throws an Error that says what is wrong with it. */
export function* readAnswerInSteps({ version, uid }: Review, body: Uint8Array, names: Names): Steps<readonly Json[]> {
  const review = yield* parsed(body);
  const response = getKey(review, 'response');
  if (version === 'v1') checkKind(review, apiVersionOf(version, names));
  if (!isJsonObject(response)) throw new Error('no response provided');
  // The reference server does not check the uid of the older version either.
  const answered = textIn(response, 'uid');
  if (version === 'v1' && answered !== uid) {
    throw new Error(`expected response.uid=${JSON.stringify(uid)}, got ${JSON.stringify(answered)}`);
  }
  const result = getKey(response, 'result');
  const status = textIn(result, 'status');
  if (status !== 'Success') {
    throw new Error(textIn(result, 'message') || `response.result.status was '${status}', not 'Success'`);
  }
  const converted = getKey(response, 'convertedObjects');
  return Array.isArray(converted) ? converted : [];
}

function* parsed(body: Uint8Array): Steps<JsonObject> {
  try {
    const { value } = yield* parseAnyJsonInSteps(body, MAX_DEPTH + reviewDepth, maxAnswerMembers);
    if (isJsonObject(value)) return value;
  } catch (error) {
    if (!(error instanceof StatusError)) throw error;
    throw new Error(`couldn't get version/kind; json parse error: ${error.message}`, { cause: error });
  }
  throw new Error("couldn't get version/kind; json parse error: the response is not a JSON object");
}

function checkKind(review: JsonObject, apiVersion: string): void {
  const actual = { apiVersion: textIn(review, 'apiVersion'), kind: textIn(review, 'kind') };
  if (actual.apiVersion === apiVersion && actual.kind === 'ConversionReview') return;
  const { group = '', version = '' } = parseGroupVersion(actual.apiVersion) ?? {};
  const expected = `${apiVersion}, Kind=ConversionReview`;
  throw new Error(`expected webhook response of ${expected}, got ${group}/${version}, Kind=${actual.kind}`);
}

/** The text of a member; empty where there is none. */
export function textIn(of: Json | undefined, name: string): string {
  const value = isJsonObject(of ?? null) ? getKey(of as JsonObject, name) : undefined;
  return typeof value === 'string' ? value : '';
}
