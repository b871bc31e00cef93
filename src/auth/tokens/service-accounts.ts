import { timingSafeEqual } from 'node:crypto';
import {
  type ApiObject,
  at,
  type Clock,
  isJsonObject,
  type Names,
  quote,
  StatusError,
  shorten,
  statusError,
  type User,
} from '../../meta/index.ts';
import type { Authenticated, TokenAuthenticator } from '../types.ts';
import {
  type Claims,
  checkTimes,
  leeway,
  legacyIssuer,
  type Reference,
  readClaims,
  readLegacyClaims,
  readServiceAccountClaims,
  userNameOf,
} from './claims.ts';
import type { ServiceAccountTokenCounts } from './counts.ts';
import { isSignedBy, type ParsedToken, parseToken } from './jws.ts';
import type { KeySet } from './keys.ts';
import { invalidToken, type TokenObjects, type TokenResource } from './types.ts';

export interface ServiceAccountOptions {
  readonly names: Names;
  readonly clock: Pick<Clock, 'now'>;
  readonly objects: TokenObjects;
  readonly keys: () => Promise<KeySet>;
  /** All accepted issuers; the first one issues. */
  readonly issuers: readonly string[];
  /** The audiences of this API server. */
  readonly audiences: readonly string[];
  /** Whether a token kept in a secret needs that secret. */
  readonly lookup: boolean;
  readonly counts: ServiceAccountTokenCounts;
}

/** The user of a valid token, and the warnings for that user. */
interface Validated {
  readonly user: User;
  readonly warnings?: readonly string[];
  readonly annotations?: Annotations;
}

type Annotations = { readonly [key: string]: string };

type Validate = (
  parsed: ParsedToken,
  claims: Claims,
  token: string,
  options: ServiceAccountOptions,
) => Promise<Validated>;

/** Authenticates tokens of service accounts: those of the issuers, and those kept in secrets. */
export function serviceAccountAuthenticator(options: ServiceAccountOptions): TokenAuthenticator {
  const validators = new Map<string, Validate>([
    [legacyIssuer(options.names), validateLegacy],
    ...options.issuers.map((issuer) => [issuer, validateBound] as const),
  ]);
  return (token, audiences) => {
    const parsed = parseToken(token);
    const issuer = parsed?.claims['iss'];
    const validate = typeof issuer === 'string' ? validators.get(issuer) : undefined;
    if (parsed === undefined || validate === undefined) return undefined;
    return authenticate(options, validate, parsed, token, audiences);
  };
}

async function authenticate(
  options: ServiceAccountOptions,
  validate: Validate,
  parsed: ParsedToken,
  token: string,
  requested: readonly string[],
): Promise<Authenticated> {
  const { verification } = await options.keys();
  const keys = parsed.keyId === '' ? verification : verification.filter(({ id }) => id === parsed.keyId);
  if (keys.length === 0) throw invalidToken('invalid signature, no keys found');
  if (!keys.some((key) => isSignedBy(parsed, key))) throw invalidToken('token signature is invalid');
  const claims = readClaims(parsed.claims);
  // Tokens kept in secrets name no audience: they are for this server.
  const own = new Set(claims.audiences.length === 0 ? options.audiences : claims.audiences);
  const audiences = [...new Set(requested)].filter((audience) => own.has(audience));
  if (audiences.length === 0 && options.audiences.length > 0) {
    throw invalidToken(`token audiences ${quoteAll(own)} is invalid for the target audiences ${quoteAll(requested)}`);
  }
  if (claims.audiences.length > 0) return { ...(await validate(parsed, claims, token, options)), audiences };
  options.counts.legacy++;
  const { annotations, ...found } = await validate(parsed, claims, token, options);
  const legacy = { [`authentication.${options.names.domain}/legacy-token`]: claims.subject };
  return { ...found, annotations: { ...legacy, ...annotations }, audiences };
}

/** Maximum number of audiences of a token or request in a message. */
const maxNamed = 32;

function quoteAll(texts: Iterable<string>): string {
  const all = [...texts];
  const reportedNames = all.slice(0, maxNamed).map((text) => quote(shorten(text)));
  return `[${reportedNames.join(' ')}${all.length > maxNamed ? ' ...' : ''}]`;
}

/** A token of an issuer: it is valid while the account, and the pod, secret or node to which it is bound, exist. */
const validateBound: Validate = async (parsed, claims, _, { names, clock, objects, counts }) => {
  checkTimes(claims, clock.now());
  const { namespace, serviceAccount, secret, pod, node, warnAfter } = readServiceAccountClaims(parsed.claims, names);
  const isGone = ({ metadata: { deletionTimestamp } }: ApiObject) =>
    deletionTimestamp !== undefined && Date.parse(deletionTimestamp) < clock.now() - leeway * 1000;
  const account = await accountOf(objects, namespace, serviceAccount);
  if (isGone(account)) {
    throw invalidToken(`service account ${namespace}/${serviceAccount.name} has been deleted`);
  }
  if (account.metadata.uid !== serviceAccount.uid) {
    throw invalidToken(`service account UID (${account.metadata.uid}) does not match claim (${serviceAccount.uid})`);
  }
  const checkBound = async (resource: TokenResource, kind: string, reference: Reference) => {
    const found = await latest(objects, resource, resource === 'nodes' ? '' : namespace, reference);
    if (found === undefined || isGone(found)) throw invalidToken('service account token has been invalidated');
    const { uid } = found.metadata;
    if (uid !== reference.uid) {
      throw invalidToken(`${kind} UID (${uid}) does not match service account ${kind} ref claim (${reference.uid})`);
    }
  };
  if (secret !== undefined) await checkBound('secrets', 'secret', secret);
  if (pod !== undefined) await checkBound('pods', 'pod', pod);
  if (node !== undefined && pod === undefined) await checkBound('nodes', 'node', node);
  const user = userOf(names, namespace, serviceAccount, { id: claims.id, pod, node });
  if (warnAfter === undefined || warnAfter === 0) return { user };
  const late = Math.floor(clock.now() / 1000) - Math.floor(warnAfter);
  if (clock.now() <= warnAfter * 1000) {
    counts.valid++;
    return { user };
  }
  counts.stale++;
  const stale = `subject: ${claims.subject}, seconds after warning threshold: ${late}`;
  return { user, annotations: { [`authentication.${names.domain}/stale-token`]: stale } };
};

/** The account. @throws StatusError 401 when it does not exist */
async function accountOf(objects: TokenObjects, namespace: string, { name, uid }: Reference): Promise<ApiObject> {
  const account = await latest(objects, 'serviceaccounts', namespace, { name, uid });
  if (account !== undefined) return account;
  throw invalidToken(statusError.notFound({ group: '', resource: 'serviceaccounts' }, name).message);
}

/** The object of that name. The cache is enough for one with the uid; another server may just have created it again. */
async function latest(
  objects: TokenObjects,
  resource: TokenResource,
  namespace: string,
  { name, uid }: Reference,
): Promise<ApiObject | undefined> {
  const found = await objects.get(resource, namespace, name);
  if (found === undefined || found.metadata.uid === uid) return found;
  return objects.read(resource, namespace, name).catch((error: unknown) => {
    if (error instanceof StatusError && error.code === 404) return undefined;
    throw error;
  });
}

interface Binding {
  readonly id: string;
  readonly pod?: Reference | undefined;
  readonly node?: Reference | undefined;
}

/** The user of a service account, with what its token is bound to as extra. */
function userOf(names: Names, namespace: string, { name, uid }: Reference, { id, pod, node }: Binding): User {
  const bound = {
    ...(pod !== undefined && pod.name !== '' && pod.uid !== '' && { 'pod-name': pod.name, 'pod-uid': pod.uid }),
    ...(id !== '' && { 'credential-id': `JTI=${id}` }),
    ...(node !== undefined &&
      node.name !== '' && { 'node-name': node.name, ...(node.uid !== '' && { 'node-uid': node.uid }) }),
  };
  const extra = Object.entries(bound).map(
    ([key, value]) => [`authentication.${names.labels}/${key}`, [value]] as const,
  );
  return {
    name: userNameOf(namespace, name),
    uid,
    groups: ['system:serviceaccounts', `system:serviceaccounts:${namespace}`],
    ...(extra.length > 0 && { extra: Object.fromEntries(extra) }),
  };
}

/** A token kept in a secret: it is valid while the secret holds it and the account exists. */
const validateLegacy: Validate = async (parsed, { subject }, token, options) => {
  const { names, lookup } = options;
  const { namespace, secret, name, uid } = readLegacyClaims(parsed.claims, names);
  const required = { sub: subject, namespace, secretName: secret, serviceAccountName: name, serviceAccountUID: uid };
  for (const [claim, value] of Object.entries(required)) {
    if (value === '') throw invalidToken(`${claim} claim is missing`);
  }
  if (subject !== userNameOf(namespace, name)) throw invalidToken('sub claim is invalid');
  const found = lookup ? await checkSecret(options, token, namespace, secret, { name, uid }) : {};
  return { user: userOf(names, namespace, { name, uid }, { id: '' }), ...found };
};

/** The result for a token that the secret holds. Records the day of use in a label. */
async function checkSecret(
  { names, clock, objects, counts }: ServiceAccountOptions,
  token: string,
  namespace: string,
  secretName: string,
  { name, uid }: Reference,
): Promise<Omit<Validated, 'user'>> {
  const secret = await objects.get('secrets', namespace, secretName);
  if (secret === undefined || secret.metadata.deletionTimestamp !== undefined) {
    throw invalidToken('Token has been invalidated');
  }
  if (!holds(secret, token)) throw invalidToken("Token does not match server's copy");
  const account = await accountOf(objects, namespace, { name, uid });
  if (account.metadata.deletionTimestamp !== undefined) {
    throw invalidToken(`ServiceAccount ${namespace}/${name} has been deleted`);
  }
  if (account.metadata.uid !== uid) {
    throw invalidToken(`ServiceAccount UID (${account.metadata.uid}) does not match claim (${uid})`);
  }
  const [lastUsed, invalidSince] = ['last-used', 'invalid-since'].map(
    (key) => `${names.labels}/legacy-token-${key}`,
  ) as [string, string];
  const { labels = {} } = secret.metadata;
  const day = (ahead: number) => new Date(clock.now() + ahead * 86_400_000).toISOString().slice(0, 10);
  // The clocks of other servers may be ahead.
  if (![day(0), day(1)].includes(labels[lastUsed] ?? '')) objects.labelSecret(namespace, secretName, lastUsed, day(0));
  if ((labels[invalidSince] ?? '') !== '') {
    counts.legacyInvalidated++;
    throw invalidToken(
      `the token in secret ${namespace}/${secretName} for service account ${namespace}/${name} has been marked invalid. Use tokens from the TokenRequest API or manually created secret-based tokens, or remove the '${invalidSince}' label from the secret to temporarily allow use of this token`,
    );
  }
  const listed = account['secrets'];
  const generated =
    Array.isArray(listed) && listed.some((entry) => isJsonObject(entry) && entry['name'] === secretName);
  const annotation = (kind: string) => ({ [`authentication.${names.domain}/legacy-token-${kind}`]: secretName });
  if (!generated) {
    counts.legacyManual++;
    return { annotations: annotation('manual-secret') };
  }
  counts.legacyAuto++;
  return { warnings: [generatedWarning], annotations: annotation('autogenerated-secret') };
}

const generatedWarning =
  'Use tokens from the TokenRequest API or manually created secret-based tokens instead of auto-generated secret-based tokens.';

/** Whether the secret holds the token; takes the same time for any other token of that length. */
function holds(secret: ApiObject, token: string): boolean {
  const stored = at(secret, 'data', 'token');
  const [held, given] = [Buffer.from(typeof stored === 'string' ? stored : '', 'base64'), Buffer.from(token)];
  return held.length === given.length && timingSafeEqual(held, given);
}
