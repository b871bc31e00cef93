import { invalidToken, type TokenAuthenticator } from '../../auth/index.ts';
import {
  type ByteString,
  inTurns,
  isJsonObject,
  type Json,
  maxShown,
  type Names,
  peerTurns,
  readJsonTextInSteps,
  type Steps,
  shorten,
  type User,
} from '../../meta/index.ts';
import { compile } from '../../schema/index.ts';
import { TokenReview } from '../../types/authentication-v1.ts';

/** The versions of reviews that a token webhook may be sent. */
export const tokenReviewVersions = ['v1', 'v1beta1'] as const;
export type TokenReviewVersion = (typeof tokenReviewVersions)[number];

export interface TokenWebhookOptions {
  readonly names: Names;
  readonly version: TokenReviewVersion;
  /** Posts a review, and resolves to the response. Rejects with an Error whose message says why there is none. */
  readonly post: (review: ByteString) => Promise<Uint8Array>;
  /** The audiences of this server: those of a token for which the webhook names none. */
  readonly audiences: readonly string[];
  /** Is told why the webhook did not answer: never with the token. */
  readonly failed: (why: string) => void;
}

/**
 * Asks a webhook about tokens (TokenReview). A token is valid for the requested audiences that the webhook names. Throws a
 * 401 StatusError when the webhook refuses the token with a reason, or fails.
 */
export function tokenWebhookAuthenticator(options: TokenWebhookOptions): TokenAuthenticator {
  const { names, version, post, failed } = options;
  const apiVersion = `authentication.${names.domain}/${version}`;
  const read = readerOf(apiVersion, names);
  return async (token, audiences) => {
    const spec = { token, ...(audiences.length === 0 ? {} : { audiences }) };
    const review = { kind: 'TokenReview', apiVersion, metadata: {}, spec, status: { user: {} } };
    let status: TokenReviewStatus;
    try {
      const answer = await post(JSON.stringify(review) as ByteString);
      status = await inTurns(read(answer), peerTurns('token webhooks'));
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      failed(why.replaceAll(token, '<token>'));
      throw invalidToken(why);
    }
    const tokenAudiences = status.audiences?.length ? status.audiences : options.audiences;
    const valid = [...new Set(audiences)].filter((audience) => tokenAudiences.includes(audience));
    if (valid.length === 0) return undefined;
    if (status.authenticated === true) return { user: userOf(status.user), audiences: valid };
    if (status.error) throw invalidToken(status.error);
    return undefined;
  };
}

interface UserInfo {
  readonly username?: string;
  readonly uid?: string;
  readonly groups?: readonly string[];
  readonly extra?: { readonly [key: string]: readonly string[] };
}

interface TokenReviewStatus {
  readonly authenticated?: boolean;
  readonly user?: UserInfo;
  readonly audiences?: readonly string[];
  readonly error?: string;
}

const userOf = ({ username = '', uid = '', groups = [], extra }: UserInfo = {}): User => ({
  name: username,
  ...(uid === '' ? {} : { uid }),
  groups,
  ...(extra === undefined ? {} : { extra }),
});

/** Reads the status of a response. Throws an Error for anything but a review of the version, or of none. */
function readerOf(apiVersion: string, names: Names): (response: Uint8Array) => Steps<TokenReviewStatus> {
  const type = compile(TokenReview, names);
  return function* (response) {
    const review = yield* readJsonTextInSteps(Buffer.from(response).toString());
    if (review === undefined || !isJsonObject(review)) {
      throw new Error("couldn't get version/kind; json parse error: json: cannot unmarshal what is not an object");
    }
    const { kind = 'TokenReview', apiVersion: version = apiVersion } = review;
    checkKind(kind, version, apiVersion);
    return ((yield* type.decodeInSteps(review)).value['status'] ?? {}) as TokenReviewStatus;
  };
}

function checkKind(kind: Json, version: Json, wanted: string): void {
  const group = wanted.slice(0, wanted.indexOf('/') + 1);
  const known = typeof version === 'string' && tokenReviewVersions.some((one) => version === group + one);
  if (kind !== 'TokenReview' || !known) {
    const [given, where] = [kind, version].map((text) => shorten(JSON.stringify(text), maxShown));
    throw new Error(`no kind ${given} is registered for version ${where}`);
  }
  if (version === wanted) return;
  const inVersion = (one: string) => `(${one.slice(group.length)}.TokenReview)`;
  throw new Error(`converting ${inVersion(version)} to ${inVersion(wanted)}: unknown conversion`);
}
