/** The config map `extension-apiserver-authentication`: tells aggregated API servers which client CAs to trust. */
import { X509Certificate } from 'node:crypto';
import type { Client } from '../client/index.ts';
import { type ApiObject, at, type Names } from '../meta/index.ts';
import { formatPem, pemBlocks } from '../pki/index.ts';
import { ensureObject, isStatus } from './bootstrap-objects.ts';

/** Expired certificates are kept for this long, because clocks differ (ms). */
const clockSkewMs = 5 * 60_000;

/**
 * Merges the given authorities (PEM) into the config map, and removes expired ones. Authorities of other servers and
 * other keys are kept. @throws StatusError
 */
export async function publishClientAuthorities(client: Client, names: Names, now: number, authorities: string) {
  const metadata = { name: 'extension-apiserver-authentication', namespace: names.systemNamespace };
  const place = { apiVersion: 'v1', resource: 'configmaps' };
  const found = await client.get<ApiObject>({ ...place, ...metadata }).catch((error: unknown) => {
    if (!isStatus(error, 404)) throw error;
    return undefined;
  });
  const current = at(found, 'data', 'client-ca-file');
  const text = mergeAuthorities([typeof current === 'string' ? current : '', authorities], now);
  if (text === '' || text === current) return;
  await ensureObject(client, { ...place, kind: 'ConfigMap', metadata, fields: { data: { 'client-ca-file': text } } });
}

/** The certificates of all texts that have not expired, without duplicates. */
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
