import {
  type ApiObject,
  at,
  type FieldError,
  fieldError,
  formatTime,
  isJsonObject,
  type JsonObject,
  type Names,
  type Random,
  type ReviewCall,
  type ReviewHandler,
  StatusError,
  statusError,
} from '../../meta/index.ts';
import { userNameOf } from './claims.ts';
import { signToken } from './jws.ts';
import type { KeySet } from './keys.ts';
import type { TokenObjects } from './types.ts';

export interface TokenRequestOptions {
  readonly names: Names;
  readonly random: Pick<Random, 'uuid'>;
  readonly objects: Pick<TokenObjects, 'read'>;
  readonly keys: () => Promise<KeySet>;
  readonly issuer: string;
  /** The audiences of a token that is requested without any: those of this API server. */
  readonly audiences: readonly string[];
  /** The longest lifetime of a token in seconds; 0: without limit. */
  readonly maxExpiration: number;
  /** Whether the tokens that kubelets mount into pods live for a year. */
  readonly extendExpiration: boolean;
}

const minSeconds = 600;
const maxSeconds = 2 ** 32;
const defaultSeconds = 3600;
/** The lifetime that the tokens mounted into pods are requested with, and the one that they get (seconds). */
const mountedSeconds = 3607;
const extendedSeconds = 365 * 24 * 3600;

interface Spec extends JsonObject {
  audiences: string[];
  expirationSeconds: number;
  boundObjectRef: JsonObject | null;
}

/** Issues a token for the service account whose subresource `token` is posted to. */
export function tokenRequestHandler(options: TokenRequestOptions): ReviewHandler {
  const { names, random, objects, audiences: serverAudiences } = options;
  return async (posted, call) => {
    const { name, namespace, now, warn, annotate } = call;
    const kind = { group: `authentication.${names.domain}`, kind: 'TokenRequest' };
    const postedName = posted.metadata.name ?? '';
    if (postedName !== '' && postedName !== name) {
      const wrong = 'must match the service account name if specified';
      throw statusError.invalid(kind, name, [fieldError.invalid('metadata.name', postedName, wrong)]);
    }
    const account = await objects.read('serviceaccounts', namespace, name);
    const spec = specOf(posted, serverAudiences);
    const errors = validate(spec);
    if (errors.length > 0) throw statusError.invalid(kind, '', errors);
    const bound = spec.boundObjectRef === null ? {} : await boundObjects(objects, spec.boundObjectRef, call);
    const { maxExpiration } = options;
    if (maxExpiration > 0 && spec.expirationSeconds > maxExpiration) {
      warn(`requested expiration of ${spec.expirationSeconds} seconds shortened to ${maxExpiration} seconds`);
      spec.expirationSeconds = maxExpiration;
    }
    const isExtended =
      options.extendExpiration &&
      bound.pod !== undefined &&
      spec.expirationSeconds === mountedSeconds &&
      spec.audiences.every((audience) => serverAudiences.includes(audience));
    const issuedAt = Math.floor(now / 1000);
    const id = random.uuid();
    const claims = {
      aud: spec.audiences,
      exp: issuedAt + (isExtended ? extendedSeconds : spec.expirationSeconds),
      iat: issuedAt,
      iss: options.issuer,
      jti: id,
      [names.labels]: {
        namespace,
        ...bound,
        serviceaccount: referenceTo(account),
        ...(isExtended && { warnafter: issuedAt + mountedSeconds }),
      },
      nbf: issuedAt,
      sub: userNameOf(namespace, name),
    };
    const { signing } = await options.keys();
    const token = await signToken(signing, claims);
    annotate?.(`authentication.${names.labels}/issued-credential-id`, `JTI=${id}`);
    return {
      ...posted,
      metadata: { ...posted.metadata, name, namespace, creationTimestamp: formatTime(now) },
      spec,
      status: { token, expirationTimestamp: formatTime(now + spec.expirationSeconds * 1000) },
    };
  };
}

/** The spec with its defaults. */
function specOf(posted: ApiObject, serverAudiences: readonly string[]): Spec {
  const spec = isJsonObject(posted['spec']) ? posted['spec'] : {};
  const { audiences, expirationSeconds, boundObjectRef } = spec as { readonly [K in keyof Spec]?: Spec[K] | null };
  return {
    audiences:
      audiences === undefined || audiences === null || audiences.length === 0 ? [...serverAudiences] : audiences,
    expirationSeconds: Number(expirationSeconds ?? defaultSeconds),
    boundObjectRef: boundObjectRef ?? null,
  };
}

function validate({ expirationSeconds: seconds }: Spec): FieldError[] {
  const wrong = (message: string) => [fieldError.invalid('spec.expirationSeconds', seconds, message)];
  if (seconds < minSeconds) return wrong('may not specify a duration less than 10 minutes');
  return seconds > maxSeconds ? wrong('may not specify a duration larger than 2^32 seconds') : [];
}

const referenceTo = ({ metadata: { name = '', uid = '' } }: ApiObject) => ({ name, ...(uid !== '' && { uid }) });
type Bound = { readonly [claim in 'node' | 'pod' | 'secret']?: JsonObject };

/** The claims of the object that a token is bound to. @throws StatusError when it cannot be bound to it */
async function boundObjects(
  objects: Pick<TokenObjects, 'read'>,
  reference: JsonObject,
  { namespace, name: account }: ReviewCall,
): Promise<Bound> {
  const { apiVersion = '', kind = '', name = '', uid = '' } = reference as { readonly [key: string]: string };
  const [version = '', group = ''] = apiVersion.split('/').reverse();
  const bind = boundKinds.get(group === '' ? kind : '');
  if (bind === undefined) {
    throw statusError.badRequest(`cannot bind token to object of type ${group}/${version}, Kind=${kind}`);
  }
  if (name === '') throw statusError.badRequest('Name parameter required.');
  const found = await objects.read(bind.resource, bind.resource === 'nodes' ? '' : namespace, name);
  const claims = await bind.claims(found, account, objects);
  if (uid !== '' && uid !== found.metadata.uid) {
    throw statusError.conflict(
      { group, resource: kind },
      name,
      `the UID in the bound object reference (${uid}) does not match the UID in record. The object might have been deleted and then recreated`,
    );
  }
  return claims;
}

interface BoundKind {
  readonly resource: 'nodes' | 'pods' | 'secrets';
  readonly claims: (found: ApiObject, account: string, objects: Pick<TokenObjects, 'read'>) => Bound | Promise<Bound>;
}

const boundKinds: ReadonlyMap<string, BoundKind> = new Map([
  ['Node', { resource: 'nodes', claims: (node) => ({ node: referenceTo(node) }) }],
  ['Secret', { resource: 'secrets', claims: (secret) => ({ secret: referenceTo(secret) }) }],
  ['Pod', { resource: 'pods', claims: podClaims }],
] satisfies [string, BoundKind][]);

/** The claims of a pod and of its node, of which only the name is known while it does not exist. */
async function podClaims(pod: ApiObject, account: string, objects: Pick<TokenObjects, 'read'>): Promise<Bound> {
  if (at(pod, 'spec', 'serviceAccountName') !== account) {
    throw statusError.badRequest(
      `cannot bind token for serviceaccount ${JSON.stringify(account)} to pod running with different serviceaccount name.`,
    );
  }
  const nodeName = at(pod, 'spec', 'nodeName');
  if (typeof nodeName !== 'string' || nodeName === '') return { pod: referenceTo(pod) };
  const node = await objects.read('nodes', '', nodeName).then(referenceTo, (error: unknown) => {
    if (error instanceof StatusError && error.code === 404) return { name: nodeName };
    throw error;
  });
  return { node, pod: referenceTo(pod) };
}
