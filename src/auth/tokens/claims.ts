import { isJsonObject, type JsonObject, type Names } from '../../meta/index.ts';
import { invalidToken } from './types.ts';

/** The registered claims of a token (RFC 7519). Times in seconds since 1970. */
export interface Claims {
  readonly subject: string;
  readonly audiences: readonly string[];
  readonly id: string;
  readonly expires: number | undefined;
  readonly notBefore: number | undefined;
  readonly issuedAt: number | undefined;
}

/** An object that a token refers to. */
export interface Reference {
  readonly name: string;
  readonly uid: string;
}

/** The private claims of a token that the server issues. */
export interface ServiceAccountClaims {
  readonly namespace: string;
  readonly serviceAccount: Reference;
  readonly pod: Reference | undefined;
  readonly secret: Reference | undefined;
  /** The bound node, or that of the bound pod. */
  readonly node: Reference | undefined;
  /** When the requested lifetime of a token that lives longer is over; in seconds since 1970. */
  readonly warnAfter: number | undefined;
}

/** The private claims of a token kept in a secret. */
export interface LegacyClaims {
  readonly namespace: string;
  readonly secret: string;
  readonly name: string;
  readonly uid: string;
}

/** Tolerated difference of clocks, and how long a token survives the deletion of what it is bound to (seconds). */
export const leeway = 60;

/** @throws StatusError 401 for claims of wrong types */
export function readClaims(claims: JsonObject): Claims {
  const { aud } = claims;
  const audiences = aud === undefined ? [] : Array.isArray(aud) ? aud : [aud];
  return {
    subject: text(claims, 'sub'),
    audiences: audiences.map((audience) => (typeof audience === 'string' ? audience : malformed('aud'))),
    id: text(claims, 'jti'),
    expires: time(claims, 'exp'),
    notBefore: time(claims, 'nbf'),
    issuedAt: time(claims, 'iat'),
  };
}

/** @throws StatusError 401 for a token that has expired or is not valid yet; `now` in milliseconds */
export function checkTimes({ expires, notBefore, issuedAt }: Claims, now: number): void {
  const seconds = now / 1000;
  if (notBefore !== undefined && seconds + leeway < notBefore) {
    throw invalidToken('service account token is not valid yet');
  }
  if (expires !== undefined && seconds - leeway > expires) throw invalidToken('service account token has expired');
  if (issuedAt !== undefined && seconds + leeway < issuedAt) {
    throw invalidToken('service account token is issued in the future');
  }
}

/** @throws StatusError 401 for claims of wrong types */
export function readServiceAccountClaims(claims: JsonObject, { labels }: Names): ServiceAccountClaims {
  const own = object(claims, labels) ?? {};
  return {
    namespace: text(own, 'namespace'),
    serviceAccount: reference(own, 'serviceaccount') ?? { name: '', uid: '' },
    pod: reference(own, 'pod'),
    secret: reference(own, 'secret'),
    node: reference(own, 'node'),
    warnAfter: time(own, 'warnafter'),
  };
}

const legacyName = ({ labels }: Names, name: string): string => `${labels}/serviceaccount/${name}`;

/** @throws StatusError 401 for claims of wrong types */
export function readLegacyClaims(claims: JsonObject, names: Names): LegacyClaims {
  return {
    namespace: text(claims, legacyName(names, 'namespace')),
    secret: text(claims, legacyName(names, 'secret.name')),
    name: text(claims, legacyName(names, 'service-account.name')),
    uid: text(claims, legacyName(names, 'service-account.uid')),
  };
}

/** The claims of a token to be kept in a secret. */
export function writeLegacyClaims({ namespace, secret, name, uid }: LegacyClaims, names: Names): JsonObject {
  return {
    iss: legacyIssuer(names),
    [legacyName(names, 'namespace')]: namespace,
    [legacyName(names, 'secret.name')]: secret,
    [legacyName(names, 'service-account.name')]: name,
    [legacyName(names, 'service-account.uid')]: uid,
    sub: userNameOf(namespace, name),
  };
}

/** The issuer of tokens kept in secrets. */
export const legacyIssuer = ({ product }: Names): string => `${product}/serviceaccount`;

/** The user name of a service account. */
export const userNameOf = (namespace: string, name: string): string => `system:serviceaccount:${namespace}:${name}`;

function text(claims: JsonObject, name: string): string {
  const value = claims[name];
  return value === undefined ? '' : typeof value === 'string' ? value : malformed(name);
}

/** A NumericDate that a double represents exactly in milliseconds. */
function time(claims: JsonObject, name: string): number | undefined {
  const value = claims[name];
  if (value === undefined || value === null) return undefined;
  return typeof value === 'number' && Number.isSafeInteger(Math.trunc(value * 1000)) ? value : malformed(name);
}

function object(claims: JsonObject, name: string): JsonObject | undefined {
  const value = claims[name];
  return value === undefined || isJsonObject(value) ? value : malformed(name);
}

function reference(claims: JsonObject, name: string): Reference | undefined {
  const value = object(claims, name);
  return value && { name: text(value, 'name'), uid: text(value, 'uid') };
}

const malformed = (name: string): never => {
  throw invalidToken(`claim ${name} of the token has a wrong type`);
};
