/** The config map `extension-apiserver-authentication`: the CAs and proxies that aggregated API servers trust. */
import { X509Certificate } from 'node:crypto';
import type { Client } from '../../client/index.ts';
import { type ApiObject, at, isStatus, type Names } from '../../meta/index.ts';
import { formatPem, pemBlocks } from '../../pki/index.ts';
import type { Tls } from '../certificates/tls.ts';
import { ensureObject } from '../cluster/bootstrap-objects.ts';
import type { ServerSettings } from '../settings/flags.ts';

/** Expired certificates stay for this time, because clocks differ (ms). */
const clockSkewMs = 5 * 60_000;

/** The keys of the config map. */
const knownKeys = new Set([
  'client-ca-file',
  'requestheader-client-ca-file',
  'requestheader-allowed-names',
  'requestheader-username-headers',
  'requestheader-uid-headers',
  'requestheader-group-headers',
  'requestheader-extra-headers-prefix',
]);

/** The data of the config map that this server contributes: bundles in PEM, and lists in JSON. */
export type PublishedAuthorities = { readonly [key: string]: string | readonly string[] };

type HeaderSettings = Pick<
  ServerSettings,
  | 'requestheaderAllowedNames'
  | 'requestheaderUsernameHeaders'
  | 'requestheaderUidHeaders'
  | 'requestheaderGroupHeaders'
  | 'requestheaderExtraHeadersPrefix'
>;

/** Undefined while the server does not listen. */
export function publishedAuthorities(
  settings: HeaderSettings,
  bundles: Pick<Tls, 'clientCa' | 'requestHeaderCa'> | undefined,
): PublishedAuthorities | undefined {
  if (bundles === undefined) return undefined;
  const { clientCa, requestHeaderCa } = bundles;
  if (requestHeaderCa === undefined) return { 'client-ca-file': clientCa };
  const { requestheaderUidHeaders: uidHeaders } = settings;
  return {
    'client-ca-file': clientCa,
    'requestheader-client-ca-file': requestHeaderCa,
    'requestheader-allowed-names': settings.requestheaderAllowedNames,
    'requestheader-username-headers': settings.requestheaderUsernameHeaders,
    ...(uidHeaders.length === 0 ? {} : { 'requestheader-uid-headers': uidHeaders }),
    'requestheader-group-headers': settings.requestheaderGroupHeaders,
    'requestheader-extra-headers-prefix': settings.requestheaderExtraHeadersPrefix,
  };
}

/**
 * Merges the authorities of this server into the config map, and removes expired certificates and other keys. Entries of
 * other servers stay. @throws StatusError
 */
export async function publishClientAuthorities(
  client: Client,
  names: Names,
  now: number,
  authorities: PublishedAuthorities,
) {
  const metadata = { name: 'extension-apiserver-authentication', namespace: names.systemNamespace };
  const place = { apiVersion: 'v1', resource: 'configmaps' };
  const configMap = await client.get<ApiObject>({ ...place, ...metadata }).catch((error: unknown) => {
    if (!isStatus(error, 404)) throw error;
    return undefined;
  });
  const data: { [key: string]: string | null } = {};
  for (const key of Object.keys(at(configMap, 'data') ?? {})) if (!knownKeys.has(key)) data[key] = null;
  for (const [key, own] of Object.entries(authorities)) {
    const value = at(configMap, 'data', key);
    const current = typeof value === 'string' ? value : '';
    const merged = typeof own === 'string' ? mergeAuthorities([current, own], now) : mergeTexts(current, own);
    if (merged !== '' && merged !== current) data[key] = merged;
  }
  if (Object.keys(data).length === 0) return;
  await ensureObject(client, { ...place, kind: 'ConfigMap', metadata, fields: { data } });
}

/** Adds missing texts to a list in JSON; a list that cannot be parsed is replaced. */
function mergeTexts(current: string, own: readonly string[]): string {
  const parsed = parseJson(current);
  const texts = Array.isArray(parsed) ? parsed.filter((text) => typeof text === 'string') : [];
  return JSON.stringify([...new Set([...texts, ...own])]);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The unexpired certificates of all texts, without duplicates. */
function mergeAuthorities(texts: readonly string[], now: number): string {
  const blocks = texts
    .flatMap(pemBlocks)
    .filter(({ type, bytes }) => type === 'CERTIFICATE' && expiryOf(bytes) > now - clockSkewMs);
  return [...new Set(blocks.map(({ type, bytes }) => formatPem(type, bytes)))].join('');
}

/** The expiry of a certificate; 0 when it cannot be parsed. */
function expiryOf(bytes: Buffer): number {
  try {
    return Date.parse(new X509Certificate(bytes).validTo);
  } catch {
    return 0;
  }
}
